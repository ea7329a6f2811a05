package jobs

import (
	"time"

	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// TellReceived tells of a message that came in, in the envelope that brought it.
func (h Host) TellReceived(tx *storage.Tx, a storage.Account, t storage.Thread, m storage.Message, envelope []byte) error {
	told := event.Received{Message: m, Thread: t}
	if m.MediaToken != nil {
		told.MediaURL = h.LinkOf(m)
	}
	if t.Labeled {
		labels, err := tx.ConversationLabels(t.ConversationID)
		if err != nil {
			return err
		}
		told.Labels = labels[t.ConversationID]
	}
	e, err := event.MessageReceived(SubjectOf(a), told, envelope)
	if err != nil {
		return err
	}
	return e.Emit(tx)
}

// TellEcho tells of a message that the business sent from its phone, and applies
// the callbacks that were faster.
func (h Host) TellEcho(tx *storage.Tx, a storage.Account, m storage.Message) error {
	if err := h.tellSent(tx, a, m); err != nil {
		return err
	}
	return ApplyParked(tx, a, &m)
}

// HappenedAt is when something came about that the provider reports in seconds,
// or now where that could not be true.
func HappenedAt(seconds provider.Int, now storage.Time) storage.Time {
	const latest = 24 * time.Hour // clocks differ
	if seconds <= 0 || int64(seconds) > now.Add(latest).Std().Unix() {
		return now
	}
	return storage.At(time.Unix(int64(seconds), 0))
}
