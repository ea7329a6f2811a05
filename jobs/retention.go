package jobs

import (
	"context"
	"errors"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

const (
	kindRetention  = "retention"
	retentionEvery = time.Hour
	// retentionLease is enough for tens of millions of rows; the next run deletes the rest.
	retentionLease = 12 * time.Hour

	// keptPages is how many empty pages stay in the file for new rows.
	keptPages = 256
)

// Retention is how many days each sort of data is kept; 0 means for ever.
type Retention struct {
	Plans  map[string]int // messages and their media, by plan
	Events int            // events and deliveries
	Calls  int            // the API log and raw callbacks
	Audit  int            // the audit log
}

func daysBefore(now storage.Time, n int) storage.Time {
	return now.Add(-time.Duration(n) * 24 * time.Hour)
}

// applyRetention deletes what is older than the settings allow, and shrinks the
// file. A failure does not keep the other sorts of data from being deleted.
func (w *Workers) applyRetention(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	now, err := w.clock.now(ctx)
	if err != nil {
		return nil, ignoreClock(err)
	}

	orgs, err := storage.Query(ctx, w.DB, (*storage.Rx).Organizations)
	if err != nil {
		return nil, err
	}

	// Nothing is deleted for a plan that the settings do not have.
	p := w.newPurge(nil)
	for _, o := range orgs {
		if keep := w.Retention.Plans[o.Plan]; keep > 0 {
			err = errors.Join(err, p.messages(ctx, storage.PurgeScope{Before: daysBefore(now, keep), Organization: o.ID}))
		}
	}

	if keep := w.Retention.Events; keep > 0 {
		old := storage.PurgeScope{Before: daysBefore(now, keep)}
		err = errors.Join(err, p.events(ctx, old, true), p.repeat(ctx, func(tx *storage.Tx, limit int) (int64, error) {
			return tx.DeleteOldDeliveryCounts(old.Before, limit)
		}))
	}
	if keep := w.Retention.Calls; keep > 0 {
		old := storage.PurgeScope{Before: daysBefore(now, keep)}
		err = errors.Join(err, p.oldRows(ctx, storage.APILog, old), p.oldRows(ctx, storage.RawCallbacks, old))
	}

	err = errors.Join(err, p.oldRows(ctx, storage.APILogBodies, storage.PurgeScope{Before: now.Add(-storage.KeptBodies)}))
	err = errors.Join(err, p.oldRows(ctx, storage.RuleFirings, storage.PurgeScope{Before: now.Add(-storage.FiringsKept)}))
	if keep := w.Retention.Audit; keep > 0 {
		err = errors.Join(err, p.oldRows(ctx, storage.AuditLog, storage.PurgeScope{Before: daysBefore(now, keep)}))
	}

	err = errors.Join(err, p.returnSpace(ctx))
	if n := p.purged; n.Total() > 0 {
		w.Log.Info("retention: deleted expired data",
			"messages", n.Messages, "media", n.Media, "events", n.Events, "deliveries", n.Deliveries,
			"calls", n.Calls, "raw_callbacks", n.RawCallbacks, "audit", n.Audit)
	}
	return nil, err
}

// Purge deletes what an administrator chose by age, and shrinks the file. Messages
// and deliveries that are still under way stay. report is called after each step
// with the counts so far. The error is ErrClock if the age cannot be known.
func (w *Workers) Purge(ctx context.Context, what storage.PurgeScope, report func(storage.PurgeCounts)) error {
	if _, err := w.clock.now(ctx); err != nil {
		return err
	}

	p := w.newPurge(report)
	if err := p.messages(ctx, what); err != nil {
		return err
	}
	if err := p.events(ctx, what, false); err != nil {
		return err
	}
	for _, table := range []storage.AgedTable{storage.APILog, storage.APILogBodies, storage.RawCallbacks, storage.AuditLog} {
		if err := p.oldRows(ctx, table, what); err != nil {
			return err
		}
	}

	return p.returnSpace(ctx)
}

// purge is one run of deleting by age, and what it has deleted so far.
type purge struct {
	*batchWriter
	w      *Workers
	purged storage.PurgeCounts
	unread map[string]storage.UnreadCount // what this step leaves unread, by conversation
	unused []string                       // files that lost their last row in this step
}

func (w *Workers) newPurge(report func(storage.PurgeCounts)) *purge {
	p := &purge{batchWriter: newBatchWriter(w.DB), w: w}
	p.afterStep = func() {
		// The files that the step left without a row: after it, so that they do not take the writer's time.
		// After a crash before that, sweepMedia finds them. A new row for the same content has stored its
		// file again: young files are left alone.
		for _, sum := range p.unused {
			w.removeFile(sum, time.Now().Add(-mediaGrace))
		}
		p.unused = nil
		if report != nil {
			report(p.purged)
		}
	}
	return p
}

// rows deletes rows, the oldest first. remove returns what went with them.
func (p *purge) rows(
	ctx context.Context, read func(rx *storage.Rx, after storage.Row, limit int) ([]storage.Row, error),
	remove func(*storage.Tx, []storage.Row) (storage.PurgeCounts, error),
) error {
	return walk(ctx, p.batchWriter, read, func(tx *storage.Tx, rows []storage.Row) error {
		n, err := remove(tx, rows)
		tx.AfterCommit(func() { p.purged.Add(n) })
		return err
	})
}

func (p *purge) messages(ctx context.Context, what storage.PurgeScope) error {
	accounts, err := storage.Query(ctx, p.db, func(rx *storage.Rx) ([]int64, error) { return rx.PurgedAccounts(what) })
	if err != nil {
		return err
	}

	for _, account := range accounts {
		read := func(rx *storage.Rx, after storage.Row, limit int) (rows []storage.Row, err error) {
			if rows, err = rx.OldMessages(account, what.Before, after, limit); err == nil {
				p.unread, err = rx.UnreadLeft(account, rows, true)
			}
			return rows, err
		}
		remove := func(tx *storage.Tx, rows []storage.Row) (storage.PurgeCounts, error) {
			return p.deleteMessages(tx, account, rows)
		}
		if err := p.rows(ctx, read, remove); err != nil {
			return err
		}
	}
	return errors.Join(p.oldRows(ctx, storage.ConversationChangeLog, what), p.oldRows(ctx, storage.NoteTable, what))
}

// deleteMessages deletes messages of an account with their media, and collects the files that
// no row uses any more.
func (p *purge) deleteMessages(tx *storage.Tx, account int64, rows []storage.Row) (n storage.PurgeCounts, err error) {
	var sums []string
	if n.Messages, n.Media, sums, err = tx.DeleteMessages(account, rows, p.unread); err != nil {
		return n, err
	}

	for _, sum := range sums {
		unused, err := p.w.markUnused(tx, sum)
		if err != nil {
			return n, err
		}
		if unused {
			tx.AfterCommit(func() { p.unused = append(p.unused, sum) })
		}
	}
	return n, nil
}

// events deletes events organization by organization: they lie in that order.
func (p *purge) events(ctx context.Context, what storage.PurgeScope, unfinished bool) error {
	organizations, err := []int64{what.Organization}, error(nil)
	if what.Organization == 0 {
		organizations, err = storage.Query(ctx, p.db, (*storage.Rx).OrganizationKeys)
	}
	if err != nil {
		return err
	}

	for _, organization := range organizations {
		organizations = append(organizations, -organization) // what native webhooks received
	}
	for _, what.Organization = range organizations {
		err := p.rows(ctx, func(rx *storage.Rx, after storage.Row, limit int) ([]storage.Row, error) {
			return rx.OldEvents(what, after, limit)
		}, func(tx *storage.Tx, rows []storage.Row) (n storage.PurgeCounts, err error) {
			n.Events, n.Deliveries, err = tx.DeleteEvents(what.Organization, rows, what.Before, unfinished)
			return n, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// oldRows deletes rows of a table that are old, in any state.
func (p *purge) oldRows(ctx context.Context, table storage.AgedTable, what storage.PurgeScope) error {
	return p.rows(ctx, func(rx *storage.Rx, after storage.Row, limit int) ([]storage.Row, error) {
		return rx.OldRows(table, what, after, limit)
	}, func(tx *storage.Tx, rows []storage.Row) (storage.PurgeCounts, error) {
		return tx.DeleteOldRows(table, rows)
	})
}

// returnSpace shrinks the file when much of it is empty.
func (p *purge) returnSpace(ctx context.Context) error {
	for {
		free, err := storage.Query(ctx, p.db, (*storage.Rx).FreePages)
		if err != nil || free <= keptPages {
			return err
		}

		if err := p.step(ctx, func(tx *storage.Tx) error { return tx.ReturnSpace(p.size) }); err != nil {
			return err
		}
	}
}
