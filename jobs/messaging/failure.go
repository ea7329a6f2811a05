package messaging

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

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
