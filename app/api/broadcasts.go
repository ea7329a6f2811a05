package api

import (
	"errors"
	"fmt"
	"io"

	"confab/jobs"
	"confab/jobs/event"
	"confab/storage"
)

// listBroadcasts handles GET /v1/:phone_number_id/broadcasts.
func (s *Server) listBroadcasts(r *request) (reply, error) {
	f := filters{values: r.query()}
	status := f.oneOf("status", storage.BroadcastStates()...)
	if f.err != nil {
		return reply{}, f.err
	}

	return listOf(s, r, lister[storage.Broadcast, event.BroadcastView]{
		scope: fmt.Sprintf("broadcasts %d %q", r.account.ID, status),
		read: func(rx *storage.Rx, q *listQuery) ([]storage.Broadcast, storage.After, error) {
			return rx.Within(q.budget).Broadcasts(r.account.ID, status, q.after, q.fetch())
		},
		key:  func(b storage.Broadcast) storage.After { return storage.After{Key: b.CreatedAt, ID: b.ID} },
		view: event.ViewBroadcast,
	})
}

// broadcastIn finds the broadcast in the path.
func broadcastIn(rx *storage.Rx, r *request) (storage.Broadcast, error) {
	return inPath(r, "id", storage.PrefixBroadcast, r.account.ID, rx.Broadcast)
}

// getBroadcast handles GET /v1/:phone_number_id/broadcasts/:id.
func (s *Server) getBroadcast(r *request) (reply, error) {
	b, err := find(s, r, broadcastIn)
	return ok(event.ViewBroadcast(b)), err
}

// pauseBroadcast handles POST /v1/:phone_number_id/broadcasts/:id/pause.
func (s *Server) pauseBroadcast(r *request) (reply, error) {
	return s.moveBroadcast(r, jobs.PauseBroadcast)
}

// resumeBroadcast handles POST /v1/:phone_number_id/broadcasts/:id/resume.
func (s *Server) resumeBroadcast(r *request) (reply, error) {
	return s.moveBroadcast(r, jobs.ResumeBroadcast)
}

// cancelBroadcast handles POST /v1/:phone_number_id/broadcasts/:id/cancel.
func (s *Server) cancelBroadcast(r *request) (reply, error) {
	return s.moveBroadcast(r, jobs.CancelBroadcast)
}

// moveBroadcast moves the broadcast in the path to another state.
func (s *Server) moveBroadcast(r *request, move func(*storage.Tx, *storage.Broadcast) error) (reply, error) {
	return s.update(r, func(tx *storage.Tx) (reply, error) {
		b, err := broadcastIn(&tx.Rx, r)
		if err == nil {
			b, err = tx.CurrentBroadcast(b.Number)
		}
		if err == nil {
			err = move(tx, &b)
		}
		if errors.Is(err, jobs.ErrNotActive) {
			err = fail(BroadcastNotActive, "The broadcast is "+b.Status+".")
		}
		return ok(event.ViewBroadcast(b)), err
	})
}

// createBroadcast handles POST /v1/:phone_number_id/broadcasts.
func (s *Server) createBroadcast(r *request) (reply, error) {
	in := broadcastBody{allowHTTP: s.plainHTTP(), hasFile: r.csv != nil}
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}
	return s.withTemplateSync(r, func() (reply, error) { return s.makeBroadcast(r, &in) })
}

// makeBroadcast stores a broadcast. The answer is stored with the step that publishes it.
func (s *Server) makeBroadcast(r *request, in *broadcastBody) (rep reply, err error) {
	b, err := s.checkBroadcast(r, in)
	if err != nil {
		return reply{}, err
	}
	var file io.Reader
	if r.csv != nil {
		file = r.csv.Reader()
	}
	recipients, err := in.source(file)
	if err != nil {
		return reply{}, err
	}

	// A client that disconnects does not stop the work half-way.
	r.detachContext()
	err = jobs.MakeBroadcast(r.http.Context(), s.DB, b, recipients, func(publish func(*storage.Tx) (storage.Broadcast, error)) error {
		rep, err = s.update(r, func(tx *storage.Tx) (reply, error) {
			made, err := publish(tx)
			return created(event.ViewBroadcast(made)), err
		})
		return err
	})
	return rep, err
}

// checkBroadcast checks what a broadcast names, and returns it without its recipients.
func (s *Server) checkBroadcast(r *request, in *broadcastBody) (b storage.Broadcast, err error) {
	err = s.view(r, func(rx *storage.Rx) error {
		b, err = in.resolve(rx, r.account)
		return err
	})

	b.CreatedBy = &r.key.ID
	if r.user != nil {
		b.CreatedBy = &r.user.ID
	}
	return b, err
}
