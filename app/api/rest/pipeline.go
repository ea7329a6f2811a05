package rest

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"confab/app/limit"
	"confab/storage"
)

// Exchange is a request and the response that is written to it.
type Exchange struct {
	http.ResponseWriter
	Request *Request
	status  int
	Failure error  // why it was refused
	made    string // the id of what a POST made
	body    []byte // what was answered, if it is JSON

	isRecorded bool // in the logs, before it has ended
}

// WriteHeader remembers the status for the logs.
func (x *Exchange) WriteHeader(status int) {
	x.status = status
	x.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (x *Exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Serve answers a request whose table of routes is known.
func (s *Server) Serve(w http.ResponseWriter, r *Request) {
	r.ID, r.began, r.Now = s.DB.NewID(storage.PrefixRequest), time.Now(), s.DB.Now()
	r.path = strings.TrimPrefix(r.HTTP.URL.Path, r.Prefix)
	x := &Exchange{ResponseWriter: w, Request: r}
	x.Header().Set("X-Request-Id", r.ID)
	defer s.Record(x)
	defer s.releasePage(r)
	defer r.releaseBody()

	if r.Visitor == nil && s.cors(x) {
		return
	}

	rep, err := s.answer(x)
	if err != nil {
		x.Failure = err
		if r.Refuse != nil {
			r.Refuse(x, AsError(err))
			return
		}
		sendError(x, AsError(err))
		return
	}

	if r.HTTP.Method == http.MethodPost && x.made == "" {
		x.made = rep.FirstID()
	}
	rep.send(x)
}

// answer runs every check and then the handler. The order of the checks is part of the
// contract: a request that breaks several rules always gets the same error. A panic
// anywhere becomes an internal error.
func (s *Server) answer(x *Exchange) (rep Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &storage.PanicError{Value: p, Stack: debug.Stack()}
		}
	}()

	// The key comes before the route: without one, a caller cannot find out which
	// paths exist.
	r := x.Request
	if err := r.Visitor.checkRefused(); err != nil {
		return Reply{}, err
	}
	if !r.Table.isPublic(r.path) {
		if err := s.authenticate(r); err != nil {
			return Reply{}, err
		}
		limit.RequestOf(r.HTTP.Context()).Identify(r.Holder())
		defer s.setRateLimitHeaders(x)
	}

	if err := r.Table.match(x); err != nil {
		return Reply{}, err
	}

	if !r.route.Has(Public) {
		if err := s.admit(r); err != nil {
			return Reply{}, err
		}
	}

	if err := s.findNumber(r); err != nil {
		return Reply{}, err
	}
	if r.route.Find != nil {
		if err := s.View(r, func(rx *storage.Rx) error { return r.route.Find(rx, r) }); err != nil {
			return Reply{}, err
		}
	}

	defer r.discardUpload()
	if err := s.readBody(x); err != nil {
		return Reply{}, err
	}

	rep, err = s.handleOnce(r)
	if err == nil && r.route.Finish != nil {
		x.made = rep.FirstID()
		rep, err = r.route.Finish(r, rep)
	}
	return rep, err
}

// admit checks what the organization, its plan and the key allow, and the rate limit.
func (s *Server) admit(r *Request) error {
	if err := CheckOrganization(r.Org, r.Plan, r.User != nil); err != nil {
		return err
	}
	if r.User != nil && r.User.Role != storage.RoleAdmin && !r.route.Has(Agents) {
		return Fail(PermissionDenied, "Only admins of the organization can do this.")
	}

	// A request that the key or the plan does not include still costs a token.
	if err := s.takeToken(r); err != nil {
		return err
	}
	if err := checkKeyLimits(r.Key, r.route); err != nil {
		return err
	}
	if r.route.Has(Customers) && !r.Plan.Customers {
		return Fail(FeatureNotEntitled, "This organization's plan does not include customers.")
	}
	return nil
}

// Record logs the finished call: in the API log, for the metrics, and in the server's
// log, there with the cause if the fault is our own. A stream is recorded when it begins.
func (s *Server) Record(x *Exchange) {
	if x.isRecorded {
		return
	}
	x.isRecorded = true

	r := x.Request
	took := time.Since(r.began)

	// A canceled request fails as 503, but its client is gone.
	status := x.status
	if r.HTTP.Context().Err() != nil && status == http.StatusServiceUnavailable {
		status = StatusClientGone
	}

	ip, path := clientIP(r.HTTP, s.TrustedProxies), r.loggedPath(status)
	logged := s.logs(r, ip)
	if logged && r.entersAPILog() {
		s.APILog.add(x, status, took, ip, path, s.loggedBodies(x, status))
	}

	template := ""
	if r.route != nil {
		template = r.Prefix + r.route.Path
	}
	if s.OnRequest != nil {
		s.OnRequest(Observation{Method: r.HTTP.Method, Route: template, Status: status, Took: took, Unlogged: !logged})
	}

	// What fails on our side in the midst of an answer has a status that says otherwise.
	isOurs := status >= 500 || x.Failure != nil && r.HTTP.Context().Err() == nil && AsError(x.Failure).Status() >= 500
	level := slog.LevelInfo
	switch {
	case isOurs:
		level = slog.LevelError
	case r.isQuiet():
		level = slog.LevelDebug
	}
	if !logged || !s.Log.Enabled(r.HTTP.Context(), level) {
		return
	}

	attrs := r.logAttrs(status, took, ip, path)
	if isOurs && x.Failure != nil {
		attrs = append(attrs, slog.Any("error", x.Failure))
		if p, ok := errors.AsType[*storage.PanicError](x.Failure); ok {
			attrs = append(attrs, slog.String("stack", string(p.Stack)))
		}
	}

	s.Log.LogAttrs(r.HTTP.Context(), level, "request", attrs...)
}
