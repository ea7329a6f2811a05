package app

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"confab/app/api/rest"
)

// serveOutsideAPI answers a request outside of /v1 and writes its one line in the log.
func (a *App) serveOutsideAPI(w http.ResponseWriter, r *http.Request) {
	began, seen := time.Now(), &recordingWriter{ResponseWriter: w, status: http.StatusOK}
	id := a.api.EnsureRequestID(w)

	// By default no answer may run scripts or be framed by other pages. A handler
	// that shows a page replaces these headers.
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")

	r, release := a.bodies.Count(r)
	defer release()

	found := a.findRoute(r)
	aborted := a.serveWithRecovery(seen, r, found.serve)
	a.logRequest(r, found, seen, id, time.Since(began))

	if aborted {
		panic(http.ErrAbortHandler) // closes the connection, so that the client notices
	}
}

// logRequest counts a request in the metrics and writes its line in the log.
func (a *App) logRequest(r *http.Request, found route, seen *recordingWriter, id string, took time.Duration) {
	if seen.isLogged {
		return
	}

	level := slog.LevelInfo
	switch {
	case seen.status >= 500:
		level = slog.LevelError
	case found.quiet:
		level = slog.LevelDebug
	}
	enabled := a.Log.Enabled(r.Context(), level)

	// What probes do is logged only if somebody asks for all of it; what else
	// strangers do, as far as their quota goes.
	free := level == slog.LevelDebug || seen.isKnown || found.verified && seen.status < 300
	unlogged := enabled && !free && !a.api.LogsStranger(a.api.ClientIP(r))

	a.metrics.observeRequest(rest.Observation{
		Method:   r.Method,
		Route:    found.pattern,
		Status:   seen.status,
		Took:     took,
		Unlogged: unlogged,
	})
	if !enabled || unlogged {
		return
	}

	attrs := []slog.Attr{
		slog.String("request_id", id),
		slog.String("method", rest.LoggedMethod(r.Method)),
		slog.String("path", found.pattern),
		slog.Int("status", seen.status),
		slog.Duration("took", took),
		slog.String("ip", a.api.ClientIP(r)),
	}
	if seen.status >= 500 && seen.failure != nil {
		attrs = append(attrs, slog.Any("error", seen.failure))
	}
	a.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// serveWithRecovery serves a request and answers a panic with 500. aborted says that
// the answer had begun, so that it can only be cut off.
func (a *App) serveWithRecovery(w *recordingWriter, r *http.Request, serve http.HandlerFunc) (aborted bool) {
	defer func() {
		p := recover()
		switch {
		case p == nil:
		case p == http.ErrAbortHandler:
			aborted = true
		case w.wroteHeader:
			w.status, w.failure, aborted = http.StatusInternalServerError, panicError(p), true
		default:
			a.api.WriteError(w, r, panicError(p))
		}
	}()

	serve(w, r)
	return false
}

func panicError(p any) error { return fmt.Errorf("panic: %v\n%s", p, debug.Stack()) }

// recordingWriter records what the log shows of an answer.
type recordingWriter struct {
	http.ResponseWriter
	status      int
	wroteHeader bool
	failure     error
	isKnown     bool // it has shown whose it is, and is no stranger's
	isLogged    bool // and counted, by who has answered it
}

// RecordFailure implements rest.FailureRecorder.
func (w *recordingWriter) RecordFailure(failure error) { w.failure = failure }

// WriteHeader implements http.ResponseWriter.
func (w *recordingWriter) WriteHeader(status int) {
	if !w.wroteHeader {
		w.status, w.wroteHeader = status, status >= 200
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *recordingWriter) Write(p []byte) (int, error) {
	w.wroteHeader = true
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recordingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
