package simulator

import (
	"encoding/json"
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

	t, err := s.findTemplate(c.key())
	if err != nil {
		return nil, err
	}

	s.review(t, status, strings.ToUpper(c.in.text("reason")))
	if status == "FLAGGED" || status == "REINSTATED" || status == "UNARCHIVED" {
		t.Status = statusApproved // these are names of events, not of states
	}
	return object{"success": true}, nil
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

	t, err := s.findTemplate(c.key())
	if err != nil {
		return nil, err
	}

	update := object{"message_template_id": json.Number(t.ID), "message_template_name": t.Name, "message_template_language": t.Language}
	if when == "" {
		update["previous_category"], update["new_category"] = t.Category, category
		t.Previous, t.Category, t.Updated = t.Category, category, s.nowMS()
	} else {
		update["new_category"], update["correct_category"], update["category_update_timestamp"] = t.Category, category, at.Unix()
	}
	s.queueAccountUpdate(t.Account, "template_category_update", update)
	return object{"success": true}, nil
}

// findTemplate finds a template by its id or its name; an id wins.
func (s *Server) findTemplate(key string) (*template, error) {
	if t := s.world.Templates[key]; t != nil {
		return t, nil
	}
	for _, t := range s.world.Templates {
		if t.Name == key {
			return t, nil
		}
	}
	return nil, notFound("There is no template " + key + ".")
}

const maxTemplateList = 500

// controlTemplates handles GET /_sim/templates: the newest, in the order of creation.
func (s *Server) controlTemplates(c *controlCall) (any, error) {
	limit, err := c.listLimit(maxTemplateList, maxTemplateList)
	if err != nil {
		return nil, err
	}
	all := s.world.templatesOf("")
	return object{"data": viewsOf(all[max(0, len(all)-limit):], (*template).view)}, nil
}

// templateView is a template as the control surface shows it.
type templateView struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Language string `json:"language"`
	Category string `json:"category"`
	Status   string `json:"status"`
	Reason   string `json:"reason,omitempty"`
}

func (t *template) view() templateView {
	return templateView{t.ID, t.Name, t.Language, t.Category, t.Status, t.Reason}
}

// controlAddNumber handles POST /_sim/numbers.
func (s *Server) controlAddNumber(c *controlCall) (any, error) {
	var n Number
	if err := c.decode(&n); err != nil {
		return nil, err
	}
	return s.AddNumber(n)
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
