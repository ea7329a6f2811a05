package app

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"confab/app/api"
)

// serveOutside answers a request outside of /v1 and writes its one line in the
// log, under its route.
func (a *App) serveOutside(w http.ResponseWriter, r *http.Request) {
	began, seen := time.Now(), &watchedWriter{ResponseWriter: w, status: http.StatusOK}
	id := a.api.EnsureRequestID(w)
	// Whatever it is, it runs nothing and shows nothing within others, unless it says so itself.
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	p := a.outside(r)
	aborted := a.guarded(seen, r, p.serve)
	a.logOutside(r, p, seen, id, time.Since(began))
	if aborted {
		panic(http.ErrAbortHandler) // closes the connection, so that the client notices
	}
}

// logOutside counts a request and writes its line.
func (a *App) logOutside(r *http.Request, p place, seen *watchedWriter, id string, took time.Duration) {
	a.metrics.request(api.Observation{Method: r.Method, Route: p.route, Status: seen.status, Took: took})
	level := slog.LevelInfo
	switch {
	case seen.status >= 500:
		level = slog.LevelError
	case p.quiet:
		level = slog.LevelDebug
	}
	if !a.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{slog.String("request_id", id), slog.String("method", r.Method), slog.String("path", p.route), slog.Int("status", seen.status),
		slog.Duration("took", took), slog.String("ip", a.api.ClientIP(r))}
	if seen.status >= 500 && seen.failure != nil {
		attrs = append(attrs, slog.Any("error", seen.failure))
	}
	a.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// guarded keeps a panic to its request. aborted says that the answer had begun
// and cannot be made good.
func (a *App) guarded(w *watchedWriter, r *http.Request, serve http.HandlerFunc) (aborted bool) {
	defer func() {
		p := recover()
		switch {
		case p == nil:
		case p == http.ErrAbortHandler:
			aborted = true
		case w.began:
			w.status, w.failure, aborted = http.StatusInternalServerError, panicked(p), true
		default:
			a.api.WriteError(w, r, panicked(p))
		}
	}()
	serve(w, r)
	return false
}

func panicked(p any) error { return fmt.Errorf("panic: %v\n%s", p, debug.Stack()) }

// watchedWriter notes what the log wants to know.
type watchedWriter struct {
	http.ResponseWriter
	status  int
	began   bool
	failure error
}

// RecordFailure implements api.FailureRecorder.
func (w *watchedWriter) RecordFailure(failure error) { w.failure = failure }

// WriteHeader implements http.ResponseWriter.
func (w *watchedWriter) WriteHeader(status int) {
	if !w.began {
		w.status, w.began = status, status >= 200
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *watchedWriter) Write(p []byte) (int, error) {
	w.began = true
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
