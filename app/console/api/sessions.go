package api

import (
	"cmp"

	"confab/app/api/rest"
	"confab/storage"
)

type sessionView struct {
	ID         string       `json:"id"`
	Object     string       `json:"object"`
	UserID     string       `json:"user_id"`
	UserAgent  string       `json:"user_agent"`
	IP         string       `json:"ip"`
	Current    bool         `json:"current"` // it is the one that asks
	CreatedAt  storage.Time `json:"created_at"`
	LastSeenAt storage.Time `json:"last_seen_at"`
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
	return rest.WholeList(all, func(one storage.UserSession) sessionView {
		return sessionView{
			ID:         one.ID,
			Object:     "session",
			UserID:     one.UserID,
			UserAgent:  one.UserAgent,
			IP:         one.IP,
			Current:    one.ID == r.Visitor.Session.ID,
			CreatedAt:  one.CreatedAt,
			LastSeenAt: one.LastSeenAt,
		}
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
