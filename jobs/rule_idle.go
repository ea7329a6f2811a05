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
	// idleAtOnce is in how many conversations of a number an idle rule fires in one run.
	idleAtOnce = 500
)

// askIdleRules fires the rules of conversations in which nothing was said for long, ends what is
// held no longer, and disables rules whose numbers are gone. Each is a transaction of its own,
// so that a run that is cut off goes on with the rest.
func (w *Workers) askIdleRules(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	for more := true; more; {
		err := w.DB.Update(ctx, func(tx *storage.Tx) (err error) {
			more, err = messaging.ReleaseHolders(tx)
			return err
		})
		if err != nil {
			return nil, err
		}
	}

	all, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) ([]storage.Rule, error) { return rx.RulesOf(0) })
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

// askIdleRule asks a rule at each of its numbers.
func (w *Workers) askIdleRule(ctx context.Context, r storage.Rule) error {
	accounts, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) ([]storage.Account, error) { return rx.NumbersOf(r) })
	switch {
	case err != nil:
		return err
	case len(accounts) == 0 && len(r.If.PhoneNumberIDs) > 0:
		return w.DB.Update(ctx, func(tx *storage.Tx) error { return disableRule(tx, r, reasonNumberGone) })
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
	now := w.DB.Now()
	var found []storage.IdleConversation
	run := ruleRun{w: w, on: []string{storage.OnConversationIdle}}
	err := w.DB.View(ctx, func(rx *storage.Rx) error {
		n, err := rx.NumberRules(account)
		if err != nil {
			return err
		}
		hours, err := rules.ParseHours(n.Hours)
		if err != nil {
			return err
		}

		run.open, run.day = hours.Open(now.Std()), rules.Day(hours, now.Std())
		if r.If.Hours != nil && (*r.If.Hours == "open") != run.open {
			return nil
		}
		local := now.Std().In(hours.Location())
		today := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, hours.Location())
		idle := time.Duration(*r.If.IdleMinutes) * time.Minute
		found, err = rx.IdleConversations(account, r, now.Add(-idle), storage.Time(today.UnixMilli()), idleAtOnce)
		return err
	})
	if err != nil {
		return storage.IgnoreNotFound(err)
	}

	for _, one := range found {
		if err := w.DB.Update(ctx, func(tx *storage.Tx) error { return run.askIdle(tx, account, r, one) }); err != nil {
			return err
		}
	}
	return nil
}

// askIdle asks a rule in one conversation, if nothing has happened there meanwhile.
func (run ruleRun) askIdle(tx *storage.Tx, account int64, r storage.Rule, found storage.IdleConversation) error {
	if idle, err := tx.IsIdleSince(found); err != nil || !idle {
		return err
	}
	err := run.load(tx, account, found.MessageID)
	if err != nil {
		return storage.IgnoreNotFound(err)
	}

	if _, run.first, err = tx.BeganSpell(run.message); err == nil {
		_, err = run.ask(tx, r)
	}
	return err
}
