package api

import (
	"cmp"
	"context"
	"time"

	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/rules"
	"confab/storage"
)

const (
	// MaxDryRun is how far back a rule can be tried.
	MaxDryRun = 30 * 24 * time.Hour
	// dryRunTime is how long that may take, as a search may.
	dryRunTime  = 2 * time.Second
	dryRunPage  = 200
	maxExamples = 20
)

// DryRunView is what a rule would have done, on the command line too.
type DryRunView struct {
	Object    string          `json:"object"`
	Examined  int             `json:"examined"`
	Matched   int             `json:"matched"`
	Examples  []dryRunExample `json:"examples"`
	Truncated bool            `json:"truncated"` // its time was up before all messages were read
}

type dryRunExample struct {
	MessageID      string         `json:"message_id"`
	ConversationID string         `json:"conversation_id"`
	Actions        []dryRunAction `json:"actions"`
}

type dryRunAction struct {
	Action string `json:"action"`
}

// dryRunSince is the body of POST /v1/rules/:id/dry_run.
type dryRunSince struct {
	rest.Timed
	Since *string `json:"since"`

	since storage.Time
}

func (b *dryRunSince) Validate() error {
	if b.Since == nil {
		return rest.Missing("since")
	}

	at, err := time.Parse(time.RFC3339, *b.Since)
	if ago := -b.Until(at); err != nil || ago < 0 || ago > MaxDryRun+time.Minute {
		return rest.Invalid("since", "must be a time within the last 30 days, such as 2026-01-02T03:04:05Z")
	}
	b.since = storage.Time(at.UnixMilli())
	return nil
}

// dryRunBody is the body of POST /v1/rules/dry_run: a rule that is not stored.
type dryRunBody struct {
	dryRunSince
	Rule *newRule `json:"rule"`
}

func (b *dryRunBody) Validate() error {
	return cmp.Or(rest.Object("rule", b.Rule, (*newRule).Validate), b.dryRunSince.Validate())
}

// dryRun handles POST /v1/rules/dry_run.
func (s *Server) dryRun(r *rest.Request, in dryRunBody) (rest.Reply, error) {
	rule := storage.Rule{OrganizationID: r.Org.ID}
	in.Rule.applyTo(&rule)
	err := s.View(r, func(rx *storage.Rx) error {
		return rest.Within("rule", checkRuleReferences(rx, &rule, s.plainHTTP()))
	})
	if err != nil {
		return rest.Reply{}, err
	}
	view, err := DryRun(r.HTTP.Context(), s.DB, rule, in.since)
	return rest.OK(view), err
}

// dryRunStored handles POST /v1/rules/:id/dry_run.
func (s *Server) dryRunStored(r *rest.Request, in dryRunSince) (rest.Reply, error) {
	rule, err := rest.Find(s.Server, r, ruleIn)
	if err != nil {
		return rest.Reply{}, err
	}
	view, err := DryRun(r.HTTP.Context(), s.DB, rule, in.since)
	return rest.OK(view), err
}

// DryRun tries a rule on the messages since a time, newest first, and changes nothing. Labels,
// assignees and holders are those of now.
func DryRun(ctx context.Context, db *storage.DB, rule storage.Rule, since storage.Time) (DryRunView, error) {
	run := dryRun{rule: rule, since: since, until: time.Now().Add(dryRunTime)}
	run.view = DryRunView{Object: "rule_dry_run", Examples: []dryRunExample{}}
	for _, a := range rule.Then {
		run.actions = append(run.actions, dryRunAction{rules.KindsOf(*a)[0]})
	}

	accounts, err := storage.Query(ctx, db, func(rx *storage.Rx) ([]storage.Account, error) { return rx.NumbersOf(rule) })
	for _, a := range accounts {
		if err == nil {
			err = run.number(ctx, db, a.ID)
		}
	}
	return run.view, err
}

type dryRun struct {
	rule    storage.Rule
	since   storage.Time
	until   time.Time
	actions []dryRunAction
	view    DryRunView
}

// number tries the rule on the messages of a number, in pages: no snapshot is held for long.
func (d *dryRun) number(ctx context.Context, db *storage.DB, account int64) error {
	f := storage.MessageFilter{Direction: storage.Inbound, CreatedAfter: d.since - 1}
	if d.rule.On == storage.OnConversationIdle {
		f.Direction = ""
	}

	for after := storage.First; ; {
		var page []storage.Message
		budget := storage.NewBudget(rest.MaxPage)
		err := db.List(ctx, d.rule.OrganizationID, func(rx *storage.Rx) (err error) {
			if page, _, err = rx.Within(budget).Messages(account, f, after, dryRunPage); err != nil {
				return err
			}
			n, err := rx.NumberRules(account)
			if err != nil {
				return err
			}
			return d.messages(rx, n, page)
		})
		if err != nil || len(page) < dryRunPage && !budget.Cut() || d.view.Truncated {
			return err
		}
		after = f.Key(page[len(page)-1])
	}
}

func (d *dryRun) messages(rx *storage.Rx, n storage.NumberRules, page []storage.Message) error {
	for _, m := range page {
		if d.view.Truncated = time.Now().After(d.until); d.view.Truncated {
			return nil
		}
		isWord := m.Direction == storage.Inbound && rules.Meaning(n.OptOut, rules.TextOf(m)) != ""
		if m.Type == "reaction" || isWord && d.rule.On != storage.OnConversationIdle || m.Source == storage.SourceRule {
			continue
		}

		d.view.Examined++
		matches, err := d.matches(rx, m, n.Hours)
		if err != nil {
			return err
		}
		if !matches {
			continue
		}
		d.view.Matched++
		if len(d.view.Examples) < maxExamples {
			d.view.Examples = append(d.view.Examples, dryRunExample{m.ID, m.ConversationID, d.actions})
		}
	}
	return nil
}

// matches reports whether the rule would have matched a message, or the silence after it.
func (d *dryRun) matches(rx *storage.Rx, m storage.Message, h *storage.Hours) (bool, error) {
	f, err := jobs.StoredFacts(rx, m, h)
	if err != nil {
		return false, err
	}

	if d.rule.On == storage.OnConversationIdle {
		idle := time.Duration(*d.rule.If.IdleMinutes) * time.Minute
		silence, err := rx.SilenceAfter(m)
		if err != nil || time.Duration(silence)*time.Millisecond < idle {
			return false, err
		}
		f.On, f.Open = []string{d.rule.On}, rules.Open(h, m.CreatedAt.Std().Add(idle))
	}
	unmet, err := rules.Unmet(rx, d.rule, f)
	return unmet == "", err
}
