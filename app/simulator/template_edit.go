package simulator

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	editsPerDay   = 1
	editsPerMonth = 10
	maxDeletions  = 100
)

// editTemplate handles POST /{template_id}.
func (s *Server) editTemplate(c *call) (any, error) {
	t, err := s.templateOf(c)
	if err != nil {
		return nil, err
	}
	if err := t.editable(c.params, s.nowMS()); err != nil {
		return nil, err
	}

	// A copy is edited, so that a refused edit leaves the template as it was.
	changed := *t
	if err := changed.edit(c.params); err != nil {
		return nil, err
	}

	// Only edits of approved templates are limited in number.
	if t.Status == statusApproved {
		changed.Edits = append(slices.Clone(t.Edits), s.nowMS())
	}
	changed.Status, changed.Updated = statusPending, s.nowMS()
	*t = changed

	s.scheduleReview(t)
	return object{"success": true}, nil
}

func (t *template) editable(in object, now int64) error {
	t.Edits = recent(t.Edits, now, 30*24*time.Hour)
	lastDay := recent(slices.Clone(t.Edits), now, 24*time.Hour)

	switch {
	case t.Status != statusApproved && t.Status != statusRejected && t.Status != statusPaused:
		return templateError(2388039, "Message template status can't be changed", "A template that is %s cannot be edited.", t.Status)
	case t.Status == statusApproved && in.has("category") && !strings.EqualFold(in.text("category"), t.Category):
		return malformed("The category of an approved template cannot be edited.")
	case t.Status == statusApproved && (len(lastDay) >= editsPerDay || len(t.Edits) >= editsPerMonth):
		return templateError(2388039, "Message template can't be edited",
			"An approved template can be edited once in 24 hours and 10 times in 30 days.")
	}
	return nil
}

// edit replaces the fields that a body names, and checks the result as a whole.
func (t *template) edit(in object) error {
	if !in.has("components") && !in.has("category") && !in.has("message_send_ttl_seconds") {
		return requiredParameter("components")
	}

	whole := object{
		"name": t.Name, "language": t.Language, "category": firstOf(in.text("category"), t.Category),
		"parameter_format": t.Format, "components": t.Components, "message_send_ttl_seconds": in["message_send_ttl_seconds"],
	}
	if in.has("components") {
		whole["components"] = in["components"]
	}

	// The rules apply to the whole template, with the parts that stay as they are.
	edited, err := readTemplate(whole)
	if err != nil {
		return err
	}

	if t.Category != edited.Category {
		t.Previous = t.Category
	}
	t.Components, t.Category = edited.Components, edited.Category
	if in.has("message_send_ttl_seconds") {
		t.TTL = edited.TTL
	}
	return nil
}

// unpauseTemplate handles POST /{template_id}/unpause.
func (s *Server) unpauseTemplate(c *call) (any, error) {
	t, err := s.templateOf(c)
	if err != nil {
		return nil, err
	}

	if t.Status != statusPaused {
		return nil, templateError(2388039, "Message template status can't be changed", "Only a paused template can be unpaused.")
	}
	s.review(t, statusApproved, "")
	return object{"success": true}, nil
}

// deleteTemplates handles DELETE /{waba_id}/message_templates: every language
// of a name, one id of it, or a list of ids.
func (s *Server) deleteTemplates(c *call) (any, error) {
	name, ids := c.params.text("name"), c.params.list("hsm_ids")
	single := c.params.text("hsm_id")

	switch {
	case ids != nil && (name != "" || single != ""):
		return nil, badParameter("Param hsm_ids cannot be combined with name or hsm_id.")
	case len(ids) > maxDeletions:
		return nil, badParameter("Param hsm_ids must have at most %d ids.", maxDeletions)
	case name == "" && len(ids) == 0:
		return nil, requiredParameter("name")
	}

	var toDelete []*template
	for _, t := range s.world.templatesOf(c.id) {
		listed := slices.ContainsFunc(ids, func(id any) bool { return fmt.Sprint(id) == t.ID })
		if listed || name != "" && t.Name == name && (single == "" || single == t.ID) {
			toDelete = append(toDelete, t)
		}
	}

	switch {
	case len(toDelete) == 0:
		return nil, templateError(2593002, "Message Template Not Found", "Message template wasn't found.")
	case slices.ContainsFunc(toDelete, func(t *template) bool { return t.Status == statusDisabled }):
		return nil, malformed("A disabled template cannot be deleted.")
	}

	for _, t := range toDelete {
		if t.Status == statusApproved { // its name stays blocked
			s.world.Deleted[deletedKey(t)] = s.now().Add(templateBlocked).UnixMilli()
		}
		s.review(t, "DELETED", "")
		delete(s.world.Templates, t.ID)
	}
	return object{"success": true}, nil
}
