package jobs

import (
	"context"
	"errors"
	"time"

	"confab/jobs/errorcode"
	"confab/jobs/messaging"
	"confab/jobs/queue"
	"confab/storage"
)

// A broadcast goes through three kinds of jobs, of which the first two are in the lane of the
// broadcast. Storage closes that while the broadcast is paused, so that both wait, retries
// too, and opens it when it is resumed or cancelled.
//
//   - broadcast.run is one job, from the making of the broadcast to its end. It stores the
//     audience of a label, waits for the time, and makes messages a second's worth ahead.
//     What it makes, and how far it came, commit together: so no one is left out and no one
//     gets two, even if a process is killed.
//   - broadcast.send is one job for each message, below direct sends: see broadcast_send.go.
//   - broadcast.resume resumes a broadcast that was paused by a cooldown.
//
// After a cancel the jobs that are left end their messages, and then themselves.
const (
	kindBroadcastRun    = "broadcast.run"
	kindBroadcastSend   = "broadcast.send"
	kindBroadcastResume = "broadcast.resume"
)

const (
	// unlimitedAhead is a second's worth of messages where there is no limit.
	unlimitedAhead = 2000
	// maxOpen is how many seconds' worth of messages may be open. More are not made while the
	// provider refuses all, so that an outage does not use up the recipients.
	maxOpen = 60
	// makeAtOnce bounds the messages of one transaction.
	makeAtOnce = 50
	// feedPause is how long the job waits until it makes more. Until it looks again whether
	// messages have ended that it waits for, it waits the longer, up to endPause, the longer
	// none has.
	feedPause = 200 * time.Millisecond
	endPause  = 5 * time.Second
	// broadcastPause is how long it waits after an error, which is not the broadcast's.
	broadcastPause = 5 * time.Second
	// broadcastMaxRun is long enough for the label of millions of contacts.
	broadcastMaxRun = time.Hour
)

type broadcastArgs struct {
	storage.AboutAccount
	Broadcast int64 `json:"broadcast"`
}

func newBroadcastArgs(b storage.Broadcast) broadcastArgs {
	return broadcastArgs{storage.AboutAccount{Account: b.AccountID}, b.Number}
}

// EnqueueBroadcast stores the job that runs a broadcast.
func EnqueueBroadcast(tx *storage.Tx, b storage.Broadcast) error {
	return enqueue(tx, storage.NewJob{
		Kind:  kindBroadcastRun,
		Lane:  storage.BroadcastLane(b.Number),
		Args:  newBroadcastArgs(b),
		DueAt: b.ScheduledAt,
	})
}

// runBroadcast does the next part of a broadcast, and waits in the queue for the one after it.
func (w *Workers) runBroadcast(ctx context.Context, job storage.Job, args broadcastArgs) (queue.Commit, error) {
	wait, err := w.continueBroadcast(ctx, args.Broadcast)
	if err == nil {
		err = w.resetCrashCount(ctx, &job)
	}
	switch {
	case errors.Is(err, storage.ErrNotFound) || err == nil && wait == broadcastOver:
		return nil, err
	case err == nil:
		return nil, queue.Postpone(wait)
	case ctx.Err() != nil:
		return nil, queue.Postpone(0) // stopped; all that was done is stored
	}
	return nil, queue.RetryAfter(broadcastPause, err) // however often: it must go on
}

// resetCrashCount resets the count of crashes of a long job that has got on after them: it is
// to blame for none, and must not fail because the server was killed often meanwhile.
func (w *Workers) resetCrashCount(ctx context.Context, job *storage.Job) error {
	if job.Crashes == 0 {
		return nil
	}
	err := w.DB.Update(ctx, func(tx *storage.Tx) error { return tx.ForgiveCrashes(*job) })
	if err == nil {
		job.Crashes = 0
	}
	return err
}

// broadcastOver says that a broadcast needs its job no more.
const broadcastOver = time.Duration(-1)

// continueBroadcast does what is due now, and returns how long to wait for the rest.
func (w *Workers) continueBroadcast(ctx context.Context, number int64) (time.Duration, error) {
	b, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.Broadcast, error) { return rx.BroadcastByNumber(number) })
	if err != nil {
		return 0, err
	}

	switch b.Status {
	case storage.BroadcastPreparing:
		return 0, w.prepareBroadcast(ctx, b)
	case storage.BroadcastScheduled:
		if wait := b.ScheduledAt.Sub(w.DB.Now()); wait > 0 {
			return wait, nil
		}
		return 0, w.DB.Update(ctx, func(tx *storage.Tx) error {
			b, err := tx.CurrentBroadcast(number)
			if err != nil || b.Status != storage.BroadcastScheduled {
				return err
			}
			return start(tx, &b)
		})
	case storage.BroadcastRunning:
		return w.feedBroadcast(ctx, b)
	case storage.BroadcastPaused:
		return feedPause, nil // its lane is closed: it waits there
	}
	return broadcastOver, nil
}

// prepareBroadcast stores the contacts of a label as recipients, in steps, and then starts
// the broadcast or lets it wait for its time.
func (w *Workers) prepareBroadcast(ctx context.Context, b storage.Broadcast) error {
	steps := newBatchWriter(w.DB)
	for done := false; !done; {
		queue.Extend(ctx)
		limit := steps.size

		err := steps.step(ctx, func(tx *storage.Tx) error {
			current, err := tx.BroadcastByNumber(b.Number)
			if err != nil || current.Status != storage.BroadcastPreparing {
				done = true // paused or cancelled meanwhile
				return err
			}
			if done, err = tx.CopyLabeled(&current, limit); err != nil || !done {
				return err
			}
			return finishPreparing(tx, b.Number)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// finishPreparing moves a broadcast on whose recipients are all stored.
func finishPreparing(tx *storage.Tx, number int64) error {
	b, err := tx.BroadcastByNumber(number)
	if err != nil {
		return err
	}

	b.Prepared = true
	if b.ScheduledAt > tx.Now {
		b.Status = storage.BroadcastScheduled
		return tx.UpdateBroadcast(&b)
	}
	return start(tx, &b)
}

// feedBroadcast makes messages a second's worth ahead, or completes a broadcast in which no one waits.
func (w *Workers) feedBroadcast(ctx context.Context, b storage.Broadcast) (time.Duration, error) {
	for {
		// Of those that were made, some may have ended otherwise: a person cancelled the job.
		room := w.secondsWorth() - min(w.ahead.count(b.Number), int(b.Open))
		if b.HasTurned() || w.isFull(b) || room <= 0 {
			break
		}

		queue.Extend(ctx)
		var next storage.Broadcast
		var drains bool
		err := w.DB.Update(ctx, func(tx *storage.Tx) (err error) {
			next, drains, err = w.makeMessages(tx, b.Number, min(room, makeAtOnce))
			return err
		})
		if err != nil {
			return 0, err
		}
		if b = next; b.Status != storage.BroadcastRunning {
			return 0, nil
		}
		if drains {
			break
		}
	}

	switch {
	case !b.HasTurned() && !w.isFull(b):
		return feedPause, nil
	case !b.HasTurned() || b.Waiting > 0:
		quiet := w.DB.Now().Add(w.DB.Lead()).Sub(b.UpdatedAt)
		return min(max(feedPause, quiet/4), endPause), nil
	}
	// The next run ends the job: another one may pause the broadcast before this transaction.
	return 0, w.DB.Update(ctx, func(tx *storage.Tx) error { return completeBroadcast(tx, b.Number) })
}

// isFull reports whether no message of a broadcast may be made until others have ended.
func (w *Workers) isFull(b storage.Broadcast) bool { return b.Open >= int64(w.secondsWorth())*maxOpen }

// secondsWorth is how many messages are sent in a second.
func (w *Workers) secondsWorth() int {
	if w.MessagesPerSecond > 0 {
		return max(1, int(w.MessagesPerSecond))
	}
	return unlimitedAhead
}

// makeMessages makes the messages of the next recipients, as many as a transaction should,
// or pauses a broadcast that may not be sent just now. It returns the broadcast as it is
// then, and whether what was made must end before there can be more: the quota is used up.
func (w *Workers) makeMessages(tx *storage.Tx, number int64, limit int) (b storage.Broadcast, drains bool, err error) {
	b, err = tx.CurrentBroadcast(number)
	if err != nil || b.Status != storage.BroadcastRunning {
		return b, false, err
	}

	m := messageMaker{w: w}
	if m.recipientRules, err = newRecipientRules(&tx.Rx, b); err != nil {
		return b, false, err
	}
	if reason := concernsAll(m.sender, tx.Now); reason != "" {
		return b, false, pauseFor(tx, &b, string(reason), m.sender.CooldownUntil)
	}

	next, err := tx.NextRecipients(number, b.Position, limit)
	if err != nil {
		return b, false, err
	}
	position, quota, err := m.makeSome(tx, next)
	if err != nil {
		return b, false, err
	}

	if len(next) == 0 {
		position = b.Total // the rest was blanked; there is none
	}
	if position != b.Position {
		err = tx.MovePosition(number, b.Position, position)
	}
	if err != nil {
		return b, false, err
	}
	if b, err = tx.CurrentBroadcast(number); err != nil || quota {
		return b, false, err
	}

	// Counted messages go out first, retries too: in the closed lane they would wait for ever.
	if b.Open > 0 {
		return b, true, nil
	}
	return b, false, pauseFor(tx, &b, string(errorcode.QuotaExceeded), 0)
}

// concernsAll says why nobody may send from an account just now, "" if it may.
func concernsAll(s storage.Sender, now storage.Time) errorcode.Code {
	if refused := messaging.RefusalOf(s); refused != nil {
		return refused.Code
	}
	if messaging.IsCoolingDown(s.CooldownUntil, now) {
		return errorcode.AccountRateLimited
	}
	return ""
}
