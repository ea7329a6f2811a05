package api

import (
	"fmt"
	"strings"

	"confab/app/stream"
	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// viewEvent is an event as the API shows it, in lists, alone and in streams.
func viewEvent(e storage.EventItem) stream.Item { return stream.Item(e) }

// eventFilters reads the filters that lists and streams of events share.
func eventFilters(r *request) (f storage.EventFilter, q filters) {
	q = filters{values: r.query()}
	f.PhoneNumberID = q.matching("phone_number_id", provider.PhoneNumberID, "must be 6 to 20 digits")

	for _, list := range q.values["type"] {
		for name := range strings.SplitSeq(list, ",") {
			if !event.IsType(name) && q.err == nil {
				q.err = errEventType("type")
			}
			f.Types = append(f.Types, name)
		}
	}
	return f, q
}

// listEvents handles GET /v1/events.
func (s *Server) listEvents(r *request) (reply, error) {
	f, values := eventFilters(r)
	f.CreatedAfter, f.CreatedBefore = values.after("created_after"), values.before("created_before")
	if values.err != nil {
		return reply{}, values.err
	}

	return listOf(s, r, lister[storage.EventItem, stream.Item]{
		scope: fmt.Sprintf("events %#v", f),
		read: func(rx *storage.Rx, q *listQuery) ([]storage.EventItem, storage.After, error) {
			return rx.Within(q.budget).EventItems(r.org.ID, f, q.after, q.fetch())
		},
		key:  func(e storage.EventItem) storage.After { return storage.After{Key: storage.Time(e.Seq)} },
		view: viewEvent,
	})
}

// getEvent handles GET /v1/events/:id.
func (s *Server) getEvent(r *request) (reply, error) {
	e, err := find(s, r, func(rx *storage.Rx, r *request) (storage.EventItem, error) {
		return inPath(r, "id", storage.PrefixEvent, r.org.ID, rx.EventItem)
	})
	return ok(viewEvent(e)), err
}
