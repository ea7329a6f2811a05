package api

import (
	"fmt"
	"strings"

	"confab/app/api/rest"
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

// eventIn finds the event in the path.
func eventIn(rx *storage.Rx, r *rest.Request) (storage.EventItem, error) {
	e, err := rest.InPath(r, "id", storage.PrefixEvent, r.Org.ID, rx.EventItem)
	if err == nil && !r.Key.Accounts.Has(e.AccountID) {
		return e, rest.NotFound()
	}
	return e, err
}
