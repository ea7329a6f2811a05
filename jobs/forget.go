package jobs

import (
	"context"

	"confab/storage"
)

// ForgetMessages deletes what was said with a contact, step by step, so that
// DeleteContact has little left to do.
func ForgetMessages(ctx context.Context, db *storage.DB, contact string) error {
	return newGentle(db).repeat(ctx, func(tx *storage.Tx, limit int) (int64, error) { return forgetMessages(tx, contact, limit) })
}

// DeleteContact deletes a contact with its conversation, its messages and the
// media that came with them. Messages that are still to be sent end unsent.
func DeleteContact(tx *storage.Tx, account int64, contact string) error {
	for {
		n, err := forgetMessages(tx, contact, maxBatch)
		if err != nil {
			return err
		}
		if n < maxBatch {
			return tx.DeleteContact(account, contact)
		}
	}
}

// forgetMessages deletes up to limit messages of a contact and takes their media
// away from everybody; the files go later, when no row needs them.
func forgetMessages(tx *storage.Tx, contact string, limit int) (int64, error) {
	n, media, err := tx.ForgetMessages(contact, limit)
	if err != nil {
		return 0, err
	}
	for _, m := range media {
		if err := tx.MarkMediaDeleted(m.AccountID, m.ID); err != nil {
			return 0, err
		}
		if err := EnqueueMediaRemoval(tx, m); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// DetachLabel takes a label off all that has it, step by step, so that deleting
// it is quick.
func DetachLabel(ctx context.Context, db *storage.DB, organization int64, label string) error {
	return newGentle(db).repeat(ctx, func(tx *storage.Tx, limit int) (int64, error) { return tx.DetachLabel(organization, label, limit) })
}

// TouchLabeled counts the conversations that have a label as updated, step by
// step, because they show what it is called.
func TouchLabeled(ctx context.Context, db *storage.DB, label string) error {
	g := newGentle(db)
	return g.walk(ctx, func(rx *storage.Rx, after storage.Row, limit int) ([]storage.Row, error) {
		return rx.LabeledConversations(label, after, limit)
	}, func(rows []storage.Row) error {
		return g.step(ctx, func(tx *storage.Tx) error { return tx.TouchConversations(rows) })
	})
}
