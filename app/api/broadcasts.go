package api

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/event"
	"confab/storage"
)

// listBroadcasts handles GET /v1/:phone_number_id/broadcasts.
func (s *Server) listBroadcasts(r *rest.Request) (rest.Reply, error) {
	f := rest.Filters{Values: r.Query()}
	status := f.OneOf("status", storage.BroadcastStates()...)
	return rest.ListOf(s.Server, r, rest.Lister[storage.Broadcast, event.BroadcastView]{
		Scope: fmt.Sprintf("broadcasts %d %q", r.Account.ID, status),
		Err:   f.Err,
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.Broadcast, storage.After, error) {
			return rx.Within(q.Budget).Broadcasts(r.Account.ID, status, q.After, q.Fetch())
		},
		Key:  func(b storage.Broadcast) storage.After { return storage.After{Key: b.CreatedAt, ID: b.ID} },
		View: event.ViewBroadcast,
	})
}

// BroadcastIn finds the broadcast in the path.
var BroadcastIn = rest.OfNumber(storage.PrefixBroadcast, (*storage.Rx).Broadcast)

// moveBroadcast is the handler that moves the broadcast in the path to another state.
func (s *Server) moveBroadcast(move func(*storage.Tx, *storage.Broadcast) error) rest.Handler {
	return func(r *rest.Request) (rest.Reply, error) {
		return rest.UpdateFound(s.Server, r, BroadcastIn, func(tx *storage.Tx, b storage.Broadcast) (rest.Reply, error) {
			b, err := tx.CurrentBroadcast(b.Number)
			if err == nil {
				err = move(tx, &b)
			}
			if errors.Is(err, jobs.ErrNotActive) {
				err = rest.Fail(rest.BroadcastNotActive, "The broadcast is "+b.Status+".")
			}
			return rest.OK(event.ViewBroadcast(b)), err
		})
	}
}

// createBroadcast handles POST /v1/:phone_number_id/broadcasts.
func (s *Server) createBroadcast(r *rest.Request) (rest.Reply, error) {
	in := broadcastBody{allowHTTP: s.plainHTTP(), hasFile: r.Form != nil}
	if err := cmp.Or(r.CheckTable(), r.Decode(&in)); err != nil {
		return rest.Reply{}, err
	}
	return s.withTemplateSync(r, func() (rest.Reply, error) { return s.makeBroadcast(r, &in) })
}

// makeBroadcast stores a broadcast. The answer is stored with the step that publishes it.
func (s *Server) makeBroadcast(r *rest.Request, in *broadcastBody) (rep rest.Reply, err error) {
	b, recipients, err := s.draftBroadcast(r, in)
	if err == nil {
		err = cmp.Or(r.CheckBilling(), in.missingMedia)
	}
	if err != nil {
		return rest.Reply{}, err
	}

	// A client that disconnects does not stop the work half-way.
	r.DetachContext()
	err = jobs.MakeBroadcast(r.HTTP.Context(), s.DB, b, recipients, func(publish func(*storage.Tx) (storage.Broadcast, error)) error {
		rep, err = s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
			made, err := publish(tx)
			return rest.Created(event.ViewBroadcast(made)), err
		})
		return err
	})
	return rep, err
}

// draftBroadcast checks a request for a broadcast, and returns it with the source of its
// recipients, which is nil for those of a label. That media is missing is for the caller to say, after
// what comes before it.
func (s *Server) draftBroadcast(r *rest.Request, in *broadcastBody) (storage.Broadcast, jobs.RecipientSource, error) {
	b, err := rest.Query(s.Server, r, func(rx *storage.Rx) (storage.Broadcast, error) { return in.resolve(rx, r.Account, r.Key.Accounts) })
	if err != nil {
		return b, nil, err
	}
	b.CreatedBy = cmp.Or(r.UserID(), storage.OrNil(r.Key.ID))

	var file io.Reader
	if r.Form != nil {
		file = r.Form.File.Reader()
	}
	recipients, err := in.source(file)
	return b, recipients, err
}
