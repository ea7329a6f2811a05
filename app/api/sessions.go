package api

import "confab/storage"

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
func (s *Server) sessionsOf(r *request, user string) (reply, error) {
	if err := s.calls.flushLastUsed(r.http.Context()); err != nil {
		return reply{}, err
	}

	var views []sessionView
	err := s.view(r, func(rx *storage.Rx) error {
		all, err := rx.UserSessions(user)
		for _, one := range all {
			views = append(views, sessionView{
				ID:         one.ID,
				Object:     "session",
				UserID:     one.UserID,
				UserAgent:  one.UserAgent,
				IP:         one.IP,
				Current:    one.ID == r.visitor.Session.ID,
				CreatedAt:  one.CreatedAt,
				LastSeenAt: one.LastSeenAt,
			})
		}
		return err
	})
	if err != nil {
		return reply{}, err
	}
	return wholeList(views)
}

// listSessions handles GET /console/api/sessions: one's own.
func (s *Server) listSessions(r *request) (reply, error) { return s.sessionsOf(r, r.user.ID) }

// listPersonSessions handles GET /console/api/people/:id/sessions.
func (s *Server) listPersonSessions(r *request) (reply, error) { return s.sessionsOf(r, r.param("id")) }

// endSession handles DELETE /console/api/sessions/:id: one of one's own.
func (s *Server) endSession(r *request) (reply, error) {
	return s.endSessionOf(r, r.user.ID, r.param("id"))
}

// endPersonSession handles DELETE /console/api/people/:id/sessions/:session_id.
func (s *Server) endPersonSession(r *request) (reply, error) {
	return s.endSessionOf(r, r.param("id"), r.param("session_id"))
}

// endSessionOf ends a session of a user.
func (s *Server) endSessionOf(r *request, user, id string) (reply, error) {
	if !storage.ValidID(storage.PrefixSession, id) {
		return reply{}, notFound()
	}
	return s.update(r, func(tx *storage.Tx) (reply, error) {
		return deleted("session", id), tx.DeleteUserSession(user, id)
	})
}
