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
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Code != provider.NoCode {
		return failureOf(e.Fault, class)
	}
	return Failure{Code: class.Code, Text: Unreachable.Text, Effect: class.Effect}
}

// failureOf is what a fault that the provider reports means for a message.
func failureOf(fault provider.Fault, class provider.Class) Failure {
	text := cmp.Or(fault.Details, fault.Message, fault.Title, noReason.Message)
	f := Failure{Code: class.Code, Text: text, Effect: class.Effect, fault: fault}
	if fault.Code != provider.NoCode {
		f.ProviderCode = &fault.Code
	}
	return f
}

// event is the failure as its event shows it. The provider's texts are used where
// there are any, in the form that they have in callbacks: without the code that
// the message of an answer begins with.
func (f Failure) event() event.Failure {
	shown := event.Failure{Code: provider.CodeSomethingWrong, Subcode: f.fault.Subcode, TraceID: f.fault.TraceID, Href: f.fault.Href}
	switch {
	case f.Own:
		shown.Code = -1
	case f.ProviderCode != nil:
		shown.Code = *f.ProviderCode
	}

	said := strings.TrimPrefix(f.fault.Message, fmt.Sprintf("(#%d) ", shown.Code))
	shown.Title, shown.Message = cmp.Or(f.fault.Title, said, f.Text), cmp.Or(said, f.Text)
	shown.Data.Details = cmp.Or(f.fault.Details, f.Text)
	return shown
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

	failed, err := event.MessageFailed(SubjectOf(s.Account), s.Account, m, tx.Now, f.event())
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
		return tx.SetRestricted(account, true)
	case provider.Cooldown:
		return tx.SetCooldown(account, tx.Now.Add(MaxCooldown))
	}
	return nil
}

// Refusal is why an account may not send just now, or not to somebody.
type Refusal struct {
	Code errorcode.Code `json:"code"`
	Text string         `json:"message"`
}

// Failure is a refusal as what ends a message.
func (r Refusal) Failure() Failure { return Failure{Code: r.Code, Text: r.Text, Own: true} }

// RefusalOf says why an account may not send, or nil. It is asked when a message
// is accepted and again before it is sent.
func RefusalOf(s storage.Sender) *Refusal {
	switch {
	case s.SuspendedAt != 0:
		return &Refusal{errorcode.OrganizationSuspended, "The organization is suspended."}
	case s.Subscription == storage.SubscriptionInactive:
		return &Refusal{errorcode.SubscriptionInactive, "The organization's subscription is inactive."}
	case s.CustomerStatus != nil && (*s.CustomerStatus == storage.CustomerSuspended || *s.CustomerStatus == storage.CustomerArchived):
		return &Refusal{errorcode.CustomerSuspended, "The customer that owns this number is " + *s.CustomerStatus + "."}
	case s.Restricted:
		return &Refusal{errorcode.AccountRestricted, "The provider has restricted this account."}
	case s.Status == storage.AccountOnboarding:
		return &Refusal{errorcode.NumberNotVerified, "The provider has not approved this number yet."}
	case s.Status != storage.AccountConnected:
		return &Refusal{errorcode.UpstreamError, "The account is " + s.Status + "."}
	}
	return nil
}

// ReceiptRefusalOf says why an account may not send read receipts, or nil. They cost
// nothing, and the provider takes them from a restricted account too.
func ReceiptRefusalOf(s storage.Sender) *Refusal {
	s.Subscription, s.Restricted = storage.SubscriptionActive, false
	return RefusalOf(s)
}

// RefusalFor says why a template may not be sent to somebody, or nil. Like RefusalOf it
// is asked when a message is accepted and again before it is sent.
func RefusalFor(s storage.Sender, to storage.Contact, marketing bool) *Refusal {
	switch {
	case marketing && to.MarketingOptedOut:
		return &Refusal{errorcode.MarketingOptedOut, "The recipient has opted out of marketing messages."}
	case s.RequireOptIn && !to.OptedIn:
		return &Refusal{errorcode.ConsentRequired, "The recipient has not opted in."}
	}
	return nil
}

// IsMarketing reports whether a template is one, as far as is known.
func IsMarketing(t storage.Template) bool { return strings.EqualFold(t.Category, "MARKETING") }
