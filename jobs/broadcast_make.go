package jobs

import (
	"cmp"
	"encoding/json"

	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/storage"
)

// messageMaker makes the messages of a broadcast inside of one transaction.
type messageMaker struct {
	w *Workers
	recipientRules
}

// isQuotaLeft reports whether the plan of an organization allows another message this month.
func (w *Workers) isQuotaLeft(tx *storage.Tx, organization int64) (bool, error) {
	if len(w.MonthlyMessages) == 0 {
		return true, nil
	}
	org, err := tx.OrganizationByID(organization)
	quota := int64(w.MonthlyMessages[org.Plan])
	if err != nil || quota <= 0 {
		return err == nil, err
	}
	used, err := tx.MessagesThisMonth(organization)
	return used < quota, err
}

// makeSome makes the messages of recipients, as many as a transaction should. It returns up to
// which it came, and false if the quota was used up.
func (m *messageMaker) makeSome(tx *storage.Tx, to []storage.BroadcastRecipient) (position int64, quota bool, err error) {
	position = m.b.Position
	for _, r := range to {
		if tx.Full() {
			break
		}
		if left, err := m.w.isQuotaLeft(tx, m.sender.OrganizationID); err != nil || !left {
			return position, false, err
		}
		if err := m.makeMessage(tx, r); err != nil {
			return position, false, err
		}
		position = r.Number
	}
	return position, true, nil
}

// makeMessage makes the message of a recipient and its job, or says why there is none.
func (m *messageMaker) makeMessage(tx *storage.Tx, r storage.BroadcastRecipient) error {
	if r.Status != storage.RecipientWaiting || r.MessageID != nil {
		return nil // it was skipped before
	}

	d, err := m.decide(&tx.Rx, r, func(contact string) (bool, error) { return tx.HasBroadcastMessage(m.b.Number, contact) })
	if err != nil {
		return err
	}
	if d.skipped != "" {
		return tx.SkipRecipient(m.b.Number, r.Number, d.skipped)
	}
	return m.store(tx, r, d)
}

// store stores a message with the contact and the conversation that it needs, and its job.
func (m *messageMaker) store(tx *storage.Tx, r storage.BroadcastRecipient, d decision) error {
	to := d.to
	if d.isNew {
		if err := tx.InsertContact(&to.Contact); err != nil {
			return err
		}
		if err := event.ContactCreated(messaging.SubjectOf(m.sender.Account), to.Contact).Emit(tx); err != nil {
			return err
		}
	}
	if err := tx.EnsureResolvedThread(&to); err != nil {
		return err
	}

	message := m.message(r, to, d.content, d.body)
	if err := tx.InsertMessage(&message); err != nil {
		return err
	}
	made, err := tx.MarkRecipientMade(m.b.Number, r.Number, to.ID, message.ID)
	if err == nil && !made {
		err = storage.ErrConflict // the whole step is undone
	}
	if err != nil {
		return err
	}

	tx.CountMessage(m.sender.OrganizationID)
	return m.w.enqueueToRecipient(tx, message, d.content)
}

// message is the message of a recipient, to the number that was given or else to the contact.
func (m *messageMaker) message(r storage.BroadcastRecipient, to storage.Thread, content json.RawMessage, body *string) storage.Message {
	message := storage.Message{
		AccountID:       m.b.AccountID,
		Direction:       storage.Outbound,
		Type:            "template",
		Status:          storage.MessageQueued,
		Source:          storage.SourceBroadcast,
		Content:         storage.JSON(content),
		Body:            body,
		AccountPhone:    m.sender.PhoneNumber,
		AccountNumberID: m.sender.PhoneNumberID,
		Broadcast:       &m.b.Number,
		RecipientNumber: &r.Number,
	}
	message.SetThread(to)

	if message.PhoneNumber = r.PhoneNumber; r.PhoneNumber == nil {
		addressTo(&message, to)
	}
	return message
}

// addressTo addresses a message to a contact: by its number, or else by what is known of it.
func addressTo(m *storage.Message, to storage.Thread) {
	if m.PhoneNumber = to.PhoneNumber; m.PhoneNumber == nil {
		m.Recipient = cmp.Or(to.BSUID, to.ParentBSUID)
	}
}
