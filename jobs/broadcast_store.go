package jobs

import (
	"context"
	"errors"

	"confab/storage"
)

// RecipientSource returns the next recipients of a broadcast, at most limit, and fewer only
// at the end.
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
	if next == nil {
		return nil
	}
	if err := storeRecipients(ctx, newBatchWriter(db), b.Number, next); err != nil {
		return errors.Join(err, deleteUnpublished(ctx, db, *b))
	}
	return nil
}

func storeRecipients(ctx context.Context, steps *batchWriter, broadcast int64, next RecipientSource) error {
	for {
		limit := steps.size
		some, err := next(limit)
		if err != nil {
			return err
		}
		if len(some) > 0 {
			err = steps.step(ctx, func(tx *storage.Tx) error { return tx.AddRecipients(broadcast, some) })
		}
		if err != nil || len(some) < limit {
			return err
		}
	}
}

// deleteUnpublished deletes a broadcast that was not published, with its recipients.
func deleteUnpublished(ctx context.Context, db *storage.DB, b storage.Broadcast) error {
	return newBatchWriter(db).repeat(context.WithoutCancel(ctx), func(tx *storage.Tx, limit int) (int64, error) {
		return tx.DeleteUnpublishedBroadcast(b.Number, limit)
	})
}
