package jobs

import (
	"context"
	"errors"

	"confab/jobs/errorcode"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/jobs/queue"
	"confab/storage"
)

// ErrNotActive means that a broadcast is in a state from which the move does not lead.
var ErrNotActive = errors.New("the broadcast is not in a state for this")

// PausedByRequest is why a broadcast is paused, beside the codes of what a send would be refused with.
const PausedByRequest = "requested"

// PublishBroadcast makes a broadcast appear whose recipients are stored, or will be read
// from its label, and stores its job.
func PublishBroadcast(tx *storage.Tx, b *storage.Broadcast) error {
	b.Prepared = b.AudienceType != storage.AudienceLabel
	b.Status = storage.BroadcastScheduled
	if !b.Prepared {
		b.Status = storage.BroadcastPreparing
	}

	if err := tx.PublishBroadcast(b); err != nil {
		return err
	}
	if b.Prepared && b.ScheduledAt <= tx.Now {
		if err := start(tx, b); err != nil {
			return err
		}
	}

	// The audience of a label is stored at once, whenever the messages are to be sent.
	queued := *b
	if !b.Prepared {
		queued.ScheduledAt = 0
	}
	return EnqueueBroadcast(tx, queued)
}

// start makes a broadcast run, for the first time or again.
func start(tx *storage.Tx, b *storage.Broadcast) error {
	first := b.StartedAt == 0
	b.Status = storage.BroadcastRunning
	if first {
		b.StartedAt = tx.Now
	}

	if err := tx.UpdateBroadcast(b); err != nil || !first {
		return err
	}
	return emitBroadcast(tx, *b, event.TypeBroadcastStarted)
}

// completeBroadcast ends a broadcast in which no one waits any more.
func completeBroadcast(tx *storage.Tx, number int64) error {
	b, err := tx.CurrentBroadcast(number)
	if err != nil || b.Status != storage.BroadcastRunning || b.Waiting > 0 {
		return err
	}

	b.Status, b.CompletedAt = storage.BroadcastCompleted, tx.Now
	if err := tx.UpdateBroadcast(&b); err != nil {
		return err
	}
	return emitBroadcast(tx, b, event.TypeBroadcastCompleted)
}

// emitBroadcast emits an event of a broadcast, unless its account is gone.
func emitBroadcast(tx *storage.Tx, b storage.Broadcast, kind string) error {
	s, err := tx.Sender(b.AccountID)
	if err != nil {
		return storage.IgnoreNotFound(err)
	}
	return event.Broadcast(kind, messaging.SubjectOf(s.Account), b).Emit(tx)
}

// PauseBroadcast pauses a broadcast that somebody asked to pause.
func PauseBroadcast(tx *storage.Tx, b *storage.Broadcast) error {
	if !b.IsActive() {
		return ErrNotActive
	}
	return pauseFor(tx, b, PausedByRequest, 0)
}

// pauseFor pauses a broadcast for a reason. After a cooldown it goes on by itself.
func pauseFor(tx *storage.Tx, b *storage.Broadcast, reason string, cooldown storage.Time) error {
	b.Status, b.PausedReason = storage.BroadcastPaused, &reason
	if err := tx.UpdateBroadcast(b); err != nil || reason != string(errorcode.AccountRateLimited) {
		return err
	}
	return enqueue(tx, storage.NewJob{Kind: kindBroadcastResume, Args: newBroadcastArgs(*b), DueAt: max(cooldown, tx.Now+1)})
}

// ResumeBroadcast lets a paused broadcast go on where it was.
func ResumeBroadcast(tx *storage.Tx, b *storage.Broadcast) error {
	switch {
	case b.Status != storage.BroadcastPaused:
		return ErrNotActive
	case !b.Prepared:
		b.Status = storage.BroadcastPreparing
	case b.StartedAt == 0 && b.ScheduledAt > tx.Now:
		b.Status = storage.BroadcastScheduled
	default:
		return start(tx, b)
	}
	return tx.UpdateBroadcast(b)
}

// CancelBroadcast ends a broadcast for good: those who wait are skipped.
func CancelBroadcast(tx *storage.Tx, b *storage.Broadcast) error {
	if b.IsOver() {
		return ErrNotActive
	}
	return tx.CancelBroadcast(b)
}

// resumeBroadcast resumes a broadcast that was paused by a cooldown, when the account has
// cooled down: it may have met a later limit since, or the clock may have been set.
func (w *Workers) resumeBroadcast(ctx context.Context, _ storage.Job, args broadcastArgs) (queue.Commit, error) {
	sender, err := w.DB.Sender(ctx, args.Account)
	if err != nil {
		return nil, err
	}
	if messaging.IsCoolingDown(sender.CooldownUntil, w.DB.Now()) {
		return nil, queue.PostponeUntil(sender.CooldownUntil)
	}

	return func(tx *storage.Tx) error {
		b, err := tx.CurrentBroadcast(args.Broadcast)
		cooled := b.PausedReason != nil && *b.PausedReason == string(errorcode.AccountRateLimited)
		if err != nil || b.Status != storage.BroadcastPaused || !cooled {
			return storage.IgnoreNotFound(err)
		}
		return ResumeBroadcast(tx, &b)
	}, nil
}

// giveUpBroadcast cancels a broadcast whose job was cancelled: nothing would go on without.
func giveUpBroadcast(tx *storage.Tx, args broadcastArgs, _ error) error {
	b, err := tx.CurrentBroadcast(args.Broadcast)
	if err != nil || b.IsOver() {
		return storage.IgnoreNotFound(err)
	}
	return tx.CancelBroadcast(&b)
}

// RecipientSource returns the next recipients of a broadcast, fewer than limit only at the end.
type RecipientSource func(limit int) ([]storage.BroadcastRecipient, error)

// MakeBroadcast stores a broadcast with its recipients, and calls finish with the step that
// publishes it: finish runs that in a transaction, with anything else to be stored. If
// anything fails, nothing is left of the broadcast.
func MakeBroadcast(
	ctx context.Context, db *storage.DB, b storage.Broadcast, next RecipientSource,
	finish func(publish func(*storage.Tx) (storage.Broadcast, error)) error,
) error {
	if err := StoreRecipients(ctx, db, &b, next); err != nil {
		return err
	}

	err := finish(func(tx *storage.Tx) (storage.Broadcast, error) {
		made := b
		err := PublishBroadcast(tx, &made)
		return made, err
	})
	if err != nil {
		return errors.Join(err, deleteUnpublished(ctx, db, b))
	}
	return nil
}

// StoreRecipients stores a broadcast that is not published yet with its recipients, in steps
// that let others write. The source is nil if they are read from a label afterwards. If that
// fails, nothing is left of it; what a crash leaves is deleted by housekeeping.
func StoreRecipients(ctx context.Context, db *storage.DB, b *storage.Broadcast, next RecipientSource) error {
	made := *b
	err := db.Update(ctx, func(tx *storage.Tx) error {
		made = *b
		return tx.InsertBroadcast(&made)
	})
	if err != nil {
		return err
	}

	*b = made
	steps := newBatchWriter(db)
	for more := next != nil; more; {
		limit := steps.size
		some, err := next(limit)
		if err == nil && len(some) > 0 {
			err = steps.step(ctx, func(tx *storage.Tx) error { return tx.AddRecipients(b.Number, some) })
		}
		if err != nil {
			return errors.Join(err, deleteUnpublished(ctx, db, *b))
		}
		more = len(some) == limit
	}
	return nil
}

func deleteUnpublished(ctx context.Context, db *storage.DB, b storage.Broadcast) error {
	return newBatchWriter(db).repeat(context.WithoutCancel(ctx), func(tx *storage.Tx, limit int) (int64, error) {
		return tx.DeleteUnpublishedBroadcast(b.Number, limit)
	})
}
