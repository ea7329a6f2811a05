package jobs

import (
	"encoding/json"

	"confab/jobs/rules"
	"confab/storage"
)

// RuleTrace is what a rule did because of a message, or why it did nothing.
type RuleTrace struct {
	ID      string          `json:"id"`
	Name    *string         `json:"name"` // nil for one that was deleted
	Fired   bool            `json:"fired"`
	Unmet   *string         `json:"unmet"`   // the condition that does not hold, or once_per; as of now
	Actions []ActionOutcome `json:"actions"` // of one that fired
	At      storage.Time    `json:"-"`
}

// TraceRules says what the rules of a number did because of a message of a person, and of those
// that did nothing why, by what is known now.
func TraceRules(rx *storage.Rx, m storage.Message) (all []RuleTrace, err error) {
	fired, err := rx.FiringsOfMessage(m.ID)
	if err != nil {
		return nil, err
	}
	n, err := rx.NumberRules(m.AccountID)
	if err != nil {
		return nil, storage.IgnoreNotFound(err)
	}

	names := make(map[string]*string)
	for _, r := range n.Rules {
		names[r.ID] = &r.Name
	}
	done := make(map[string]bool)
	for _, f := range fired {
		one := RuleTrace{ID: f.RuleID, Name: names[f.RuleID], Fired: true, At: f.CreatedAt}
		if err := json.Unmarshal(f.Actions, &one.Actions); err != nil {
			return nil, err
		}
		all, done[f.RuleID] = append(all, one), true
	}
	if m.Direction != storage.Inbound || m.Type == "reaction" {
		return all, nil
	}

	for _, r := range n.Rules {
		if done[r.ID] || r.On == storage.OnConversationIdle {
			continue
		}
		unmet, err := unmetBy(rx, r, m, n)
		if err != nil {
			return nil, err
		}
		all = append(all, RuleTrace{ID: r.ID, Name: &r.Name, Unmet: &unmet, Actions: []ActionOutcome{}, At: m.CreatedAt})
	}
	return all, nil
}

// unmetBy is the condition because of which a rule did not fire.
func unmetBy(rx *storage.Rx, r storage.Rule, m storage.Message, n storage.NumberRules) (string, error) {
	words, err := rules.ParseOptOut(n.OptOut)
	if err != nil || words.Meaning(rules.TextOf(m)) != "" {
		return "opt_out", err
	}
	hours, err := rules.ParseHours(n.Hours)
	if err != nil {
		return "", err
	}

	f, err := StoredFacts(rx, m, hours)
	if err != nil {
		return "", err
	}
	unmet, err := rules.Unmet(r, f)
	if unmet == "" {
		unmet = "once_per" // it fired before, an earlier one said stop, or it is newer than the message
	}
	return unmet, err
}
