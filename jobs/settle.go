package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

// Settle records that the provider accepted a message, with the provider's id, and
// emits message.sent. The answer to the send call and the first status callback
// both lead here: the second of them changes nothing.
func (h Host) Settle(tx *storage.Tx, message, providerID string) error {
	m, err := tx.OutboundMessage(message)
	if err != nil {
		return ignoreMissing(err)
	}

	s, err := tx.Sender(m.AccountID)
	if err != nil {
		return ignoreMissing(err) // the account is gone, so there is nobody to notify
	}
	return h.markAccepted(tx, s.Account, m, providerID)
}

// markAccepted is Settle for a message that was read before the call. It is not
// read again, because every send comes here: MarkSent checks and updates what may
// have changed meanwhile.
func (h Host) markAccepted(tx *storage.Tx, a storage.Account, m storage.Message, providerID string) error {
	// On a conflict, the provider gave the same id to two messages. It has accepted
	// both: to send this one again would be worse than to store it without an id.
	err := tx.MarkSent(&m, providerID)
	if errors.Is(err, storage.ErrConflict) {
		err = tx.MarkSentUnnamed(&m)
	}
	if err != nil {
		return ignoreMissing(err)
	}

	// A message that was given up before stays failed, as its event said.
	if m.Status != storage.MessageFailed {
		if err := h.emitSent(tx, a, m); err != nil {
			return err
		}
	}

	if m.ProviderID == nil {
		return nil
	}
	return ApplyParked(tx, a, &m)
}

// emitSent emits message.sent for a message that the provider accepted, or that
// was sent from the business's phone.
func (h Host) emitSent(tx *storage.Tx, a storage.Account, m storage.Message) error {
	at := tx.Now
	if m.SentAt != 0 { // sent from the phone
		at = m.SentAt
	}

	sent := event.Sent{At: at, Body: m.Body, ConversationStatus: m.ConversationStatus, MediaURL: h.LinkOf(m)}
	return event.MessageSent(SubjectOf(a), m, sent).Emit(tx)
}

// SubjectOf is the subject of an account's events.
func SubjectOf(a storage.Account) event.Subject {
	return event.Subject{Organization: a.OrganizationID, Account: a.ID, PhoneNumberID: *a.PhoneNumberID}
}

// failure is why a message failed.
type failure struct {
	code         string // our error.code
	text         string
	own          bool // our refusal, not the provider's
	providerCode *int
	effect       provider.Effect // what it means for the account or the contact
	fault        provider.Fault  // the provider's answer, if there was one
}

// unreachable is the text of a failure without an answer of the provider.
const unreachable = "The provider could not be reached."

// failureOf is what an error of the provider means for a message.
func failureOf(err error) failure {
	class := provider.ClassOf(err)

	f := failure{code: class.Code, text: unreachable, effect: class.Effect}
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Code != provider.NoCode {
		f.providerCode, f.text, f.fault = &e.Code, cmp.Or(e.Details, e.Message, e.Title, noReason.Message), e.Fault
	}
	return f
}

// event is the failure as its event shows it. The provider's texts are used where
// there are any, in the form that they have in callbacks: without the code that
// the message of an answer begins with.
func (f failure) event(s storage.Sender, at storage.Time) event.Failure {
	said := strings.TrimPrefix(f.fault.Message, fmt.Sprintf("(#%d) ", f.eventCode()))
	return event.Failure{
		Code:    f.eventCode(),
		Title:   cmp.Or(f.fault.Title, said, f.text),
		Message: cmp.Or(said, f.text),
		Details: cmp.Or(f.fault.Details, f.text),
		Subcode: f.fault.Subcode,
		TraceID: f.fault.TraceID,
		Href:    f.fault.Href,
		At:      at,
		WABAID:  orEmpty(s.WABAID),
		Phone:   strings.TrimPrefix(orEmpty(s.PhoneNumber), "+"),
	}
}

// Codes in the event of a failure for which the provider gave none.
const (
	ownRefusal   = -1
	providerDown = provider.CodeSomethingWrong
)

// eventCode is the code in a failure's event.
func (f failure) eventCode() int {
	switch {
	case f.own:
		return ownRefusal
	case f.providerCode != nil:
		return *f.providerCode
	default:
		return providerDown
	}
}

// giveUpMessage marks a message as failed that cannot be tried any more. If its
// account is gone, there is no event.
func giveUpMessage(id, why string) queue.Commit {
	return func(tx *storage.Tx) error {
		m, err := tx.OutboundMessage(id)
		if err != nil || m.ProviderID != nil || m.Status == storage.MessageFailed {
			return ignoreMissing(err)
		}

		s, err := tx.Sender(m.AccountID)
		if errors.Is(err, storage.ErrNotFound) {
			return tx.MarkFailed(&m, UpstreamError, why, nil)
		}
		if err != nil {
			return err
		}
		return failMessage(outgoing{message: m, sender: s}, failure{code: UpstreamError, text: why, own: true})(tx)
	}
}

// failMessage marks a message as failed that the provider did not accept, and
// emits the event, because no callback will come about it.
func failMessage(out outgoing, f failure) queue.Commit {
	return func(tx *storage.Tx) error {
		m, err := tx.OutboundMessage(out.message.ID)
		if err != nil || m.ProviderID != nil || m.Status == storage.MessageFailed {
			return ignoreMissing(err) // deleted, or a callback came first
		}

		if err := tx.MarkFailed(&m, f.code, f.text, f.providerCode); err != nil {
			return err
		}
		if err := applyEffect(tx, m, f); err != nil {
			return err
		}

		failed, err := event.MessageFailed(SubjectOf(out.sender.Account), m, f.event(out.sender, tx.Now))
		if err != nil {
			return err
		}
		return failed.Emit(tx)
	}
}

// applyEffect changes the account or the contact as the code of a failed message
// demands. It does not mark accounts as restricted: the provider reports that in
// a callback of its own, which also says when it ends.
func applyEffect(tx *storage.Tx, m storage.Message, f failure) error {
	switch f.effect {
	case provider.OptOut:
		return tx.MarkOptedOut(m.ContactID)
	case provider.Restricted:
		return nil
	}
	return markAccount(tx, m.AccountID, f.effect, f.text)
}

// markAccount changes an account as a code of the provider demands.
func markAccount(tx *storage.Tx, account int64, effect provider.Effect, why string) error {
	switch effect {
	case provider.Degraded:
		return tx.MarkDegraded(account, why)
	case provider.Disconnected:
		return tx.MarkAccount(account, storage.AccountDisconnected, why)
	case provider.Restricted:
		return tx.MarkRestricted(account)
	case provider.Cooldown:
		return tx.CoolDown(account, tx.Now.Add(maxCooldown))
	}
	return nil
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// ignoreMissing turns ErrNotFound into success: what was deleted meanwhile needs
// no further work.
func ignoreMissing(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}
