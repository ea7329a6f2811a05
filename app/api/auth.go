package api

import (
	"errors"
	"strings"

	"confab/storage"
)

// authenticate finds the key of the request, or in the console the person, and with it
// the organization and its plan.
func (s *Server) authenticate(r *request) error {
	if r.visitor != nil {
		return s.authenticateVisitor(r)
	}

	headers := r.http.Header.Values("Authorization")
	if len(headers) == 0 || (len(headers) == 1 && headers[0] == "") {
		return fail(MissingAPIKey, "Send your API key as 'Authorization: Bearer svc_live_…'.")
	}

	scheme, token, _ := strings.Cut(headers[0], " ")
	isKey := len(token) == storage.KeyLength && strings.HasPrefix(token, storage.KeyPrefix)
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || !isKey {
		return fail(InvalidAPIKey, "This is not an API key.")
	}

	p, err := s.DB.Principal(r.http.Context(), storage.KeyHash(token))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return fail(InvalidAPIKey, "There is no such API key.")
	case err != nil:
		return err
	case p.Key.RevokedAt != 0:
		return fail(RevokedAPIKey, "This API key was revoked.")
	case p.Key.ExpiresAt != 0 && p.Key.ExpiresAt <= storage.Now():
		return fail(ExpiredAPIKey, "This API key has expired.")
	}

	r.key, r.org, r.plan = p.Key, p.Organization, s.plan(p.Organization)
	return nil
}
