package messaging

import (
	"confab/jobs/errorcode"
	"confab/storage"
)

// Refusal is why an account may not send just now.
type Refusal struct {
	Code errorcode.Code
	Text string
}

// RefusalOf tells why an account may not send, or nil. It is asked when a message
// is accepted and again when its turn comes.
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
