package rest

import (
	"context"
	"net/http"
	"time"

	"confab/storage"
)

// ConsolePath is where people call the API, with a session instead of a key.
const ConsolePath = "/console/api"

// Visitor is who calls in the console: a person who is signed in, or why the request is
// refused. Package console finds out.
type Visitor struct {
	storage.SignedIn
	Refused error
	// Find finds the session again, for streams: sign-out, a changed role and the like
	// take effect while they are open. It does not count as use of the session.
	Find func(context.Context) (storage.SignedIn, error)
}

// checkRefused refuses a request that must not reach the API at all, no matter what it asks for.
// A missing sign-in is not such a reason.
func (v *Visitor) checkRefused() error {
	if v == nil || v.Refused == nil || AsError(v.Refused).Code == SessionRequired {
		return nil
	}
	return v.Refused
}

// UserID is the id of the person who calls; nil for a key.
func (r *Request) UserID() *string {
	if r.User == nil {
		return nil
	}
	return &r.User.ID
}

// Author is who makes the request: a user, or else the API.
func (r *Request) Author() string {
	if r.User == nil {
		return storage.SourceAPI
	}
	return r.User.ID
}

// entersAPILog reports whether the call is one for the API log: in the console only what
// changes something is.
func (r *Request) entersAPILog() bool {
	if r.Visitor == nil {
		return true
	}
	return r.User != nil && r.HTTP.Method != http.MethodGet && r.HTTP.Method != http.MethodHead && !r.isQuiet()
}

// isQuiet reports whether the call is one that browsers make all the time.
func (r *Request) isQuiet() bool { return r.route != nil && r.route.Has(Quiet) }

// seenInterval is how old the time is, at the most, at which a session was last seen.
const seenInterval = time.Minute

// MarkSeen remembers that a session is used now. It is written later, together with
// others.
func (s *Server) MarkSeen(session storage.UserSession) {
	if now := s.DB.Now(); now.Sub(session.LastSeenAt) >= seenInterval {
		s.APILog.markUsed(session.ID, now)
	}
}

// markUsed remembers when a key or a session was used.
func (l *callLog) markUsed(id string, at storage.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastUsed[id] = max(l.lastUsed[id], at)
}
