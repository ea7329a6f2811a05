package simulator

import (
	"slices"
	"strings"
	"time"
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

	t := s.findTemplate(c.key())
	if t == nil {
		return nil, notFound("There is no template " + c.key() + ".")
	}

	s.review(t, status, strings.ToUpper(c.in.text("reason")))
	if status == "FLAGGED" || status == "REINSTATED" || status == "UNARCHIVED" {
		t.Status = statusApproved // these are names of events, not of states
	}
	return success{true}, nil
}

// controlCategory handles POST /_sim/templates/{id}/category: the provider moves a template to
// another category, or announces it for a time.
func (s *Server) controlCategory(c *controlCall) (any, error) {
	category, when := strings.ToUpper(c.in.text("category")), c.in.text("at")
	at, err := time.Parse(time.RFC3339, when)
	switch {
	case !slices.Contains([]string{categoryMarketing, categoryUtility, categoryAuthentication}, category):
		return nil, invalid("category", "must be MARKETING, UTILITY or AUTHENTICATION")
	case when != "" && err != nil:
		return nil, invalid("at", "must be a time such as 2026-12-01T00:00:00Z, or empty for now")
	}

	t := s.findTemplate(c.key())
	if t == nil {
		return nil, notFound("There is no template " + c.key() + ".")
	}

	update := object{
		"message_template_id": numeric(t.ID), "message_template_name": t.Name, "message_template_language": t.Language,
		"new_category": t.Category, "correct_category": category, "category_update_timestamp": at.Unix(),
	}
	if when == "" {
		delete(update, "correct_category")
		delete(update, "category_update_timestamp")
		update["previous_category"], update["new_category"] = t.Category, category
		t.Previous, t.Category, t.Updated = t.Category, category, s.nowMS()
	}
	s.queueAccountUpdate(t.Account, "template_category_update", update)
	return success{true}, nil
}

// findTemplate finds a template by its id or its name; an id wins.
func (s *Server) findTemplate(key string) *template {
	if t := s.world.Templates[key]; t != nil {
		return t
	}
	for _, t := range s.world.Templates {
		if t.Name == key {
			return t
		}
	}
	return nil
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

	if scopes, ok := c.in["scopes"].([]any); ok {
		t.Scopes = nil
		for _, one := range scopes {
			if name, isText := one.(string); isText {
				t.Scopes = append(t.Scopes, name)
			}
		}
	}

	t.State = state
	return object{"access_token": t.Token, "state": t.State}, nil
}
