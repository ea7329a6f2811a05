package jobs

import (
	"encoding/json"
	"math"

	"confab/jobs/rules"
	"confab/storage"
)

// RuleTrace is what a rule did because of a message, or why it did nothing.
type RuleTrace struct {
	ID      string          `json:"id"`
	Name    *string         `json:"name"` // nil for one that was deleted
	Fired   bool            `json:"fired"`
	Unmet   *string         `json:"unmet"`   // the condition that does not hold, opt_out, once_per or stop; as of now
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

	done, stoppedAt := make(map[string]bool), math.MaxInt
	for _, f := range fired {
		one := RuleTrace{ID: f.RuleID, Fired: true, At: f.CreatedAt}
		r, err := rx.Rule(0, f.RuleID)
		if storage.IgnoreNotFound(err) != nil {
			return nil, err
		}
		if err == nil {
			one.Name = &r.Name
		}
		if r.Stop {
			stoppedAt = r.Position
		}
		if err := json.Unmarshal(f.Actions, &one.Actions); err != nil {
			return nil, err
		}
		all, done[f.RuleID] = append(all, one), true
	}
	if m.Direction != storage.Inbound || m.Type == "reaction" {
		return all, nil
	}

	for _, r := range n.Rules {
		if done[r.ID] {
			continue
		}
		unmet, err := unmetBy(rx, r, m, n)
		if err != nil {
			return nil, err
		}
		if unmet == "once_per" && r.Position > stoppedAt {
			unmet = "stop" // which an earlier one said
		}
		all = append(all, RuleTrace{ID: r.ID, Name: &r.Name, Unmet: &unmet, Actions: []ActionOutcome{}, At: m.CreatedAt})
	}
	return all, nil
}

// unmetBy is the condition because of which a rule did not fire.
func unmetBy(rx *storage.Rx, r storage.Rule, m storage.Message, n storage.NumberRules) (string, error) {
	if rules.Meaning(n.OptOut, rules.TextOf(m)) != "" {
		return "opt_out", nil
	}
	f, err := StoredFacts(rx, m, n.Hours)
	if err != nil {
		return "", err
	}
	unmet, err := rules.Unmet(rx, r, f)
	if unmet == "" {
		unmet = "once_per" // it fired before, or it is newer than the message
	}
	return unmet, err
}
