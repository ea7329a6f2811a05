package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"confab/app/live"
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

// whyEnded tells why a stream of a person may not go on: it must be signed in, with the
// role that it had; "" if it may. What cannot be found out for the moment does not end it.
func (s *Server) whyEnded(ctx context.Context, v *Visitor) string {
	now, err := v.Find(ctx)
	switch {
	case err != nil && asError(err).Code != SessionRequired:
		return ""
	case err != nil:
		return s.whySignedOut(ctx, v.User.ID)
	case now.User.Role != v.User.Role:
		return live.EndedRoleChanged
	case checkOrganization(now.Organization, Plan{}, true) != nil:
		return live.EndedSuspended
	}
	return ""
}

// whySignedOut tells why a session is gone.
func (s *Server) whySignedOut(ctx context.Context, user string) string {
	why := live.EndedSignedOut
	_ = s.DB.View(ctx, func(rx *storage.Rx) error { // without an answer the session is gone all the same
		u, err := rx.UserByID(user)
		if err == nil && u.DisabledAt != 0 {
			why = live.EndedDisabled
		}
		return err
	})
	return why
}

// checkDoors refuses a request that must not reach the API at all, whatever it asks for.
// That nobody is signed in is not such a reason.
func (v *Visitor) checkDoors() error {
	if v == nil || v.Refused == nil || asError(v.Refused).Code == SessionRequired {
		return nil
	}
	return v.Refused
}

// ServeConsole answers a request under /console/api. Below its /v1 are the routes of the
// API, beside it what only the console needs.
func (s *Server) ServeConsole(w http.ResponseWriter, hr *http.Request, who Visitor) {
	r := &request{http: hr, visitor: &who, prefix: ConsolePath, table: s.console}
	if rest := strings.TrimPrefix(hr.URL.Path, ConsolePath); rest == "/v1" || strings.HasPrefix(rest, "/v1/") {
		r.prefix, r.table = ConsolePath+"/v1", s.v1
	}
	s.serve(w, r)
}

// authenticateVisitor takes the person and its organization from the session.
func (s *Server) authenticateVisitor(r *request) error {
	if r.visitor.Refused != nil {
		return r.visitor.Refused
	}
	r.user, r.org = &r.visitor.User, r.visitor.Organization
	r.plan = s.plan(r.org)
	return nil
}

// userID is the id of the person who calls; nil for a key.
func (r *request) userID() *string {
	if r.user == nil {
		return nil
	}
	return &r.user.ID
}

// entersAPILog tells whether the call is one for the API log: in the console only what
// changes something is.
func (r *request) entersAPILog() bool {
	if r.visitor == nil {
		return true
	}
	return r.user != nil && r.http.Method != http.MethodGet && r.http.Method != http.MethodHead && !r.isQuiet()
}

// isQuiet tells whether the call is one that browsers make all the time.
func (r *request) isQuiet() bool { return r.route != nil && r.route.has(quiet) }

// seenInterval is how old the time is, at the most, at which a session was last seen.
const seenInterval = time.Minute

// MarkSeen remembers that a session is used now. It is written later, together with
// others.
func (s *Server) MarkSeen(session storage.UserSession) {
	if now := storage.Now(); now.Sub(session.LastSeenAt) >= seenInterval {
		s.calls.markUsed(session.ID, now)
	}
}

// markUsed remembers when a key or a session was used.
func (l *callLog) markUsed(id string, at storage.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastUsed[id] = max(l.lastUsed[id], at)
}
