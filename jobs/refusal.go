package jobs

import "confab/storage"

// Refusal is why an account may not send just now.
type Refusal struct {
	Code string // an error code of the API
	Text string
}

// Codes of refusals.
const (
	SubscriptionInactive  = "subscription_inactive"
	OrganizationSuspended = "organization_suspended"
	CustomerSuspended     = "customer_suspended"
	AccountRestricted     = "account_restricted"
	AccountRateLimited    = "account_rate_limited"
	NumberNotVerified     = "whatsapp_number_not_verified"
	UpstreamError         = "upstream_error"
)

// Refused tells why an account may not send, or nil. It is asked when a message
// is accepted and again when its turn comes.
func Refused(s storage.Sender) *Refusal {
	switch {
	case s.SuspendedAt != 0:
		return &Refusal{OrganizationSuspended, "The organization is suspended."}
	case s.Subscription == storage.SubscriptionInactive:
		return &Refusal{SubscriptionInactive, "The organization's subscription is inactive."}
	case s.CustomerStatus != nil && (*s.CustomerStatus == storage.CustomerSuspended || *s.CustomerStatus == storage.CustomerArchived):
		return &Refusal{CustomerSuspended, "The customer that owns this number is " + *s.CustomerStatus + "."}
	case s.Restricted:
		return &Refusal{AccountRestricted, "The provider has restricted this account."}
	case s.Status == storage.AccountOnboarding:
		return &Refusal{NumberNotVerified, "The provider has not approved this number yet."}
	case s.Status != storage.AccountConnected:
		return &Refusal{UpstreamError, "The account is " + s.Status + "."}
	}
	return nil
}
