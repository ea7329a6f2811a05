package api

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"confab/app/stream"
	"confab/storage"
)

// maxOrganizationStreams is how many streams an organization may have open.
const maxOrganizationStreams = 20

// streamEvents handles GET /v1/events/stream.
func (s *Server) streamEvents(r *request) (reply, error) {
	f, q := eventFilters(r)
	o := stream.Options{
		Class:        s.streams,
		Organization: r.org.ID,
		Filter:       f,
		Begin:        stream.Begin{LastEventID: r.http.Header.Get("Last-Event-ID")},
		Once:         q.oneOf("wait", "0", "1") == "0",
		Format:       streamFormat(r),
		Allowed:      s.mayGoOn(r),
	}
	if q.values.Has("after") {
		after := q.values.Get("after")
		o.Begin.After = &after
	}
	if q.err != nil {
		return reply{}, q.err
	}

	opened, err := s.Streams.Open(r.http.Context(), o)
	if err != nil {
		return reply{}, streamError(err)
	}
	return reply{stream: func(x *exchange) { s.sendStream(x, opened, o.Format) }}, nil
}

// openStream is a stream that is to be served or closed.
type openStream interface {
	Serve(w http.ResponseWriter, r *http.Request, begun func())
	Close()
}

// sendStream writes a stream until it ends. The call is recorded when its headers were
// sent.
func (s *Server) sendStream(x *exchange, opened openStream, f stream.Format) {
	if x.request.http.Method == http.MethodHead {
		opened.Close()
		stream.SetHeaders(x.Header(), f)
		x.WriteHeader(http.StatusOK)
		return
	}
	opened.Serve(x, x.request.http, func() { s.record(x) })
}

// streamError is why a stream was not opened.
func streamError(err error) error {
	full, isFull := errors.AsType[*stream.FullError](err)
	switch {
	case errors.Is(err, stream.ErrPosition):
		return &Error{Code: InvalidCursor, Param: "after", Message: "after must be " + stream.Oldest +
			", a position of this stream, or the id of an event that is still kept."}
	case isFull:
		return tooManyStreams(full)
	case errors.Is(err, stream.ErrStopping):
		return &Error{Code: ServiceUnavailable, Message: "The server is stopping. Please retry.", RetryAfter: time.Second}
	}
	return err
}

// tooManyStreams refuses a stream of a server, an organization or a person that has enough
// of them.
func tooManyStreams(full *stream.FullError) error {
	return &Error{
		Code:       RateLimitExceeded,
		Message:    fmt.Sprintf("The %s has %d streams open, which is the most. Close one of them and retry.", full.Of, full.Max),
		RetryAfter: time.Second,
	}
}

// streamFormat is the format that the client accepts: server-sent events, unless it
// names lines of JSON.
func streamFormat(r *request) stream.Format {
	lines := stream.Lines{}
	for _, header := range r.http.Header.Values("Accept") {
		for name := range strings.SplitSeq(header, ",") {
			if kind, params, err := mime.ParseMediaType(name); err == nil && kind == lines.ContentType() && params["q"] != "0" {
				return lines
			}
		}
	}
	return stream.EventStream{}
}

// mayGoOn tells whether a stream of the request's key, or of the person who is signed in,
// may go on. What cannot be found out for the moment does not end it.
func (s *Server) mayGoOn(r *request) func(context.Context) bool {
	if r.user != nil {
		return func(ctx context.Context) bool { return s.whyEnded(ctx, r.visitor) == "" }
	}

	hash := [32]byte(r.key.Hash)
	return func(ctx context.Context) bool {
		p, err := s.DB.Principal(ctx, hash)
		if err != nil {
			return !errors.Is(err, storage.ErrNotFound)
		}
		return checkKey(p.Key) == nil && checkOrganization(p.Organization, s.plan(p.Organization), false) == nil
	}
}
