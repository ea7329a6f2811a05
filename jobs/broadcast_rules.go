package jobs

import (
	"encoding/json"
	"errors"

	"confab/jobs/mergefield"
	"confab/jobs/messaging"
	"confab/storage"
)

// recipientRules decide who gets a message of a broadcast, and which. The run asks them and
// the forecast too, so that what is promised is what happens.
type recipientRules struct {
	b         storage.Broadcast
	sender    storage.Sender
	marketing bool
	template  *mergefield.Template
}

// newRecipientRules reads what is the same for all recipients of a broadcast. The error is
// ErrNotFound if the account is gone, and the broadcast goes with it.
func newRecipientRules(rx *storage.Rx, b storage.Broadcast) (rules recipientRules, err error) {
	rules.b = b
	if rules.sender, err = rx.Sender(b.AccountID); err != nil {
		return rules, err
	}

	if rules.marketing, err = isMarketing(rx, b.AccountID, b.TemplateName, b.TemplateLanguage); err != nil {
		return rules, err
	}
	rules.template, err = mergefield.Parse(b.Content, b.Body)
	return rules, err
}

// isMarketing reports whether a template is one; one that is gone is for the provider to refuse.
func isMarketing(rx *storage.Rx, account int64, name, language string) (bool, error) {
	t, err := rx.Template(account, name, language)
	return messaging.IsMarketing(t), storage.IgnoreNotFound(err)
}

// decision is what a recipient gets, or why it gets nothing.
type decision struct {
	to      storage.Thread
	isNew   bool // the contact is not stored yet
	content json.RawMessage
	body    *string
	skipped string // why; "" for a message
}

// decide decides about a recipient who waits. hasMessage reports whether a contact has a message
// of the broadcast already, under another of its numbers.
func (rules *recipientRules) decide(
	rx *storage.Rx, r storage.BroadcastRecipient, hasMessage func(contact string) (bool, error),
) (d decision, err error) {
	if d.to, d.isNew, err = rules.findThread(rx, r); errors.Is(err, storage.ErrNotFound) {
		return decision{skipped: storage.SkippedContactDeleted}, nil
	}
	if err != nil {
		return d, err
	}

	if refused := messaging.RefusalFor(rules.sender, d.to.Contact, rules.marketing); refused != nil {
		d.skipped = string(refused.Code)
		return d, nil
	}
	if !d.isNew {
		twice, err := hasMessage(d.to.ID)
		if err != nil || twice {
			d.skipped = storage.SkippedDuplicate
			return d, err
		}
	}
	return d, rules.fill(r, &d)
}

// findThread finds whom a recipient is, or returns a new contact that is not stored yet. The
// error is ErrNotFound for a contact that is gone.
func (rules *recipientRules) findThread(rx *storage.Rx, r storage.BroadcastRecipient) (t storage.Thread, isNew bool, err error) {
	switch {
	case r.ContactID != nil:
		t, err = rx.Thread(rules.b.AccountID, *r.ContactID)
		return t, false, err
	case r.PhoneNumber == nil:
		return t, false, storage.ErrNotFound // blanked
	}

	t, err = rx.ThreadByPhone(rules.b.AccountID, *r.PhoneNumber)
	if errors.Is(err, storage.ErrNotFound) {
		t = storage.Thread{Contact: storage.Contact{AccountID: rules.b.AccountID, PhoneNumber: r.PhoneNumber}}
		return t, true, nil
	}
	return t, false, err
}

// fill fills in the template for a recipient, or says why that is not possible.
func (rules *recipientRules) fill(r storage.BroadcastRecipient, d *decision) error {
	values, err := mergefield.Of(r, d.to.Contact)
	if err != nil {
		return err
	}

	d.content, d.body, err = rules.template.Fill(values)
	switch {
	case errors.Is(err, mergefield.ErrMissing):
		d.skipped = storage.SkippedMissingParameter
		return nil
	case errors.Is(err, mergefield.ErrInvalid):
		d.skipped = storage.SkippedInvalidParameter
		return nil
	}
	return err
}
