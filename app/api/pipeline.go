package api

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

// exchange is a request and the response that is written to it.
type exchange struct {
	http.ResponseWriter
	request *request
	status  int
	failure error  // why it was refused
	made    string // the id of what a POST made

	isRecorded bool // in the logs, before it has ended
}

// WriteHeader remembers the status for the logs.
func (x *exchange) WriteHeader(status int) {
	x.status = status
	x.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// ServeHTTP answers one request under /v1. Whatever happens, the answer is the
// success or the error envelope, and the call is logged.
func (s *Server) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	s.serve(w, &request{http: hr, prefix: "/v1", table: s.v1})
}

// serve answers a request whose table of routes is known.
func (s *Server) serve(w http.ResponseWriter, r *request) {
	r.id, r.began = s.DB.NewID(storage.PrefixRequest), time.Now()
	r.path = strings.TrimPrefix(r.http.URL.Path, r.prefix)
	x := &exchange{ResponseWriter: w, request: r}
	x.Header().Set("X-Request-Id", r.id)
	defer s.record(x)
	defer s.releasePage(r)
	defer r.releaseBody()

	if r.visitor == nil && s.cors(x) {
		return
	}

	rep, err := s.answer(x)
	if err != nil {
		x.failure = err
		sendError(x, asError(err))
		return
	}

	if r.http.Method == http.MethodPost {
		x.made = rep.firstID()
	}
	rep.send(x)
}

// answer runs every check and then the handler. The order of the checks is part of the
// contract: a request that breaks several rules always gets the same error. A panic
// anywhere becomes an internal error.
func (s *Server) answer(x *exchange) (rep reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &storage.PanicError{Value: p, Stack: debug.Stack()}
		}
	}()

	// The key comes before the route: without one, a caller cannot find out which
	// paths exist.
	r := x.request
	if err := r.visitor.checkDoors(); err != nil {
		return reply{}, err
	}
	if !r.table.isPublic(r.path) {
		if err := s.authenticate(r); err != nil {
			return reply{}, err
		}
		limit.RequestOf(r.http.Context()).Identify(r.holder())
		defer s.setRateLimitHeaders(x)
	}

	if err := r.table.match(x); err != nil {
		return reply{}, err
	}

	if !r.route.has(public) {
		if err := s.admit(r); err != nil {
			return reply{}, err
		}
	}

	if err := s.findNumber(r); err != nil {
		return reply{}, err
	}
	if r.route.find != nil {
		if err := s.view(r, func(rx *storage.Rx) error { return r.route.find(rx, r) }); err != nil {
			return reply{}, err
		}
	}

	defer r.discardUpload()
	if err := s.readBody(x); err != nil {
		return reply{}, err
	}

	return s.handleOnce(r)
}

// admit checks what the organization and its plan allow, and the rate limit.
func (s *Server) admit(r *request) error {
	if err := checkOrganization(r.org, r.plan, r.user != nil); err != nil {
		return err
	}
	if r.user != nil && r.user.Role != storage.RoleAdmin && !r.route.has(agents) {
		return fail(PermissionDenied, "Only admins of the organization may do this.")
	}

	// A request that the plan does not include still costs a token.
	if err := s.takeToken(r); err != nil {
		return err
	}
	if r.route.has(customers) && !r.plan.Customers {
		return fail(FeatureNotEntitled, "This organization's plan does not include customers.")
	}
	return nil
}

// record logs the finished call: in the API log, for the metrics, and in the server's
// log, there with the cause if the fault is our own. A stream is recorded when it begins.
func (s *Server) record(x *exchange) {
	if x.isRecorded {
		return
	}
	x.isRecorded = true

	r := x.request
	took := time.Since(r.began)

	// A canceled request fails as 503, but its client is gone.
	status := x.status
	if r.http.Context().Err() != nil && status == http.StatusServiceUnavailable {
		status = statusClientGone
	}

	// Whoever has a key is always logged, strangers as far as their quota goes.
	ip := clientIP(r.http, s.TrustedProxies)
	logged := r.isAuthenticated() || s.LogsStranger(ip)
	if logged && r.entersAPILog() {
		s.calls.add(x, status, took, ip)
	}

	template := ""
	if r.route != nil {
		template = r.prefix + r.route.path
	}
	if s.OnRequest != nil {
		s.OnRequest(Observation{Method: r.http.Method, Route: template, Status: status, Took: took, Unlogged: !logged})
	}

	level := levelOf(status)
	if r.isQuiet() && level == slog.LevelInfo {
		level = slog.LevelDebug
	}
	if !logged || !s.Log.Enabled(r.http.Context(), level) {
		return
	}

	attrs := r.logAttrs(status, took, ip)
	if status >= 500 && x.failure != nil {
		attrs = append(attrs, slog.Any("error", x.failure))
		if p, ok := errors.AsType[*storage.PanicError](x.failure); ok {
			attrs = append(attrs, slog.String("stack", string(p.Stack)))
		}
	}

	s.Log.LogAttrs(r.http.Context(), level, "request", attrs...)
}
