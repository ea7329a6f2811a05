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
	// retentionLease is enough for tens of millions of rows; what is left then
	// goes in the next run.
	retentionLease = 12 * time.Hour

	// keptPages is what stays of the file's empty space for the rows to come.
	keptPages = 256
)

// Retention is how many days each sort of data is kept. 0 is for ever.
type Retention struct {
	Plans  map[string]int // messages and their media, by plan
	Events int            // events and deliveries
	Calls  int            // the API log and raw callbacks
}

// days is so many days before a time.
func days(now storage.Time, n int) storage.Time { return now.Add(-time.Duration(n) * 24 * time.Hour) }

// retain deletes what has been kept long enough, and shrinks the file.
func (w *Workers) retain(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	var orgs []storage.Organization
	err := w.DB.View(ctx, func(rx *storage.Rx) (err error) {
		orgs, err = rx.Organizations()
		return err
	})
	if err != nil {
		return nil, err
	}
	now := storage.Now()
	p := &purge{gentle: newGentle(w.DB), w: w}
	for _, o := range orgs {
		// A plan that the settings do not have says nothing about deleting.
		if keep := w.Retention.Plans[o.Plan]; keep > 0 {
			err = errors.Join(err, p.messages(ctx, storage.Purge{Before: days(now, keep), Organization: o.ID}))
		}
	}
	if keep := w.Retention.Events; keep > 0 {
		err = errors.Join(err, p.events(ctx, storage.Purge{Before: days(now, keep)}, true))
	}
	if keep := w.Retention.Calls; keep > 0 {
		old := storage.Purge{Before: days(now, keep)}
		err = errors.Join(err, p.calls(ctx, old), p.rawCallbacks(ctx, old))
	}
	err = errors.Join(err, p.returnSpace(ctx))
	if n := p.purged; n.Total() > 0 {
		w.Log.Info("deleted what was kept long enough", "messages", n.Messages, "media", n.Media, "events", n.Events, "deliveries", n.Deliveries,
			"calls", n.Calls, "raw_callbacks", n.RawCallbacks)
	}
	return nil, err
}

// Purge deletes what is older than an administrator wants it, and shrinks the
// file. What is still under way, messages and deliveries, stays. report hears
// of the counts so far after each step.
func (w *Workers) Purge(ctx context.Context, what storage.Purge, report func(storage.Purged)) error {
	p := &purge{gentle: newGentle(w.DB), w: w, report: report}
	for _, part := range []func(context.Context, storage.Purge) error{
		p.messages,
		func(ctx context.Context, what storage.Purge) error { return p.events(ctx, what, false) },
		p.calls,
		p.rawCallbacks,
	} {
		if err := part(ctx, what); err != nil {
			return err
		}
	}
	return p.returnSpace(ctx)
}

// purge is one run of deleting, and what it has deleted so far.
type purge struct {
	*gentle
	w      *Workers
	purged storage.Purged
	unused []string             // files that lost their last row in this step
	report func(storage.Purged) // nil for nobody
}

// rows walks rows in the order of their age, deletes them and tells how far it
// is. Files go after the step: they must not take the writer's time.
func (p *purge) rows(ctx context.Context, read func(*storage.Rx, storage.Row, int) ([]storage.Row, error), delete func(*storage.Tx, []storage.Row) (storage.Purged, error)) error {
	return p.walk(ctx, read, func(rows []storage.Row) error {
		err := p.step(ctx, func(tx *storage.Tx) error {
			n, err := delete(tx, rows)
			tx.AfterCommit(func() { p.purged.Add(n) })
			return err
		})
		p.removeFiles()
		if p.report != nil {
			p.report(p.purged)
		}
		return err
	})
}

// removeFiles removes what the last step left without a row. A crash before
// that leaves it to the sweep; a row that came since has put its file there
// anew, and a young file is left alone.
func (p *purge) removeFiles() {
	since := time.Now().Add(-mediaGrace)
	for _, sum := range p.unused {
		if err := p.w.Files.Remove(sum, since); err != nil {
			p.w.Log.Error("remove a file", "sha256", sum, "error", err)
		}
	}
	p.unused = nil
}

func (p *purge) messages(ctx context.Context, what storage.Purge) error {
	var accounts []int64
	err := p.db.View(ctx, func(rx *storage.Rx) (err error) {
		accounts, err = rx.PurgedAccounts(what)
		return err
	})
	for _, account := range accounts {
		if err != nil {
			return err
		}
		err = p.rows(ctx, func(rx *storage.Rx, after storage.Row, limit int) ([]storage.Row, error) {
			return rx.OldMessages(account, what.Before, after, limit)
		}, p.deleteMessages)
	}
	return err
}

// deleteMessages deletes messages with their media, and notes the files that are
// then nobody's.
func (p *purge) deleteMessages(tx *storage.Tx, rows []storage.Row) (n storage.Purged, err error) {
	var sums []string
	if n.Messages, n.Media, sums, err = tx.DeleteMessages(rows); err != nil {
		return n, err
	}
	for _, sum := range sums {
		used, err := tx.MediaUses(sum)
		if err != nil {
			return n, err
		}
		if !used {
			tx.AfterCommit(func() { p.unused = append(p.unused, sum) })
		}
	}
	return n, nil
}

func (p *purge) events(ctx context.Context, what storage.Purge, unfinished bool) error {
	return p.rows(ctx, func(rx *storage.Rx, after storage.Row, limit int) ([]storage.Row, error) {
		return rx.OldEvents(what, after, limit)
	}, func(tx *storage.Tx, rows []storage.Row) (n storage.Purged, err error) {
		n.Events, n.Deliveries, err = tx.DeleteEvents(rows, what.Before, unfinished)
		return n, err
	})
}

func (p *purge) calls(ctx context.Context, what storage.Purge) error {
	return p.rows(ctx, func(rx *storage.Rx, after storage.Row, limit int) ([]storage.Row, error) {
		return rx.OldCalls(what, after, limit)
	}, func(tx *storage.Tx, rows []storage.Row) (n storage.Purged, err error) {
		n.Calls, err = tx.DeleteCalls(rows)
		return n, err
	})
}

func (p *purge) rawCallbacks(ctx context.Context, what storage.Purge) error {
	return p.rows(ctx, func(rx *storage.Rx, after storage.Row, limit int) ([]storage.Row, error) {
		return rx.OldRawCallbacks(what, after, limit)
	}, func(tx *storage.Tx, rows []storage.Row) (n storage.Purged, err error) {
		n.RawCallbacks, err = tx.DeleteRawCallbacks(rows)
		return n, err
	})
}

// returnSpace shrinks the file when much of it is empty.
func (p *purge) returnSpace(ctx context.Context) error {
	for {
		var free int64
		err := p.db.View(ctx, func(rx *storage.Rx) (err error) {
			free, err = rx.FreePages()
			return err
		})
		if err != nil || free <= keptPages {
			return err
		}
		if err := p.step(ctx, func(tx *storage.Tx) error { return tx.ReturnSpace(p.size) }); err != nil {
			return err
		}
	}
}
