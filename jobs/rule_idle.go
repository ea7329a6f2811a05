package jobs

import (
	"context"
	"time"

	"confab/jobs/messaging"
	"confab/jobs/queue"
	"confab/jobs/rules"
	"confab/storage"
)

const (
	kindIdleRules = "rules.idle"
	// idleRulesEvery is as long as the shortest wait of an idle rule: more often would keep the
	// disk of a server awake on which nothing happens.
	idleRulesEvery = 5 * time.Minute
	// idleAtOnce is of how many conversations of a number an idle rule reads at once, and in about how
	// many it fires in one run.
	idleAtOnce = 500
)

// askIdleRules fires the rules of conversations in which nothing was said for long, ends what is
// held no longer, and disables rules whose numbers are gone. Each is a transaction of its own,
// so that a run that is cut off goes on with the rest.
func (w *Workers) askIdleRules(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	err := w.repeatInSteps(ctx, messaging.ReleaseHolders)
	if err != nil {
		return nil, err
	}

	all, err := storage.Query(ctx, w.DB, (*storage.Rx).AllRules)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if !r.Enabled {
			continue
		}
		if err := w.askIdleRule(ctx, r); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// askIdleRule asks a rule at each of its numbers, or disables one that can never match.
func (w *Workers) askIdleRule(ctx context.Context, r storage.Rule) error {
	var accounts []storage.Account
	var gone string
	err := w.DB.View(ctx, func(rx *storage.Rx) (err error) {
		if accounts, err = rx.NumbersOf(r); err == nil {
			gone, err = goneCondition(rx, r, len(accounts))
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case gone != "":
		return w.DB.Update(ctx, func(tx *storage.Tx) error { return disableRule(tx, r, gone) })
	case r.On != storage.OnConversationIdle:
		return nil
	}

	for _, a := range accounts {
		if err := w.askIdleAt(ctx, r, a.ID); err != nil {
			return err
		}
	}
	return nil
}

// askIdleAt asks a rule in the idle conversations of a number.
func (w *Workers) askIdleAt(ctx context.Context, r storage.Rule, account int64) error {
	n, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.NumberRules, error) { return rx.NumberRules(account) })
	if err != nil {
		return storage.IgnoreNotFound(err)
	}

	for _, status := range []string{storage.ConversationOpen, storage.ConversationPending} {
		found, err := w.findIdle(ctx, r, n, storage.IdleConversation{AccountID: account, Status: status})
		if err != nil {
			return err
		}
		for _, one := range found {
			if err := w.DB.Update(ctx, func(tx *storage.Tx) error { return w.askIdle(tx, r, n, one) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// findIdle finds idle conversations of a number and a state in which a rule matches, as far as their
// last message shows, page by page.
func (w *Workers) findIdle(
	ctx context.Context, r storage.Rule, n storage.NumberRules, after storage.IdleConversation,
) (found []storage.IdleConversation, err error) {
	today := startOfDay(w.DB.Now(), n.Hours.Zone())
	before := w.DB.Now().Add(-silence(r))

	for more := true; more && len(found) < idleAtOnce; {
		err := w.DB.View(ctx, func(rx *storage.Rx) error {
			page, err := rx.IdleConversations(r, after, before, today, idleAtOnce)
			more = len(page) == idleAtOnce
			for _, after = range page {
				run, err := w.newIdleRun(rx, r, n, after)
				if storage.IgnoreNotFound(err) != nil {
					return err
				}
				if err == nil && rules.UnmetByMessage(r, run.facts) == "" {
					found = append(found, after)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func silence(r storage.Rule) time.Duration { return time.Duration(*r.If.IdleMinutes) * time.Minute }

func startOfDay(t storage.Time, zone *time.Location) storage.Time {
	year, month, day := t.Std().In(zone).Date()
	return storage.At(time.Date(year, month, day, 0, 0, 0, 0, zone))
}

// newIdleRun is the case of a conversation in which nothing was said for a while.
func (w *Workers) newIdleRun(rx *storage.Rx, r storage.Rule, n storage.NumberRules, found storage.IdleConversation) (*ruleRun, error) {
	m, err := rx.Message(found.AccountID, found.MessageID)
	if err != nil {
		return nil, err
	}
	_, first, err := rx.BeganSpell(m)

	run := newRuleRun(w, n, m, rulesArgs{At: w.DB.Now(), FirstContact: first, Since: found.Since})
	run.facts.On, run.due = []string{r.On}, max(m.CreatedAt.Add(silence(r)), r.UpdatedAt)
	if r.OncePer == storage.OncePerDay {
		run.due = max(run.due, startOfDay(w.DB.Now(), n.Hours.Zone()))
	}
	return run, err
}

// askIdle asks a rule in one conversation, if nothing has happened there meanwhile.
func (w *Workers) askIdle(tx *storage.Tx, r storage.Rule, n storage.NumberRules, found storage.IdleConversation) error {
	if idle, err := tx.IsIdleSince(found); err != nil || !idle {
		return err
	}
	run, err := w.newIdleRun(&tx.Rx, r, n, found)
	if err == nil {
		err = run.load(tx)
	}
	if err != nil {
		return storage.IgnoreNotFound(err)
	}
	_, err = run.ask(tx, r)
	return err
}
