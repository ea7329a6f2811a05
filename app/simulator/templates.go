package simulator

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The states of a template.
const (
	statusApproved = "APPROVED"
	statusPending  = "PENDING"
	statusRejected = "REJECTED"
	statusPaused   = "PAUSED"
	statusDisabled = "DISABLED"
)

const (
	categoryMarketing      = "MARKETING"
	categoryUtility        = "UTILITY"
	categoryAuthentication = "AUTHENTICATION"

	formatNamed      = "NAMED"
	formatPositional = "POSITIONAL"
)

// template is a message template in one language.
type template struct {
	ID         string   `json:"id"`
	Order      int64    `json:"order"`
	Account    string   `json:"account"`
	Name       string   `json:"name"`
	Language   string   `json:"language"`
	Category   string   `json:"category"`
	Previous   string   `json:"previous,omitempty"`
	Format     string   `json:"format"`
	Status     string   `json:"status"`
	Reason     string   `json:"reason"`
	Components []object `json:"components"`
	TTL        int64    `json:"ttl,omitempty"`
	Updated    int64    `json:"updated"`
	Edits      []int64  `json:"edits,omitempty"` // of the last 30 days
	Pauses     int      `json:"pauses,omitempty"`
}

func (w *world) findTemplate(account, name, language string) *template {
	for _, t := range w.Templates {
		if t.Account == account && t.Name == name && sameLanguage(t.Language, language) {
			return t
		}
	}
	return nil
}

// sameLanguage treats en-US and en_US as the same language.
func sameLanguage(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "-", "_"), strings.ReplaceAll(b, "-", "_"))
}

// templatesOf lists the templates of an account, or of all, in the order of creation.
func (w *world) templatesOf(account string) []*template {
	all := inOrder(w.Templates, func(t *template) int64 { return t.Order })
	return slices.DeleteFunc(all, func(t *template) bool { return account != "" && t.Account != account })
}

// node shows the fields of a template that a call names.
func (t *template) node(c *call) object {
	canSend := "BLOCKED"
	if t.Status == statusApproved {
		canSend = "AVAILABLE"
	}

	node := object{
		"id": t.ID, "name": t.Name, "language": t.Language, "status": t.Status, "category": t.Category,
		"parameter_format": t.Format, "components": shownComponents(t.ID, t.Components),
		"rejected_reason": t.Reason, "quality_score": object{"score": "UNKNOWN", "date": t.Updated / 1000},
		"last_updated_time": time.UnixMilli(t.Updated).UTC().Format("2006-01-02T15:04:05+0000"),
		"health_status":     object{"can_send_message": canSend, "entities": []object{}},
	}

	if t.TTL != 0 {
		node["message_send_ttl_seconds"] = t.TTL
	}
	node.put("previous_category", t.Previous)
	return project(node, c, "name", "parameter_format", "components", "language", "status", "category")
}

// shownComponents replaces upload handles with the URLs of what was uploaded, in cards too.
func shownComponents(id string, components []object) []object {
	return viewsOf(components, func(comp object) object {
		comp = maps.Clone(comp)
		if comp.child("example").has("header_handle") {
			comp["example"] = object{"header_handle": []string{"https://scontent.whatsapp.net/v/t61.29466-34/" + id + "_n"}}
		}
		if comp.has("cards") {
			comp["cards"] = viewsOf(comp.objects("cards"), func(card object) object {
				return object{"components": shownComponents(id, card.objects("components"))}
			})
		}
		return comp
	})
}

// listTemplates handles GET /{waba_id}/message_templates.
func (s *Server) listTemplates(c *call) (any, error) {
	found := slices.DeleteFunc(s.world.templatesOf(c.id), func(t *template) bool { return !t.matches(c.params) })
	return c.page(viewsOf(found, func(t *template) object { return t.node(c) }))
}

func (t *template) matches(q object) bool {
	content := strings.ToLower(t.Name)
	for _, comp := range t.Components {
		if comp.text("type") == "BODY" {
			content += " " + strings.ToLower(comp.text("text"))
		}
	}

	switch {
	case q.text("name") != "" && !strings.Contains(t.Name, q.text("name")):
	case q.text("name_or_content") != "" && !strings.Contains(content, strings.ToLower(q.text("name_or_content"))):
	case !oneOf(q, "status", t.Status), !oneOf(q, "category", t.Category):
	case !oneOf(q, "quality_score", "UNKNOWN"):
	case q.text("language") != "" && !sameLanguage(q.text("language"), t.Language):
	default:
		return true
	}
	return false
}

// oneOf reports whether a filter, one value or a list of them, matches a value.
func oneOf(q object, key, value string) bool {
	wanted := q.words(key)
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(v string) bool { return strings.EqualFold(v, value) })
}

// getTemplate handles GET /{template_id}, and GET /{waba_id}/message_templates/{template_id},
// which is how some clients read one.
func (s *Server) getTemplate(c *call) (any, error) {
	t, err := s.templateOf(c)
	if err != nil {
		return nil, err
	}
	return t.node(c), nil
}

// templateOf finds the object of a call, which may have just been deleted.
func (s *Server) templateOf(c *call) (*template, error) {
	id := firstOf(c.member, c.id)
	t := s.world.Templates[id]
	if t == nil || t.Account != c.account {
		return nil, noObject(c.r.Method, id)
	}
	return t, nil
}

const (
	createsPerHour  = 100
	maxTemplates    = 6000
	callsExceeded   = 80008
	templateBlocked = 30 * 24 * time.Hour
)

// createTemplate handles POST /{waba_id}/message_templates.
func (s *Server) createTemplate(c *call) (any, error) {
	t, err := readTemplate(c.params)
	if err != nil {
		return nil, err
	}

	t.Account = c.id
	if err := s.checkNewTemplate(t); err != nil {
		return nil, err
	}

	s.insertTemplate(t)
	s.scheduleReview(t)
	return object{"id": t.ID, "status": t.Status, "category": t.Category}, nil
}

func (s *Server) insertTemplate(t *template) {
	t.ID, t.Order, t.Updated = newID(), s.world.order(), s.nowMS()
	s.world.Templates[t.ID] = t
	s.markDirty()
}

// scheduleReview schedules the verdict on a template, if there is to be one.
func (s *Server) scheduleReview(t *template) {
	if s.world.Settings.TemplateVerdict != statusPending {
		s.scheduleEvent(&event{Due: t.Updated + s.world.Settings.TemplateReviewMS, Template: t.ID})
	}
}

// checkNewTemplate applies the rules that depend on the account's other templates.
func (s *Server) checkNewTemplate(t *template) error {
	now := s.nowMS()
	a := s.world.Accounts[t.Account]
	a.Created = recent(a.Created, now, time.Hour)
	others := s.world.templatesOf(t.Account)

	switch {
	case len(a.Created) >= createsPerHour:
		return refuse(callsExceeded)
	case len(others) >= maxTemplates:
		return templateError(2388019, "Message template limit exceeded", "This account has as many message templates as it may have.")
	case s.world.findTemplate(t.Account, t.Name, t.Language) != nil:
		return templateError(2388024, "Content in This Language Already Exists",
			"There is already %s content for this template. You can create a new template and try again.", t.Language)
	case s.world.Deleted[deletedKey(t)] > now:
		return templateError(2388023, "Message template language is being deleted",
			"New %[1]s content can't be added while the existing %[1]s content is being deleted. "+
				"Try again in 4 weeks or consider creating a new message template.", t.Language)
	}

	// All languages of a name have the same category.
	for _, other := range others {
		if other.Name == t.Name && other.Category != t.Category {
			return malformed("The category %s doesn't match the one already associated with this template, %s", t.Category, other.Category)
		}
	}

	a.Created = append(a.Created, now)
	return nil
}

func deletedKey(t *template) string { return t.Account + "/" + t.Name + "/" + t.Language }

func recent(times []int64, now int64, span time.Duration) []int64 {
	return slices.DeleteFunc(times, func(at int64) bool { return now-at >= span.Milliseconds() })
}

// pauses are how long a template is paused, the first time and the second. The third time it
// is disabled instead.
var pauses = []time.Duration{3 * time.Hour, 6 * time.Hour}

// review sets the status of a template and queues the callback about it.
func (s *Server) review(t *template, status, reason string) {
	if status == statusPaused && t.Pauses >= len(pauses) {
		status = statusDisabled
	}
	wasPaused := t.Status == statusPaused
	t.Status, t.Updated = status, s.nowMS()
	t.Reason = firstOf(reason, "NONE")
	if status == statusRejected && reason == "" {
		t.Reason = "INVALID_FORMAT"
	}

	value := object{
		"event": status, "message_template_id": json.Number(t.ID), "message_template_name": t.Name,
		"message_template_language": t.Language, "reason": t.Reason, "message_template_category": t.Category,
	}

	switch status {
	case statusPaused:
		title := []string{"FIRST_PAUSE", "SECOND_PAUSE"}[t.Pauses]
		value["other_info"] = object{"title": title, "description": "The template was paused because of its quality."}
		ends := t.Updated + pauses[t.Pauses].Milliseconds()
		t.Pauses++
		s.scheduleEvent(&event{Due: ends, Template: t.ID, Pause: t.Pauses})
	case statusApproved:
		if wasPaused {
			value["other_info"] = object{"title": "UNPAUSE", "description": "The template is no longer paused."}
		}
	case statusDisabled:
		value["disable_info"] = object{"disable_date": time.UnixMilli(t.Updated).UTC().Format(time.DateOnly)}
	case statusRejected:
		value["rejection_info"] = object{"reason": t.Reason, "recommendation": "Change the template and submit it again."}
	case "DELETED":
		value["reason"] = nil
	}

	s.queueAccountUpdate(t.Account, fieldTemplateStatus, value)
	s.publish("template", func() any { return t.view() })
	s.notify(func() Activity { return Activity{Arrow: "·", Who: "template", What: t.Name + " " + status} })
}

// Template is a message template to add, with the provider's own names.
type Template struct {
	Name, Language, Category string
	ParameterFormat          string // NAMED or POSITIONAL, which is the default
	Components               []map[string]any
}

// AddTemplate adds a template to an account without a review and returns its
// id. One that exists is left unchanged.
func (s *Server) AddTemplate(wabaID string, in Template) (id string, err error) {
	t, err := readTemplate(object{
		"name": in.Name, "language": in.Language, "category": in.Category,
		"parameter_format": in.ParameterFormat, "components": throughJSON[[]any](in.Components),
	})
	if err != nil {
		return "", fmt.Errorf("template %s: %w", in.Name, err)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.world.Accounts[wabaID] == nil {
		return "", fmt.Errorf("template %s: there is no account %s", in.Name, wabaID)
	}
	if there := s.world.findTemplate(wabaID, in.Name, in.Language); there != nil {
		return there.ID, nil
	}

	t.Account, t.Status = wabaID, statusApproved
	s.insertTemplate(t)
	return t.ID, nil
}
