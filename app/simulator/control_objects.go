package simulator

import (
	"slices"
	"strings"
)

var reviewStatuses = []string{
	statusApproved, statusPending, statusRejected, statusPaused, statusDisabled, "IN_APPEAL", "PENDING_DELETION",
	"LIMIT_EXCEEDED", "ARCHIVED", "FLAGGED", "REINSTATED", "LOCKED", "UNARCHIVED",
}

// controlReview handles POST /_sim/templates/{id}/review. The template may be
// named by its id or by its name.
func (s *Server) controlReview(c *controlCall) (any, error) {
	status := strings.ToUpper(c.in.text("status"))
	switch {
	case status == "":
		return nil, missing("status")
	case !slices.Contains(reviewStatuses, status):
		return nil, invalid("status", "must be one of "+strings.Join(reviewStatuses, ", "))
	}

	// An id wins over a name.
	t := s.world.Templates[c.key()]
	for _, other := range s.world.Templates {
		if t == nil && other.Name == c.key() {
			t = other
		}
	}
	if t == nil {
		return nil, notFound("There is no template " + c.key() + ".")
	}

	s.review(t, status, strings.ToUpper(c.in.text("reason")))
	if status == "FLAGGED" || status == "REINSTATED" || status == "UNARCHIVED" {
		t.Status = statusApproved // these are names of events, not of states
	}
	return success{true}, nil
}

// controlNumbers handles GET /_sim/numbers.
func (s *Server) controlNumbers(*controlCall) (any, error) {
	return object{"data": s.Numbers()}, nil
}

// controlAddNumber handles POST /_sim/numbers.
func (s *Server) controlAddNumber(c *controlCall) (any, error) {
	var n Number
	if err := c.decode(&n); err != nil {
		return nil, err
	}
	return s.AddNumber(n)
}

// controlSignup handles POST /_sim/signup.
func (s *Server) controlSignup(c *controlCall) (any, error) {
	return s.Signup(c.in.text("name"), c.in.text("phone_number"))
}

var tokenStates = []tokenState{tokenValid, tokenExpired, tokenRevoked, tokenNoPermission}

// controlToken handles POST /_sim/tokens: it makes a token, or changes what
// has become of one.
func (s *Server) controlToken(c *controlCall) (any, error) {
	state := tokenState(firstOf(c.in.text("state"), string(tokenValid)))
	if !slices.Contains(tokenStates, state) {
		return nil, invalid("state", "must be one of valid, expired, revoked, no_permission")
	}

	// A value that is not known yet becomes a new token.
	value := firstOf(c.in.text("access_token"), newAccessToken())
	t := s.world.Tokens[value]
	if t == nil {
		t = &token{Token: value}
		s.world.Tokens[value] = t
	}
	if id := c.in.text("waba_id"); id != "" {
		t.Accounts = []string{id}
	}

	t.State = state
	return object{"access_token": t.Token, "state": t.State}, nil
}
