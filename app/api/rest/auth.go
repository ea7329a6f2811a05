package rest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"confab/app/limit"
	"confab/storage"
)

// authenticate finds the key of the request, or in the console the person, and with it
// the organization and its plan.
func (s *Server) authenticate(r *Request) error {
	if r.Visitor != nil {
		if r.Visitor.Refused != nil {
			return r.Visitor.Refused
		}
		r.User, r.Org, r.Plan = &r.Visitor.User, r.Visitor.Organization, s.Plan(r.Visitor.Organization)
		return nil
	}
	if r.Operator != nil {
		r.Org, r.Plan = *r.Operator, s.Plan(*r.Operator)
		return nil
	}

	headers := r.HTTP.Header.Values("Authorization")
	if len(headers) == 0 || (len(headers) == 1 && headers[0] == "") {
		return Fail(MissingAPIKey, "Send your API key as 'Authorization: Bearer svc_live_…'.")
	}

	scheme, token, _ := strings.Cut(headers[0], " ")
	isKey := len(token) == storage.KeyLength && strings.HasPrefix(token, storage.KeyPrefix)
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || !isKey {
		return Fail(InvalidAPIKey, "This is not a valid API key.")
	}

	p, err := s.DB.Principal(r.HTTP.Context(), storage.KeyHash(token))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return Fail(InvalidAPIKey, "This API key does not exist.")
	case err != nil:
		return err
	}
	if err := CheckKey(p.Key, s.DB.Now()); err != nil {
		r.refused = &p
		return err
	}

	r.Key, r.Org, r.Plan = p.Key, p.Organization, s.Plan(p.Organization)
	return nil
}

// CheckKey refuses a key that was revoked or has expired at a time.
func CheckKey(k storage.Key, now storage.Time) error {
	switch {
	case k.RevokedAt != 0:
		return Fail(RevokedAPIKey, "This API key was revoked.")
	case k.ExpiresAt != 0 && k.ExpiresAt <= now:
		return Fail(ExpiredAPIKey, "This API key has expired.")
	}
	return nil
}

// checkKeyLimits refuses a route that the key does not have, because of its scopes or because
// it is bound to numbers. A route without a scope is one that only keys without limits have.
func checkKeyLimits(k storage.Key, rt *Route) error {
	if scope := rt.Scope(); !rt.Has(AnyScope) && !k.HasScope(scope) {
		return Fail(PermissionDenied, "This API key lacks the scope "+scope+".")
	}
	if k.Accounts.Bound() && !rt.isOfNumber() && !rt.Has(OfNumbers) {
		return Fail(PermissionDenied, "This API key is limited to certain numbers, and this is not about one of them.")
	}
	return nil
}

// CheckOrganization refuses an organization that is suspended, or whose plan has no API,
// which the console does not need.
func CheckOrganization(o storage.Organization, plan Plan, console bool) error {
	if err := CheckSuspension(o); err != nil {
		return err
	}
	if !plan.API && !console {
		return Fail(FeatureNotAvailable, "This organization's plan does not include the API.")
	}
	return nil
}

// CheckSuspension refuses an organization that is suspended.
func CheckSuspension(o storage.Organization) error {
	if o.SuspendedAt != 0 {
		return Fail(OrganizationSuspended, "This organization is suspended.")
	}
	return nil
}

// Admit checks the key of a request outside of /v1, what its organization may do, and its rate
// limit, of which it takes a token. A caller that is not admitted is answered. If it is known
// whose key it is, the refusal is logged here, as one of the API is.
func (s *Server) Admit(w http.ResponseWriter, hr *http.Request) (isAdmitted, isLogged bool) {
	r := &Request{
		HTTP: hr, ID: s.EnsureRequestID(w), began: time.Now(), Now: s.DB.Now(),
		Prefix: hr.URL.Path, Table: new(Table), route: new(Route),
	}
	err := s.admitOutside(r)
	switch {
	case err == nil:
		return true, false
	case !r.isKnown():
		s.WriteError(w, hr, err)
		return false, false
	}

	x := &Exchange{ResponseWriter: w, Request: r, Failure: err}
	sendError(x, AsError(err))
	s.Record(x)
	return false, true
}

func (s *Server) admitOutside(r *Request) error {
	if err := s.authenticate(r); err != nil {
		return err
	}
	limit.RequestOf(r.HTTP.Context()).Identify(r.Holder())
	if err := CheckOrganization(r.Org, r.Plan, false); err != nil {
		return err
	}
	return s.takeToken(r)
}

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
