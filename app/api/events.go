package api

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"confab/app/api/rest"
	"confab/app/live"
	"confab/app/stream"
	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// viewEvent is an event as the API shows it, in lists, alone and in streams.
func viewEvent(e storage.EventItem) stream.Item { return stream.Item(e) }

// eventFilters reads the filters that lists and streams of events share.
func eventFilters(r *rest.Request) (f storage.EventFilter, q rest.Filters) {
	q, f.Of = rest.Filters{Values: r.Query()}, r.Key.Accounts
	f.PhoneNumberID = q.Matching("phone_number_id", provider.PhoneNumberID, "must be 6 to 20 digits")

	for _, list := range q.Values["type"] {
		for name := range strings.SplitSeq(list, ",") {
			if !event.IsType(name) && q.Err == nil {
				q.Err = errEventType("type")
			}
			f.Types = append(f.Types, name)
		}
	}
	return f, q
}

// listEvents handles GET /v1/events.
func (s *Server) listEvents(r *rest.Request) (rest.Reply, error) {
	f, values := eventFilters(r)
	f.CreatedAfter, f.CreatedBefore = values.After("created_after"), values.Before("created_before")
	return rest.ListOf(s.Server, r, rest.Lister[storage.EventItem, stream.Item]{
		Scope: fmt.Sprintf("events %#v", f),
		Err:   values.Err,
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.EventItem, storage.After, error) {
			return rx.Within(q.Budget).EventItems(r.Org.ID, f, q.After, q.Fetch())
		},
		Key:  func(e storage.EventItem) storage.After { return storage.After{Key: storage.Time(e.Seq)} },
		View: viewEvent,
	})
}

func eventIn(rx *storage.Rx, r *rest.Request) (storage.EventItem, error) {
	e, err := rest.InPath(r, "id", storage.PrefixEvent, r.Org.ID, rx.EventItem)
	if err == nil && !r.Key.Accounts.Has(e.AccountID) {
		return e, rest.NotFound()
	}
	return e, err
}

// maxOrganizationStreams is how many streams an organization may have open.
const maxOrganizationStreams = 20

// streamEvents handles GET /v1/events/stream.
func (s *Server) streamEvents(r *rest.Request) (rest.Reply, error) {
	f, q := eventFilters(r)
	o := stream.Options{
		Class:        s.streams,
		Organization: r.Org.ID,
		Filter:       f,
		Begin:        stream.Begin{LastEventID: r.HTTP.Header.Get("Last-Event-ID")},
		Once:         q.OneOf("wait", "0", "1") == "0",
		Format:       streamFormat(r),
		Allowed:      s.mayGoOn(r),
	}
	if q.Values.Has("after") {
		o.Begin.After = new(q.Values.Get("after"))
	}
	if q.Err != nil {
		return rest.Reply{}, q.Err
	}

	opened, err := s.Streams.Open(r.HTTP.Context(), o)
	if err != nil {
		return rest.Reply{}, StreamError(err)
	}
	return rest.Reply{Stream: func(x *rest.Exchange) { s.SendStream(x, opened, o.Format) }}, nil
}

// SendStream writes a stream until it ends. The call is recorded when its headers were
// sent.
func (s *Server) SendStream(x *rest.Exchange, opened *stream.Stream, f stream.Format) {
	if x.Request.HTTP.Method == http.MethodHead {
		opened.Close()
		stream.SetHeaders(x.Header(), f)
		x.WriteHeader(http.StatusOK)
		return
	}
	opened.Serve(x, x.Request.HTTP, func() { s.Record(x) })
}

// StreamError is why a stream was not opened.
func StreamError(err error) error {
	full, isFull := errors.AsType[*stream.FullError](err)
	switch {
	case errors.Is(err, stream.ErrPosition):
		return &rest.Error{Code: rest.InvalidCursor, Param: "after", Message: "after must be " + stream.Oldest +
			", a position of this stream, or the id of an event that is still kept."}
	case isFull:
		why := fmt.Sprintf("The %s has %d open streams, the maximum. Close one and retry.", full.Of, full.Max)
		return rest.Fail(rest.RateLimitExceeded, why).RetryIn(time.Second)
	case errors.Is(err, stream.ErrStopping):
		return rest.Fail(rest.ServiceUnavailable, "The server is stopping. Please retry.").RetryIn(time.Second)
	}
	return err
}

// streamFormat is the format that the client accepts: server-sent events, unless it
// names lines of JSON.
func streamFormat(r *rest.Request) stream.Format {
	lines := stream.Lines{}
	for _, header := range r.HTTP.Header.Values("Accept") {
		for name := range strings.SplitSeq(header, ",") {
			if kind, params, err := mime.ParseMediaType(name); err == nil && kind == lines.ContentType() && params["q"] != "0" {
				return lines
			}
		}
	}
	return stream.EventStream{}
}

// mayGoOn reports whether a stream of the request's key, or of the person who is signed in,
// may go on. A check that fails for the moment does not end it, and nothing ends what a
// command of the operator asked for.
func (s *Server) mayGoOn(r *rest.Request) func(context.Context) bool {
	switch {
	case r.User != nil:
		return func(ctx context.Context) bool { return s.WhyEnded(ctx, r.Visitor) == "" }
	case r.Operator != nil:
		return func(context.Context) bool { return true }
	}

	hash := [32]byte(r.Key.Hash)
	return func(ctx context.Context) bool {
		p, err := s.DB.Principal(ctx, hash)
		if err != nil {
			return !errors.Is(err, storage.ErrNotFound)
		}
		return rest.CheckKey(p.Key, s.DB.Now()) == nil && rest.CheckOrganization(p.Organization, s.Plan(p.Organization), false) == nil
	}
}

// WhyEnded says why a stream of a person may not go on: it must be signed in, with the
// role that it had; "" if it may. A check that fails for the moment does not end it.
func (s *Server) WhyEnded(ctx context.Context, v *rest.Visitor) string {
	now, err := v.Find(ctx)
	switch {
	case err != nil && rest.AsError(err).Code != rest.SessionRequired:
		return ""
	case err != nil:
		return s.whySignedOut(ctx, v.User.ID)
	case now.User.Role != v.User.Role:
		return live.EndedRoleChanged
	case rest.CheckOrganization(now.Organization, rest.Plan{}, true) != nil:
		return live.EndedSuspended
	}
	return ""
}

func (s *Server) whySignedOut(ctx context.Context, user string) string {
	u, err := storage.Query(ctx, s.DB, func(rx *storage.Rx) (storage.User, error) { return rx.UserByID(user) })
	if err == nil && u.DisabledAt != 0 {
		return live.EndedDisabled
	}
	return live.EndedSignedOut // without an answer the session is gone all the same
}
