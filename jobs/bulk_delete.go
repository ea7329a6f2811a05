package jobs

import (
	"context"
	"math"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

// DeleteContactMessages deletes the messages of a contact in small transactions, so that
// DeleteContact has little left to do in its one.
func DeleteContactMessages(ctx context.Context, db *storage.DB, account int64, contact string) error {
	var unread map[string]storage.UnreadCount
	return walk(ctx, newBatchWriter(db), func(rx *storage.Rx, after storage.Row, limit int) (rows []storage.Row, err error) {
		if rows, err = rx.MessagesOfContact(contact, after, limit); err == nil {
			unread, err = rx.UnreadLeft(account, rows, false)
		}
		return rows, err
	}, func(tx *storage.Tx, rows []storage.Row) error {
		return deleteContactMessages(tx, account, rows, unread)
	})
}

// DeleteContact deletes a contact with its conversation, its messages and their
// media. Messages that wait to be sent are not sent any more.
func DeleteContact(tx *storage.Tx, account int64, contact string) error {
	for {
		rows, err := tx.MessagesOfContact(contact, storage.Row{}, maxBatch)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return tx.DeleteContact(account, contact)
		}
		if err := deleteContactMessages(tx, account, rows, nil); err != nil { // the conversation goes with it
			return err
		}
	}
}

// deleteContactMessages deletes messages and marks their media as deleted; the files are
// removed later, when no row uses them.
func deleteContactMessages(tx *storage.Tx, account int64, rows []storage.Row, unread map[string]storage.UnreadCount) error {
	media, err := tx.ForgetMessages(account, rows, unread)
	if err != nil {
		return err
	}

	for _, m := range media {
		if err := tx.MarkMediaDeleted(m.AccountID, m.ID); err != nil {
			return err
		}
		if err := EnqueueMediaRemoval(tx, m); err != nil {
			return err
		}
	}
	return nil
}

// DeleteLoggedBodies deletes the bodies in the API log that may hold what people of an account
// wrote: those of its calls, and of those of its organization that are about no account.
func DeleteLoggedBodies(ctx context.Context, db *storage.DB, account int64) error {
	all := storage.PurgeScope{Before: math.MaxInt64, Account: account}
	return walk(ctx, newBatchWriter(db), func(rx *storage.Rx, after storage.Row, limit int) ([]storage.Row, error) {
		return rx.OldRows(storage.APILogBodies, all, after, limit)
	}, func(tx *storage.Tx, rows []storage.Row) error {
		_, err := tx.DeleteOldRows(storage.APILogBodies, rows)
		return err
	})
}

// blankLease is long enough for a queue of tens of millions of jobs.
const blankLease = time.Hour

// blankJobs takes the words of deleted messages out of the jobs that send them or fetch their
// files. At its end the log is emptied, even if it found none: one may have ended after the
// message was deleted, and before the walk came to it.
func (w *Workers) blankJobs(ctx context.Context, _ storage.Job) (queue.Commit, error) {
	kinds := []string{kindSend, kindSendLater, kindBroadcastSend, kindMediaFetch}
	err := walk(ctx, newBatchWriter(w.DB), func(rx *storage.Rx, after int64, limit int) ([]int64, error) {
		return rx.JobsToBlank(kinds, after, limit)
	}, (*storage.Tx).BlankJobs)
	if err != nil {
		return nil, err
	}

	return func(tx *storage.Tx) error {
		tx.CountErasure()
		return nil
	}, nil
}
