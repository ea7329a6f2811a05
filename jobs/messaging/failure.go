package messaging

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"confab/jobs/errorcode"
	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// Failure is why a message failed.
type Failure struct {
	Code         errorcode.Code
	Text         string
	Own          bool // our refusal, not the provider's
	ProviderCode *int
	Effect       provider.Effect // what it means for the account or the contact

	fault provider.Fault // the provider's answer, if there was one
}

// Unreachable is the failure to which the provider gave no answer.
var Unreachable = Failure{Code: errorcode.UpstreamError, Text: "The provider could not be reached."}

// noReason is the fault of a failure for which the provider gave none.
var noReason = provider.Fault{Code: provider.NoCode, Message: "The provider gave no reason."}

// FailureOf is what an error of the provider means for a message.
func FailureOf(err error) Failure {
	class := provider.ClassOf(err)

	f := Failure{Code: class.Code, Text: Unreachable.Text, Effect: class.Effect}
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Code != provider.NoCode {
		f.ProviderCode, f.Text, f.fault = &e.Code, cmp.Or(e.Details, e.Message, e.Title, noReason.Message), e.Fault
	}
	return f
}

// event is the failure as its event shows it. The provider's texts are used where
// there are any, in the form that they have in callbacks: without the code that
// the message of an answer begins with.
func (f Failure) event(s storage.Sender, at storage.Time) event.Failure {
	said := strings.TrimPrefix(f.fault.Message, fmt.Sprintf("(#%d) ", f.eventCode()))
	return event.Failure{
		Code:    f.eventCode(),
		Title:   cmp.Or(f.fault.Title, said, f.Text),
		Message: cmp.Or(said, f.Text),
		Details: cmp.Or(f.fault.Details, f.Text),
		Subcode: f.fault.Subcode,
		TraceID: f.fault.TraceID,
		Href:    f.fault.Href,
		At:      at,
		WABAID:  storage.OrEmpty(s.WABAID),
		Phone:   strings.TrimPrefix(storage.OrEmpty(s.PhoneNumber), "+"),
	}
}

// Codes in the event of a failure for which the provider gave none.
const (
	ownRefusal   = -1
	providerDown = provider.CodeSomethingWrong
)

// eventCode is the code in a failure's event.
func (f Failure) eventCode() int {
	switch {
	case f.Own:
		return ownRefusal
	case f.ProviderCode != nil:
		return *f.ProviderCode
	default:
		return providerDown
	}
}

// FailMessage marks a message as failed that the provider did not accept, and emits
// the event, because no callback will come about it.
func FailMessage(tx *storage.Tx, s storage.Sender, message string, f Failure) error {
	m, err := tx.OutboundMessage(s.ID, message)
	if err != nil || m.ProviderID != nil || m.Status == storage.MessageFailed {
		return storage.IgnoreNotFound(err) // deleted, or a callback came first
	}

	if err := tx.MarkFailed(&m, string(f.Code), f.Text, f.ProviderCode); err != nil {
		return err
	}
	if err := ApplyEffect(tx, m, f); err != nil {
		return err
	}

	failed, err := event.MessageFailed(SubjectOf(s.Account), m, f.event(s, tx.Now))
	if err != nil {
		return err
	}
	return failed.Emit(tx)
}

// MaxCooldown is how long an account cools down after it met a rate limit of the
// provider, and how long a message waits for that.
const MaxCooldown = 15 * time.Minute

// IsCoolingDown reports whether a cooldown lasts that ends at a time. One that ends later than
// any can was set while the clock was ahead, and is over.
func IsCoolingDown(until, now storage.Time) bool {
	left := until.Sub(now)
	return 0 < left && left <= MaxCooldown
}

// ApplyEffect changes the account or the contact as the code of a failed message
// demands. It does not mark accounts as restricted: the provider reports that in
// a callback of its own, which also says when it ends.
func ApplyEffect(tx *storage.Tx, m storage.Message, f Failure) error {
	switch f.Effect {
	case provider.OptOut:
		return optOut(tx, m)
	case provider.Restricted:
		return nil
	}
	return ApplyAccountEffect(tx, m.AccountID, f.Effect, f.Text)
}

// ApplyAccountEffect changes an account as a code of the provider demands.
func ApplyAccountEffect(tx *storage.Tx, account int64, effect provider.Effect, why string) error {
	switch effect {
	case provider.Degraded:
		return tx.MarkDegraded(account, why)
	case provider.Disconnected:
		return tx.MarkAccountStatus(account, storage.AccountDisconnected, why)
	case provider.Restricted:
		return tx.MarkRestricted(account)
	case provider.Cooldown:
		return tx.SetCooldown(account, tx.Now.Add(MaxCooldown))
	}
	return nil
}
