// Package rules knows when a rule matches: what hours, words and the other conditions mean. It
// stores nothing and does nothing: package jobs fires rules, and the API tries them out.
package rules

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"confab/storage"
)

// Facts are what the conditions of a rule are held against, which is one for the message's number.
type Facts struct {
	On           []string // what happened
	Text         string   // what the message says, folded
	Open         bool     // the number, when the message came
	FirstContact bool
	Conversation storage.Conversation
}

// NewFacts are what a message shows that came, or mattered, at a time.
func NewFacts(m storage.Message, h *storage.Hours, at time.Time) Facts {
	return Facts{Text: Fold(TextOf(m)), Open: Open(h, at)}
}

// TextOf is a message's text or caption, or what the chosen button or row says.
func TextOf(m storage.Message) string {
	var chosen struct {
		Body, Caption, Text string
		Button              struct{ Title string } `json:"button_reply"`
		Row                 struct{ Title string } `json:"list_reply"`
	}
	if m.Body == nil && json.Unmarshal(m.Content, &chosen) == nil {
		return cmp.Or(chosen.Body, chosen.Caption, chosen.Text, chosen.Button.Title, chosen.Row.Title)
	}
	return storage.OrEmpty(m.Body)
}

// UnmetByMessage is the first condition of a rule that does not hold by the message itself, what it says
// and when it came, under its name in the API; "" if all of those hold.
func UnmetByMessage(r storage.Rule, f Facts) string {
	switch c := r.If; {
	case !slices.Contains(f.On, r.On):
		return "on"
	case c.Text != nil && !says(f.Text, *c.Text):
		return "text"
	case c.Hours != nil && (*c.Hours == "open") != f.Open:
		return "hours"
	case c.FirstContact != nil && *c.FirstContact != f.FirstContact:
		return "first_contact"
	}
	return ""
}

// Unmet is the first condition of a rule that does not hold, by its name in the API; "" for none.
func Unmet(rx *storage.Rx, r storage.Rule, f Facts) (string, error) {
	if unmet := UnmetByMessage(r, f); unmet != "" {
		return unmet, nil
	}

	c, v := r.If, f.Conversation
	if c.Assigned != nil && *c.Assigned != (v.AssigneeID != nil) {
		return "assigned", nil
	}
	if c.Holder != nil {
		if h, err := rx.HolderOf(v.ID); err != nil || h.Type != *c.Holder { // who was silent for too long holds nothing
			return "holder", err
		}
	}
	if c.LabelID == nil {
		return "", nil
	}

	labels, err := rx.ConversationLabels(v.ID)
	if err != nil || !slices.ContainsFunc(labels[v.ID], func(l storage.AttachedLabel) bool { return l.ID == *c.LabelID }) {
		return "label_id", err
	}
	return "", nil
}

// KindsOf lists what an action does, as the API calls it: one thing, if it is valid.
func KindsOf(a storage.RuleAction) (all []string) {
	for _, one := range []struct {
		kind  string
		given bool
	}{
		{"reply", a.Reply != nil}, {"add_label", a.AddLabel != nil}, {"remove_label", a.RemoveLabel != nil}, {"assign", a.Assign != nil},
		{"resolve", a.Resolve != nil}, {"note", a.Note != nil}, {"hand_over", a.HandOver != nil},
	} {
		if one.given {
			all = append(all, one.kind)
		}
	}
	return all
}

// Day names the day of a time in the zone of a number's hours.
func Day(h *storage.Hours, at time.Time) string { return at.In(h.Zone()).Format(dateForm) }
