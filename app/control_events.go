package app

import (
	"errors"
	"net/http"

	"confab/app/datadir"
	"confab/app/stream"
	"confab/storage"
)

// maxOperatorStreams is how many commands may follow events at once.
const maxOperatorStreams = 100

// serveEvents streams the events of all organizations, or of one, to a command, and
// replays too.
func (a *App) serveEvents(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	o := stream.Options{
		Class:   a.operatorStreams,
		Filter:  storage.EventFilter{Types: query[datadir.EventsType]},
		Replays: true,
		Begin:   stream.Begin{LastEventID: r.Header.Get("Last-Event-ID")},
		Format:  stream.EventStream{AppendItem: stream.AppendOperatorItem},
	}
	if query.Has(datadir.EventsAfter) {
		after := query.Get(datadir.EventsAfter)
		o.Begin.After = &after
	}

	if id := query.Get(datadir.EventsOrganization); id != "" {
		err := a.DB.View(r.Context(), func(rx *storage.Rx) error {
			found, err := rx.Organization(id)
			o.Organization = found.ID
			return err
		})
		if err != nil {
			http.Error(w, "there is no organization "+id, http.StatusNotFound)
			return
		}
		o.Format = stream.EventStream{AppendItem: func(b []byte, e storage.EventItem) []byte {
			e.Organization = id
			return stream.AppendOperatorItem(b, e)
		}}
	}

	opened, err := a.streams.Open(r.Context(), o)
	switch {
	case errors.Is(err, stream.ErrPosition):
		http.Error(w, "--after: "+err.Error(), http.StatusBadRequest)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		opened.Serve(w, r, func() {})
	}
}
