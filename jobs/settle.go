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

// Settle records that the provider has a message, under which id, and tells of
// it. The answer to the call and the first status callback race for it: whoever
// comes second finds it done.
func (h Host) Settle(tx *storage.Tx, message, providerID string) error {
	m, err := tx.OutboundMessage(message)
	if err != nil {
		return ignoreMissing(err)
	}
	s, err := tx.Sender(m.AccountID)
	if err != nil {
		return ignoreMissing(err) // the account is gone, and with it whoever would hear of it
	}
	return h.settle(tx, s.Account, m, providerID)
}

// settle is Settle for a message that was read before: of what may have changed
// since then MarkSent tells, because every send comes through here.
func (h Host) settle(tx *storage.Tx, a storage.Account, m storage.Message, providerID string) error {
	err := tx.MarkSent(&m, providerID)
	if errors.Is(err, storage.ErrConflict) {
		// The provider gave the same id twice. It has the message all the same,
		// and sending it again would be worse than not knowing its name.
		err = tx.MarkSentUnnamed(&m)
	}
	if err != nil {
		return ignoreMissing(err)
	}
	if m.Status != storage.MessageFailed { // given up already, which is the end of it
		if err := h.tellSent(tx, a, m); err != nil {
			return err
		}
	}
	if m.ProviderID == nil {
		return nil
	}
	return ApplyParked(tx, a, &m)
}

// tellSent tells that the provider has a message.
func (h Host) tellSent(tx *storage.Tx, a storage.Account, m storage.Message) error {
	at := tx.Now
	if m.SentAt != 0 { // from the phone
		at = m.SentAt
	}
	sent := event.Sent{At: at, Body: m.Body, ConversationStatus: m.ConversationStatus, MediaURL: h.LinkOf(m)}
	return event.MessageSent(SubjectOf(a), m, sent).Emit(tx)
}

// SubjectOf is whom an account's events concern.
func SubjectOf(a storage.Account) event.Subject {
	return event.Subject{Organization: a.OrganizationID, Account: a.ID, PhoneNumberID: *a.PhoneNumberID}
}

// failure is why a message ends as failed.
type failure struct {
	code         string // our error.code
	text         string
	own          bool // our refusal, not the provider's
	providerCode *int
	effect       provider.Effect
	fault        provider.Fault // what the provider said, if it did
}

// unreachable is all that can be told where the provider gave no reason.
const unreachable = "The provider could not be reached."

// failureOf is what an error of the provider means for a message.
func failureOf(err error) failure {
	class := provider.ClassOf(err)
	f := failure{code: class.Code, text: unreachable, effect: class.Effect}
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Code != provider.NoCode {
		f.providerCode, f.text, f.fault = &e.Code, cmp.Or(e.Details, e.Message, e.Title, unexplained.Message), e.Fault
	}
	return f
}

// event is what the event of a failure says, in the provider's words where it
// had some: as a callback would have them, without the code that an answer's
// message begins with.
func (f failure) event(s storage.Sender, at storage.Time) event.Failure {
	said := strings.TrimPrefix(f.fault.Message, fmt.Sprintf("(#%d) ", f.eventCode()))
	return event.Failure{
		Code: f.eventCode(), Title: cmp.Or(f.fault.Title, said, f.text), Message: cmp.Or(said, f.text),
		Details: cmp.Or(f.fault.Details, f.text), Subcode: f.fault.Subcode, TraceID: f.fault.TraceID, Href: f.fault.Href, At: at,
		WABAID: text(s.WABAID), Phone: strings.TrimPrefix(text(s.PhoneNumber), "+"),
	}
}

// Codes that a synthesized failure tells where the provider gave none.
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

// giveUpMessage ends a message that cannot even be tried any more. Nobody is told
// by event where the account is gone.
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
		return failing(outgoing{message: m, sender: s}, failure{code: UpstreamError, text: why, own: true})(tx)
	}
}

// failing ends a message that never got to the provider, with the event that no
// callback will bring.
func failing(out outgoing, f failure) queue.Commit {
	return func(tx *storage.Tx) error {
		m, err := tx.OutboundMessage(out.message.ID)
		if err != nil || m.ProviderID != nil || m.Status == storage.MessageFailed {
			return ignoreMissing(err) // deleted, or a callback told otherwise
		}
		if err := tx.MarkFailed(&m, f.code, f.text, f.providerCode); err != nil {
			return err
		}
		if err := applyEffect(tx, m, f); err != nil {
			return err
		}
		told, err := event.MessageFailed(SubjectOf(out.sender.Account), m, f.event(out.sender, tx.Now))
		if err != nil {
			return err
		}
		return told.Emit(tx)
	}
}

// applyEffect does to the account or the contact what the code of a message
// that failed means. It restricts no account: that the provider reports in a
// callback of its own, which says when it ends as well.
func applyEffect(tx *storage.Tx, m storage.Message, f failure) error {
	switch f.effect {
	case provider.OptOut:
		return tx.MarkOptedOut(m.ContactID)
	case provider.Restricted:
		return nil
	}
	return markAccount(tx, m.AccountID, f.effect, f.text)
}

// markAccount does to an account what a provider's code means for it.
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

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// ignoreMissing takes a message that was deleted meanwhile for settled.
func ignoreMissing(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}
