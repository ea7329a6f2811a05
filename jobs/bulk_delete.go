package jobs

import (
	"context"

	"confab/storage"
)

// DeleteContactMessages deletes the messages of a contact in small transactions, so that
// DeleteContact has little left to do in its one.
func DeleteContactMessages(ctx context.Context, db *storage.DB, contact string) error {
	return newBatchWriter(db).repeat(ctx, func(tx *storage.Tx, limit int) (int64, error) {
		return deleteContactMessages(tx, contact, limit)
	})
}

// DeleteContact deletes a contact with its conversation, its messages and their
// media. Messages that wait to be sent are not sent any more.
func DeleteContact(tx *storage.Tx, account int64, contact string) error {
	for {
		n, err := deleteContactMessages(tx, contact, maxBatch)
		if err != nil {
			return err
		}
		if n < maxBatch {
			return tx.DeleteContact(account, contact)
		}
	}
}

// deleteContactMessages deletes up to limit messages of a contact and marks their media
// as deleted; the files are removed later, when no row uses them.
func deleteContactMessages(tx *storage.Tx, contact string, limit int) (int64, error) {
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

// DetachLabel removes a label from all that has it, in small transactions, so that
// deleting the label itself is quick.
func DetachLabel(ctx context.Context, db *storage.DB, organization int64, label string) error {
	return newBatchWriter(db).repeat(ctx, func(tx *storage.Tx, limit int) (int64, error) {
		return tx.DetachLabel(organization, label, limit)
	})
}

// TouchLabeledConversations marks the conversations that have a label as updated, in small
// transactions, because they show its name.
func TouchLabeledConversations(ctx context.Context, db *storage.DB, label string) error {
	b := newBatchWriter(db)
	return b.walk(ctx, func(rx *storage.Rx, after storage.Row, limit int) ([]storage.Row, error) {
		return rx.LabeledConversations(label, after, limit)
	}, func(rows []storage.Row) error {
		return b.step(ctx, func(tx *storage.Tx) error { return tx.TouchConversations(rows) })
	})
}
