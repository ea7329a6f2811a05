package jobs

import (
	"time"

	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// TellReceived emits message.received for an inbound message, in the envelope of
// its callback.
func (h Host) TellReceived(tx *storage.Tx, a storage.Account, t storage.Thread, m storage.Message, envelope []byte) error {
	received := event.Received{Message: m, Thread: t}
	if m.MediaToken != nil {
		received.MediaURL = h.LinkOf(m)
	}

	if t.Labeled {
		labels, err := tx.ConversationLabels(t.ConversationID)
		if err != nil {
			return err
		}
		received.Labels = labels[t.ConversationID]
	}

	e, err := event.MessageReceived(SubjectOf(a), received, envelope)
	if err != nil {
		return err
	}
	return e.Emit(tx)
}

// TellEcho emits message.sent for a message that the business sent from its phone,
// and applies callbacks about it that came before it.
func (h Host) TellEcho(tx *storage.Tx, a storage.Account, m storage.Message) error {
	if err := h.emitSent(tx, a, m); err != nil {
		return err
	}
	return ApplyParked(tx, a, &m)
}

// HappenedAt is the time that the provider reports in seconds, or now if that is
// missing or too far in the future.
func HappenedAt(seconds provider.Int, now storage.Time) storage.Time {
	const latest = 24 * time.Hour // clocks differ
	if seconds <= 0 || int64(seconds) > now.Add(latest).Std().Unix() {
		return now
	}
	return storage.At(time.Unix(int64(seconds), 0))
}
