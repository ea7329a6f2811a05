package jobs

import (
	"encoding/json"
	"errors"

	"confab/jobs/event"
	"confab/jobs/mergefield"
	"confab/jobs/messaging"
	"confab/storage"
)

// messageMaker makes the messages of a broadcast inside of one transaction.
type messageMaker struct {
	w         *Workers
	b         storage.Broadcast
	sender    storage.Sender
	marketing bool
	template  *mergefield.Template
	quota     int64 // of the organization's plan; 0 for none
}

// newMessageMaker reads what all messages of a broadcast need. The reason says why none can
// be made just now, "" if they can.
func (w *Workers) newMessageMaker(tx *storage.Tx, b storage.Broadcast) (m messageMaker, reason string, err error) {
	m = messageMaker{w: w, b: b}
	if m.sender, err = tx.Sender(b.AccountID); err != nil {
		return m, "", err // the account is gone, and the broadcast goes with it
	}
	if reason := concernsAll(tx, m.sender); reason != "" {
		return m, reason, nil
	}

	// A template that is not known any more is for the provider to refuse.
	t, err := tx.Template(b.AccountID, b.TemplateName, b.TemplateLanguage)
	if storage.IgnoreNotFound(err) != nil {
		return m, "", err
	}
	m.marketing = messaging.IsMarketing(t)

	if m.template, err = mergefield.Parse(b.Content, b.Body); err != nil {
		return m, "", err
	}
	if len(w.MonthlyMessages) > 0 {
		org, err := tx.OrganizationByID(m.sender.OrganizationID)
		if err != nil {
			return m, "", err
		}
		m.quota = int64(w.MonthlyMessages[org.Plan])
	}
	return m, "", nil
}

// quotaLeft reports whether the plan allows another message.
func (m *messageMaker) quotaLeft(tx *storage.Tx) (bool, error) {
	if m.quota <= 0 {
		return true, nil
	}
	used, err := tx.MessagesThisMonth(m.sender.OrganizationID)
	return used < m.quota, err
}

// makeSome makes the messages of recipients, as many as a transaction should. It returns up to
// which it came, and false if the quota was used up.
func (m *messageMaker) makeSome(tx *storage.Tx, to []storage.BroadcastRecipient) (position int64, quota bool, err error) {
	position = m.b.Position
	for _, r := range to {
		if tx.Full() {
			break
		}
		if quota, err := m.quotaLeft(tx); err != nil || !quota {
			return position, false, err
		}
		if err := m.makeMessage(tx, r); err != nil {
			return position, false, err
		}
		position = r.Number
	}
	return position, true, nil
}

// moveTo records how far the broadcast came.
func (m *messageMaker) moveTo(tx *storage.Tx, position int64) error {
	if position == m.b.Position {
		return nil
	}
	return tx.MovePosition(m.b.Number, m.b.Position, position)
}

// makeMessage makes the message of a recipient and its job, or says why there is none.
func (m *messageMaker) makeMessage(tx *storage.Tx, r storage.BroadcastRecipient) error {
	if r.Status != storage.RecipientWaiting || r.MessageID != nil {
		return nil // it was skipped before
	}

	to, isNew, err := m.findThread(tx, r)
	if errors.Is(err, storage.ErrNotFound) {
		return tx.SkipRecipient(m.b.Number, r.Number, storage.SkippedContactDeleted)
	}
	if err != nil {
		return err
	}

	content, body, skipped, err := m.fill(tx, r, to, isNew)
	if err != nil {
		return err
	}
	if skipped != "" {
		return tx.SkipRecipient(m.b.Number, r.Number, skipped)
	}
	return m.store(tx, r, to, isNew, content, body)
}

// findThread finds whom a recipient is, or returns a new contact that is not stored yet. The
// error is ErrNotFound for a contact that is gone.
func (m *messageMaker) findThread(tx *storage.Tx, r storage.BroadcastRecipient) (t storage.Thread, isNew bool, err error) {
	switch {
	case r.ContactID != nil:
		t, err = tx.Thread(m.b.AccountID, *r.ContactID)
		return t, false, err
	case r.PhoneNumber == nil:
		return t, false, storage.ErrNotFound // blanked
	}

	t, err = tx.ThreadByPhone(m.b.AccountID, *r.PhoneNumber)
	if errors.Is(err, storage.ErrNotFound) {
		t = storage.Thread{Contact: storage.Contact{AccountID: m.b.AccountID, PhoneNumber: r.PhoneNumber}}
		return t, true, nil
	}
	return t, false, err
}

// fill checks whether a recipient may be sent to, and fills in the template for it. skipped
// says why it gets none.
func (m *messageMaker) fill(
	tx *storage.Tx, r storage.BroadcastRecipient, to storage.Thread, isNew bool,
) (content json.RawMessage, body *string, skipped string, err error) {
	if refused := messaging.RefusalFor(m.sender, to.Contact, m.marketing); refused != nil {
		return nil, nil, string(refused.Code), nil
	}

	if !isNew {
		twice, err := tx.HasBroadcastMessage(m.b.Number, to.ID)
		if err != nil || twice {
			return nil, nil, storage.SkippedDuplicate, err
		}
	}

	values, err := mergefield.Of(r, to.Contact)
	if err != nil {
		return nil, nil, "", err
	}
	content, body, err = m.template.Fill(values)
	switch {
	case errors.Is(err, mergefield.ErrMissing):
		return nil, nil, storage.SkippedMissingParameter, nil
	case errors.Is(err, mergefield.ErrInvalid):
		return nil, nil, storage.SkippedInvalidParameter, nil
	}
	return content, body, "", err
}

// store stores a message with the contact and the conversation that it needs, and its job.
func (m *messageMaker) store(
	tx *storage.Tx, r storage.BroadcastRecipient, to storage.Thread, isNew bool, content json.RawMessage, body *string,
) error {
	if isNew {
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

	message := m.message(r, to, content, body)
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
	return m.w.enqueueToRecipient(tx, message, content)
}

// message is the message of a recipient. It goes to the number that was given, or else to
// the contact by its own.
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

	switch {
	case r.PhoneNumber != nil:
		message.PhoneNumber = r.PhoneNumber
	case to.PhoneNumber != nil:
		message.PhoneNumber = to.PhoneNumber
	case to.BSUID != nil:
		message.Recipient = to.BSUID
	default:
		message.Recipient = to.ParentBSUID
	}
	return message
}
