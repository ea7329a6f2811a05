package api

import (
	"slices"
	"strconv"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/storage"
)

// maxRules is how many rules an organization may have: each message asks all of them.
const maxRules = 100

// RuleView is the public shape of a rule, on the command line too.
type RuleView struct {
	Object string `json:"object"`
	storage.Rule
}

// ViewRule shows a rule.
func ViewRule(r storage.Rule) RuleView { return RuleView{"rule", r} }

// listRules handles GET /v1/rules: they are few, and in their order.
func (s *Server) listRules(r *rest.Request) (rest.Reply, error) {
	return rest.ListOf(s.Server, r, rest.Lister[storage.Rule, RuleView]{
		Scope: "rules",
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.Rule, storage.After, error) {
			all, err := rx.RulesOf(r.Org.ID)
			all = slices.DeleteFunc(all, func(rule storage.Rule) bool { return int64(rule.Position) <= rest.NumberOf(q.After) })
			return all[:min(len(all), q.Fetch())], storage.Last, err
		},
		Key: func(rule storage.Rule) storage.After {
			return storage.After{Key: storage.Time(rule.Position), ID: rule.ID}
		},
		View: ViewRule,
	})
}

var ruleIn = rest.OfOrganization(storage.PrefixRule, (*storage.Rx).Rule)

// createRule handles POST /v1/rules.
func (s *Server) createRule(r *rest.Request, in newRule) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		rule := storage.Rule{OrganizationID: r.Org.ID}
		in.applyTo(&rule)
		if err := checkRuleReferences(&tx.Rx, &rule, s.plainHTTP()); err != nil {
			return rest.Reply{}, err
		}

		all, err := tx.RulesOf(r.Org.ID)
		if err == nil && len(all) >= maxRules {
			err = rest.Fail(rest.QuotaExceeded, "An organization can have at most "+strconv.Itoa(maxRules)+" rules: delete one first.")
		}
		if err != nil {
			return rest.Reply{}, err
		}
		err = tx.InsertRule(&rule)
		return rest.Created(ViewRule(rule)), err
	})
}

// updateRule handles PATCH /v1/rules/:id. A rule that is enabled again needs all that it names.
func (s *Server) updateRule(r *rest.Request, in ruleChanges) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, ruleIn, func(tx *storage.Tx, rule storage.Rule) (rest.Reply, error) {
		if err := in.applyTo(&rule); err != nil {
			return rest.Reply{}, err
		}
		if in.Enabled.Value || in.If.Set || in.Then.Set {
			if err := checkRuleReferences(&tx.Rx, &rule, s.plainHTTP()); err != nil {
				return rest.Reply{}, err
			}
		}
		err := tx.UpdateRule(&rule)
		return rest.OK(ViewRule(rule)), err
	})
}

// SwitchRule enables or disables a rule, for the command line.
func SwitchRule(tx *storage.Tx, rule storage.Rule, enabled bool) error {
	rule.Enabled, rule.DisabledReason = enabled, nil
	if enabled {
		if err := checkRuleReferences(&tx.Rx, &rule, content.AnyHTTP); err != nil {
			return err
		}
	}
	return tx.UpdateRule(&rule)
}

// deleteRule handles DELETE /v1/rules/:id.
func (s *Server) deleteRule(r *rest.Request) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, ruleIn, func(tx *storage.Tx, rule storage.Rule) (rest.Reply, error) {
		return rest.Deleted("rule", rule.ID), tx.DeleteRule(rule)
	})
}

// ruleOrder is the body of POST /v1/rules/reorder.
type ruleOrder struct {
	IDs []string `json:"ids"`
}

func (o *ruleOrder) Validate() error {
	if o.IDs == nil {
		return rest.Missing("ids")
	}
	return nil
}

// reorderRules handles POST /v1/rules/reorder, which takes every rule once.
func (s *Server) reorderRules(r *rest.Request, in ruleOrder) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		all, err := tx.RulesOf(r.Org.ID)
		if err != nil {
			return rest.Reply{}, err
		}

		seen := make(map[string]bool)
		for i, id := range in.IDs {
			known := slices.ContainsFunc(all, func(rule storage.Rule) bool { return rule.ID == id })
			if !known || seen[id] {
				return rest.Reply{}, rest.Invalid(rest.ItemPath("ids", i), "must be a rule of this organization, each once")
			}
			seen[id] = true
		}
		if len(seen) != len(all) {
			return rest.Reply{}, rest.Invalid("ids", "must have every rule of this organization")
		}

		if err := tx.ReorderRules(r.Org.ID, in.IDs); err != nil {
			return rest.Reply{}, err
		}
		if all, err = tx.RulesOf(r.Org.ID); err != nil {
			return rest.Reply{}, err
		}
		return rest.WholeList(all, ViewRule)
	})
}

type firingView struct {
	Object string `json:"object"`
	storage.Firing
}

// listFirings handles GET /v1/rules/:id/firings.
func (s *Server) listFirings(r *rest.Request) (rest.Reply, error) {
	return rest.ListOf(s.Server, r, rest.Lister[storage.Firing, firingView]{
		Scope: "firings " + r.Param("id"),
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.Firing, storage.After, error) {
			return rx.Within(q.Budget).Firings(r.Param("id"), q.After, q.Fetch())
		},
		Key:  func(f storage.Firing) storage.After { return storage.After{ID: f.ID} },
		View: func(f storage.Firing) firingView { return firingView{"rule_firing", f} },
	})
}
