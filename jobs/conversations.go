package jobs

import (
	"context"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

const (
	// MaxSnooze is how long a conversation can sleep.
	MaxSnooze = 365 * 24 * time.Hour
	// maxWakeDelay is how long the job that wakes one waits at most. One that waits longer was
	// stored while the clock was wrong.
	maxWakeDelay = MaxSnooze + 24*time.Hour
)

// wakeConversation ends the snooze of a conversation, when its time has come.
func (w *Workers) wakeConversation(ctx context.Context, _ storage.Job, args storage.WakeArgs) (queue.Commit, error) {
	c, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.FullConversation, error) {
		return rx.Conversation(args.Account, args.Conversation)
	})
	if err != nil {
		return nil, err // perhaps it was merged into another
	}
	if c.SnoozedUntil > w.DB.Now() { // the clock was set back, or it sleeps longer now
		return nil, queue.PostponeUntil(c.SnoozedUntil)
	}

	return func(tx *storage.Tx) error {
		if woken, err := tx.WakeConversation(args.Account, args.Conversation); err != nil || !woken {
			return err
		}

		c, err := tx.Conversation(args.Account, args.Conversation)
		if err != nil || c.AssigneeID == nil {
			return err
		}
		account, err := tx.Sender(args.Account)
		if err != nil {
			return storage.IgnoreNotFound(err) // the number was removed
		}
		notice := Notice{AboutAccount: args.AboutAccount, Conversation: args.Conversation, Users: []string{*c.AssigneeID}}
		return EnqueueNotify(tx, account.OrganizationID, notice)
	}, nil
}
