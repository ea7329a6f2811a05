package api

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"confab/storage"
)

// exchange is a request and the response that is written to it.
type exchange struct {
	http.ResponseWriter
	request *request
	status  int
	failure error // why it was refused

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
	r := &request{
		http:  hr,
		id:    s.DB.NewID(storage.PrefixRequest),
		path:  strings.TrimPrefix(hr.URL.Path, "/v1"),
		began: time.Now(),
	}
	x := &exchange{ResponseWriter: w, request: r}
	x.Header().Set("X-Request-Id", r.id)
	defer s.record(x)
	defer s.releasePage(r)

	if s.cors(x) {
		return
	}

	rep, err := s.answer(x)
	if err != nil {
		x.failure = err
		sendError(x, asError(err))
		return
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
	if !s.isPublic(r.path) {
		if err := s.authenticate(r); err != nil {
			return reply{}, err
		}
		defer s.setRateLimitHeaders(x)
	}

	if err := s.match(x); err != nil {
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
		if err := r.route.find(r); err != nil {
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
	if err := checkOrganization(r.org, r.plan); err != nil {
		return err
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
	if logged {
		s.calls.add(r, status, took, ip)
	}

	template := ""
	if r.route != nil {
		template = "/v1" + r.route.path
	}
	if s.OnRequest != nil {
		s.OnRequest(Observation{Method: r.http.Method, Route: template, Status: status, Took: took, Unlogged: !logged})
	}

	level := levelOf(status)
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
