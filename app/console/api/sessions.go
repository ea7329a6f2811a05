package api

import (
	"cmp"

	"confab/app/api/rest"
	"confab/storage"
)

// SessionView is a browser in which a person is signed in, on the command line too.
type SessionView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	storage.UserSession
}

// listSessions handles GET /console/api/sessions, of one's own, and GET /console/api/people/:id/sessions.
func (s *Server) listSessions(r *rest.Request) (rest.Reply, error) {
	user := cmp.Or(r.Param("id"), r.User.ID)
	if err := s.APILog.FlushLastUsed(r.HTTP.Context()); err != nil {
		return rest.Reply{}, err
	}

	all, err := rest.Query(s.Server, r, func(rx *storage.Rx) ([]storage.UserSession, error) { return rx.UserSessions(user) })
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.WholeList(all, func(one storage.UserSession) SessionView {
		one.IsCurrent = new(one.ID == r.Visitor.Session.ID)
		return SessionView{one.ID, "session", one}
	})
}

// endSession handles DELETE /console/api/sessions/:id, of one's own, and
// DELETE /console/api/people/:id/sessions/:session_id.
func (s *Server) endSession(r *rest.Request) (rest.Reply, error) {
	user, id := r.User.ID, r.Param("id")
	if of := r.Param("session_id"); of != "" {
		user, id = id, of
	}
	if !storage.ValidID(storage.PrefixSession, id) {
		return rest.Reply{}, rest.NotFound()
	}
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		return rest.Deleted("session", id), tx.DeleteUserSession(user, id)
	})
}
