package messaging

import (
	"strings"

	"confab/jobs/errorcode"
	"confab/storage"
)

// Refusal is why an account may not send just now, or not to somebody.
type Refusal struct {
	Code errorcode.Code
	Text string
}

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
