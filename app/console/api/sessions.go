package api

import (
	"confab/app/api/rest"
	"confab/storage"
)

// sessionView is a browser in which a person is signed in.
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

// sessionsOf replies with the sessions of a user.
func (s *Server) sessionsOf(r *rest.Request, user string) (rest.Reply, error) {
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

// listSessions handles GET /console/api/sessions: one's own.
func (s *Server) listSessions(r *rest.Request) (rest.Reply, error) { return s.sessionsOf(r, r.User.ID) }

// listPersonSessions handles GET /console/api/people/:id/sessions.
func (s *Server) listPersonSessions(r *rest.Request) (rest.Reply, error) {
	return s.sessionsOf(r, r.Param("id"))
}

// endSession handles DELETE /console/api/sessions/:id: one of one's own.
func (s *Server) endSession(r *rest.Request) (rest.Reply, error) {
	return s.endSessionOf(r, r.User.ID, r.Param("id"))
}

// endPersonSession handles DELETE /console/api/people/:id/sessions/:session_id.
func (s *Server) endPersonSession(r *rest.Request) (rest.Reply, error) {
	return s.endSessionOf(r, r.Param("id"), r.Param("session_id"))
}

// endSessionOf ends a session of a user.
func (s *Server) endSessionOf(r *rest.Request, user, id string) (rest.Reply, error) {
	if !storage.ValidID(storage.PrefixSession, id) {
		return rest.Reply{}, rest.NotFound()
	}
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		return rest.Deleted("session", id), tx.DeleteUserSession(user, id)
	})
}
