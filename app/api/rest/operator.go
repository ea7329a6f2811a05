package rest

import (
	"net/http"

	"confab/app/limit"
)

// Admit checks the key of a request that is not one of the API's own, what its
// organization may do, and its rate limit, of which it takes a token.
func (s *Server) Admit(hr *http.Request) error {
	r := &Request{HTTP: hr}
	if err := s.authenticate(r); err != nil {
		return err
	}
	limit.RequestOf(hr.Context()).Identify(r.Holder())
	if err := CheckOrganization(r.Org, r.Plan, false); err != nil {
		return err
	}
	return s.takeToken(r)
}
