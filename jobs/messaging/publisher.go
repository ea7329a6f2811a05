package messaging

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"confab/jobs/event"
	"confab/storage"
)

// Publisher emits the events of messages that contain the address of their media.
type Publisher struct {
	PublicURL string // below which we host media
}

// MediaURL is the URL of a message's media: where we host it, or the link that it
// was sent with. It is empty where there is no media, or none yet.
func (p Publisher) MediaURL(m storage.Message) string {
	if m.MediaToken != nil {
		return p.PublicURL + storage.MediaPath(*m.MediaToken, m.MediaFilename)
	}

	if m.Direction != storage.Outbound || !slices.Contains([]string{"image", "video", "audio", "document"}, m.Type) {
		return ""
	}
	var content struct {
		Link string `json:"link"`
	}
	_ = json.Unmarshal(m.Content, &content) // one that cannot be read has no link
	return content.Link
}

// EmitReceived emits message.received for an inbound message, in its callback's envelope.
func (p Publisher) EmitReceived(tx *storage.Tx, a storage.Account, t storage.Thread, m storage.Message, envelope []byte) error {
	received := event.Received{Message: m, Thread: t, MediaURL: p.MediaURL(m)}
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

// EmitSent emits message.sent for a message that the provider accepted, or that
// was sent from the business's phone.
func (p Publisher) EmitSent(tx *storage.Tx, a storage.Account, m storage.Message) error {
	at := cmp.Or(m.SentAt, tx.Now) // what was sent from the phone has a time of its own

	return event.MessageSent(SubjectOf(a), m, at, p.MediaURL(m)).Emit(tx)
}

// SubjectOf is the subject of an account's events.
func SubjectOf(a storage.Account) event.Subject {
	return event.Subject{Organization: a.OrganizationID, Account: a.ID, PhoneNumberID: *a.PhoneNumberID}
}

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
		first, err = tx.MarkSent(&m, "")
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
