package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"confab/jobs/errorcode"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

const (
	kindSendLater = "send.later"
	// MaxSchedule is how far ahead a message or a broadcast can be scheduled.
	MaxSchedule = 90 * 24 * time.Hour
	// maxScheduled is how long such a job waits at most. One that waits longer was stored while
	// the clock was wrong.
	maxScheduled = MaxSchedule + 24*time.Hour
)

// EnqueueSend stores the job that hands a message to the provider, at once or when its time
// comes. The key is that by which the message came, which may be a bot's.
func EnqueueSend(tx *storage.Tx, k storage.Key, m storage.Message, content json.RawMessage) error {
	args := sendArgs{AboutMessage: storage.NewAboutMessage(m), Content: content}
	if m.ScheduledAt != 0 {
		if k.Agent != nil {
			args.Agent, args.Key = *k.Agent, k.ID
		}
		return enqueue(tx, storage.NewJob{Kind: kindSendLater, Args: args, DueAt: m.ScheduledAt})
	}
	return enqueueSend(tx, m, args)
}

// sendLater makes a message one to be sent now, when its time has come. It is then as any
// other, and what may have changed since it was accepted is checked again.
func (w *Workers) sendLater(ctx context.Context, job storage.Job) (queue.Commit, error) {
	args, m, err := w.loadQueued(ctx, job)
	if err != nil {
		return nil, storage.IgnoreNotFound(err) // it may be deleted meanwhile
	}
	if m.ScheduledAt > w.DB.Now() { // the clock was set back
		return nil, queue.PostponeUntil(m.ScheduledAt)
	}
	return func(tx *storage.Tx) error { return releaseMessage(tx, args) }, nil
}

// releaseMessage checks a message again and enqueues its send, or fails it.
func releaseMessage(tx *storage.Tx, args sendArgs) error {
	m, err := tx.OutboundMessage(args.Account, args.Message)
	if err != nil || m.Status != storage.MessageQueued {
		return storage.IgnoreNotFound(err) // deleted or cancelled
	}

	sender, err := tx.Sender(m.AccountID)
	if errors.Is(err, storage.ErrNotFound) {
		return giveUpMessage(tx, args.AboutMessage, "The account was removed.")
	}
	if err != nil {
		return err
	}

	refused, err := refusalWhenDue(tx, sender, m)
	if err == nil && refused == nil && args.Agent != "" {
		refused, err = messaging.RefusalOfHolder(&tx.Rx, args.Agent, m.ConversationID)
	}
	if err != nil {
		return err
	}
	waits, err := tx.ReleaseMessage(&m)
	if err != nil || !waits {
		return err
	}
	if refused != nil {
		return messaging.FailMessage(tx, sender, m.ID, refused.Failure())
	}

	// The bot or the person holds the conversation whose message goes out now.
	s := messaging.SubjectOf(sender.Account)
	switch {
	case args.Agent != "":
		err = messaging.TakeHold(tx, s, event.By{Type: event.ByKey, ID: &args.Key}, m.ConversationID, messaging.Agent(args.Agent))
	case m.SentBy != nil && m.Type != "reaction":
		err = messaging.TakeHold(tx, s, event.By{Type: event.ByUser, ID: m.SentBy}, m.ConversationID, messaging.User(m.SentBy))
	}
	if err != nil {
		return err
	}
	return enqueueSend(tx, m, args)
}

// refusalWhenDue says why a message may not be sent now that its time has come, or nil.
func refusalWhenDue(tx *storage.Tx, sender storage.Sender, m storage.Message) (*messaging.Refusal, error) {
	restored, err := tx.RestoredAt()
	if err != nil {
		return nil, err
	}
	if m.ScheduledAt < restored {
		return &messaging.Refusal{Code: errorcode.MessageOverdue, Text: "The message was due before the backup was restored."}, nil
	}
	if refused := messaging.RefusalOf(sender); refused != nil || m.Type != "template" {
		return refused, nil
	}

	contact, err := tx.Contact(m.AccountID, m.ContactID)
	if err != nil {
		return nil, storage.IgnoreNotFound(err)
	}
	name, language := provider.NamedTemplate(json.RawMessage(m.Content))
	marketing, err := isMarketing(&tx.Rx, m.AccountID, name, language)
	return messaging.RefusalFor(sender, contact, marketing), err
}

// CancelMessage stores that a message is not sent after all. The caller keeps it from being
// sent meanwhile, by SendCalls.Cancel. It returns false if it is too late for that.
func CancelMessage(tx *storage.Tx, m *storage.Message) (bool, error) {
	if m.Status != storage.MessageQueued {
		return false, nil
	}
	begun, err := tx.CallMayHaveBegun([]string{kindSend, kindBroadcastSend}, m.ID)
	if err != nil || begun {
		return false, err
	}

	sender, err := tx.Sender(m.AccountID)
	if err != nil {
		return false, err
	}
	cancelled := messaging.Failure{Code: errorcode.MessageCancelled, Text: "The message was cancelled.", Own: true}
	if err := messaging.FailMessage(tx, sender, m.ID, cancelled); err != nil {
		return false, err
	}
	if err := tx.StopSending(kindSendLater, *m); err != nil {
		return false, err
	}

	*m, err = tx.OutboundMessage(m.AccountID, m.ID)
	return true, err
}
