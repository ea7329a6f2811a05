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
	if r.operator != nil {
		r.org, r.plan = *r.operator, s.plan(*r.operator)
		return nil
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
	}
	if err := checkKey(p.Key); err != nil {
		return err
	}

	r.key, r.org, r.plan = p.Key, p.Organization, s.plan(p.Organization)
	return nil
}

// checkKey refuses a key that was revoked or has expired.
func checkKey(k storage.Key) error {
	switch {
	case k.RevokedAt != 0:
		return fail(RevokedAPIKey, "This API key was revoked.")
	case k.ExpiresAt != 0 && k.ExpiresAt <= storage.Now():
		return fail(ExpiredAPIKey, "This API key has expired.")
	}
	return nil
}

// checkOrganization refuses an organization that is suspended, or whose plan has no API,
// which the console does not need.
func checkOrganization(o storage.Organization, plan Plan, console bool) error {
	if err := CheckSuspension(o); err != nil {
		return err
	}
	if !plan.API && !console {
		return fail(FeatureNotAvailable, "This organization's plan does not include the API.")
	}
	return nil
}

// CheckSuspension refuses an organization that is suspended.
func CheckSuspension(o storage.Organization) error {
	if o.SuspendedAt != 0 {
		return fail(OrganizationSuspended, "This organization is suspended.")
	}
	return nil
}
