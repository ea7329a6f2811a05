package jobs

import (
	"context"
	"encoding/json"
	"errors"

	"confab/jobs/errorcode"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

func (w *Workers) enqueueToRecipient(tx *storage.Tx, m storage.Message, content json.RawMessage) error {
	args := sendArgs{AboutMessage: storage.NewAboutMessage(m), Content: content}

	// Counted before it is stored: its run may end before the commit has returned.
	w.ahead.add(m)
	tx.OnUndo(func() { w.ahead.remove(m.ID) })
	return enqueue(tx, storage.NewJob{
		Kind:   kindBroadcastSend,
		Lane:   storage.BroadcastLane(*m.Broadcast),
		Args:   args,
		Memory: accepted{args, m, tx.Deletions()},
	})
}

// sendToRecipient hands a message of a broadcast to the provider. It differs from send in
// these:
//
//   - What concerns all recipients pauses the broadcast, and the message waits with it.
//   - A recipient that may not be sent to any more is skipped.
//   - It takes a slot of the number only when no direct send waits.
//   - A call whose outcome is unknown is repeated only if callbacks arrive, so that one about
//     this message would have: no one gets two.
func (w *Workers) sendToRecipient(ctx context.Context, job storage.Job) (queue.Commit, error) {
	return w.sendBy(ctx, job, sendRules{check: w.checkSendToRecipient, concernsAccount: pausesBroadcast, refuse: w.holdRecipient})
}

// checkSendToRecipient waits until a message of a broadcast may be sent, or ends it.
func (w *Workers) checkSendToRecipient(ctx context.Context, job storage.Job, out outgoing) (queue.Commit, error) {
	if commit, err := w.reconcileRecipient(ctx, job, out); commit != nil || err != nil {
		return commit, err
	}
	if commit, err := w.recheckRecipient(ctx, job, out); commit != nil || err != nil {
		return commit, err
	}
	if err := w.awaitTrial(job, out); err != nil {
		return nil, err
	}
	return nil, w.awaitBroadcastSlot(ctx, out)
}

// reconcileRecipient waits for a callback that reports the outcome of an earlier call, and
// fails the message if none could.
func (w *Workers) reconcileRecipient(ctx context.Context, job storage.Job, out outgoing) (queue.Commit, error) {
	if commit, err := w.reconcile(job, out); commit != nil || err != nil {
		return commit, err
	}
	if job.CallBegunAt == 0 {
		return nil, nil
	}

	heard, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) (bool, error) {
		return rx.HasReports(out.message.AccountID, job.CallBegunAt)
	})
	if err != nil || heard {
		return nil, err
	}
	return failMessage(out, messaging.Failure{
		Code: errorcode.UpstreamError,
		Text: "It is unknown whether the provider received this message, so it is not sent again.",
	}), nil
}

// recheckRecipient looks whether a message may still be sent: the account may, and where the
// message waited, its broadcast was not cancelled and its recipient has not opted out. A
// message that was made just now was checked then.
func (w *Workers) recheckRecipient(ctx context.Context, job storage.Job, out outgoing) (queue.Commit, error) {
	if reason := concernsAll(out.sender, w.DB.Now()); reason != "" {
		return w.holdRecipient(ctx, out, messaging.Failure{Code: reason})
	}
	if just, ok := job.Memory.(accepted); ok && just.deletions == w.DB.Deletions() {
		return nil, nil
	}

	refused, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) (*messaging.Refusal, error) { return refusalInBroadcast(rx, out) })
	if err != nil || refused == nil {
		return nil, storage.IgnoreNotFound(err)
	}

	return skipMessage(out, *refused), nil
}

var cancelled = messaging.Refusal{Code: errorcode.BroadcastCancelled, Text: "The broadcast was cancelled."}

// skipMessage ends a message that is not sent, though it was made.
func skipMessage(out outgoing, why messaging.Refusal) queue.Commit {
	return func(tx *storage.Tx) error {
		if err := tx.SkipRecipient(*out.message.Broadcast, *out.message.RecipientNumber, string(why.Code)); err != nil {
			return err
		}
		return messaging.FailMessage(tx, out.sender, out.message.ID, why.Failure())
	}
}

// refusalInBroadcast says why a message of a broadcast must not be sent any more, or nil.
func refusalInBroadcast(rx *storage.Rx, out outgoing) (*messaging.Refusal, error) {
	b, err := rx.BroadcastByNumber(*out.message.Broadcast)
	if err != nil {
		return nil, err
	}
	if b.Status == storage.BroadcastCancelled {
		return &cancelled, nil
	}

	contact, err := rx.Contact(out.message.AccountID, out.message.ContactID)
	if err != nil {
		return nil, err
	}
	marketing, err := isMarketing(rx, b.AccountID, b.TemplateName, b.TemplateLanguage)
	return messaging.RefusalFor(out.sender, contact, marketing), err
}

// holdRecipient pauses the broadcast of a message because of something that concerns all of
// its recipients, and puts the message back: it waits in the closed lane, and this run does
// not count. Of a broadcast that was cancelled, whose lane is open, it ends the message. A try by
// which it was found out is kept for the trace.
func (w *Workers) holdRecipient(
	ctx context.Context, out outgoing, why messaging.Failure, tried ...storage.MessageTry,
) (queue.Commit, error) {
	isOver := false
	err := w.DB.Update(context.WithoutCancel(ctx), func(tx *storage.Tx) error {
		for _, one := range tried {
			if err := tx.InsertMessageTry(out.message, one); err != nil {
				return err
			}
		}
		if err := messaging.ApplyAccountEffect(tx, out.message.AccountID, why.Effect, why.Text); err != nil {
			return err
		}
		b, err := tx.CurrentBroadcast(*out.message.Broadcast)
		isOver = err == nil && b.IsOver()
		if err != nil || !b.IsActive() {
			return storage.IgnoreNotFound(err) // another message has paused it
		}

		s, err := tx.Sender(out.message.AccountID)
		if err != nil {
			return storage.IgnoreNotFound(err)
		}
		return pauseFor(tx, &b, string(why.Code), s.CooldownUntil)
	})
	switch {
	case err != nil:
		return nil, err
	case isOver:
		return skipMessage(out, cancelled), nil
	}
	return nil, queue.Postpone(0)
}

// slotTries is how often a worker asks for a slot that is about to be free.
const slotTries = 5

// awaitBroadcastSlot waits for a slot of the number that no direct send wants. It returns what
// postpones the job if that takes long, or the broadcast was paused meanwhile.
func (w *Workers) awaitBroadcastSlot(ctx context.Context, out outgoing) error {
	for range slotTries {
		if w.DB.LaneClosed(storage.BroadcastLane(*out.message.Broadcast)) {
			return queue.Postpone(0)
		}

		wait := w.sends.tryBroadcastSlot(out.message, maxTurnWait)
		switch {
		case wait == 0:
			return nil
		case wait > maxTurnWait:
			return queue.Postpone(max(wait, w.sends.pace(out.message)))
		}

		if !queue.Pause(ctx, wait) {
			return queue.Postpone(0)
		}
	}
	return queue.Postpone(w.sends.pace(out.message))
}

// pausesBroadcast reports whether the provider refused a message for a reason that concerns all
// recipients: the account, or the template.
func pausesBroadcast(err error) bool {
	switch provider.ClassOf(err).Effect {
	case provider.Degraded, provider.Disconnected, provider.Restricted, provider.Cooldown:
		return true
	}
	e, ok := errors.AsType[*provider.Error](err)
	return ok && e.IsTemplateUnusable()
}
