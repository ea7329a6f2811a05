package messaging

import (
	"errors"

	"confab/storage"
)

// MarkAccepted records that the provider accepted a message, with the provider's id
// and what it says of the recipient, and emits message.sent. The answer to the send
// call and the first status callback both lead here: the second of them changes nothing.
//
// The message is not read again, because every send comes here: MarkSent and
// RecordRecipient check and update what may have changed since the caller read it.
//
// Budget: with the end of the job three statements, which change the message in place
// and add it to the index by the provider's id, and add the event; and for each
// subscription one for the delivery and one for its job.
// TestSendingAndDeliveringKeepToTheirBudget holds it, and that of MarkDelivered: two
// statements with the end of the job. Each commit adds one that counts, for all its
// messages of a number or deliveries of a subscription.
func (p Publisher) MarkAccepted(tx *storage.Tx, a storage.Account, m storage.Message, providerID string, to Person) error {
	// On a conflict, the provider gave the same id to two messages. It has accepted
	// both: to send this one again would be worse than to store it without an id.
	first, err := tx.MarkSent(&m, providerID)
	if errors.Is(err, storage.ErrConflict) {
		first, err = tx.MarkSentWithoutID(&m)
	}
	if err != nil || !first {
		return err
	}
	if err := RecordRecipient(tx, a, &m, to); err != nil {
		return err
	}

	// A message that failed before stays failed, as its event said.
	if m.Status != storage.MessageFailed {
		if err := p.EmitSent(tx, a, m); err != nil {
			return err
		}
	}

	if m.ProviderID == nil {
		return nil
	}
	return ApplyParkedCallbacks(tx, a, &m)
}
