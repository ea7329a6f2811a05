package api

import (
	"net/http"

	"confab/app/limit"
	"confab/storage"
)

// ServeOperator answers a request under /v1 that a command of the operator makes in the
// name of an organization, without a key.
func (s *Server) ServeOperator(w http.ResponseWriter, hr *http.Request, organization storage.Organization) {
	s.serve(w, &request{http: hr, prefix: "/v1", table: s.v1, operator: &organization})
}

// Admit checks the key of a request that is not one of the API's own, what its
// organization may do, and its rate limit, of which it takes a token.
func (s *Server) Admit(hr *http.Request) error {
	r := &request{http: hr}
	if err := s.authenticate(r); err != nil {
		return err
	}
	limit.RequestOf(hr.Context()).Identify(r.holder())
	if err := checkOrganization(r.org, r.plan, false); err != nil {
		return err
	}
	return s.takeToken(r)
}
