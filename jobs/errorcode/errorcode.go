// Package errorcode names the values of error.code that a message can fail with. They
// are permanent: clients branch on them, they are stored with the message, and the API
// describes each of them. Some are also the answer to a request, which app/api lists.
package errorcode

// Code is a value of error.code.
type Code string

// Refusals of our own: why an account may not send just now, or not to somebody.
const (
	ConsentRequired       Code = "consent_required"
	ConversationHeld      Code = "conversation_held" // a bot may not write while somebody else holds it
	CustomerSuspended     Code = "customer_suspended"
	MarketingOptedOut     Code = "marketing_opted_out"
	NumberNotVerified     Code = "whatsapp_number_not_verified"
	OrganizationSuspended Code = "organization_suspended"
	QuotaExceeded         Code = "quota_exceeded"
	SubscriptionInactive  Code = "subscription_inactive"
)

// Decisions of people: a message is not sent any more.
const (
	BroadcastCancelled Code = "broadcast_cancelled" // the one that the message belongs to
	MessageCancelled   Code = "message_cancelled"
	MessageOverdue     Code = "message_overdue" // it was due before a backup was restored
)

// What the codes of the provider mean. Some of them are also refusals of our own: of an
// account that the provider has restricted or rate limited before.
const (
	AccountLocked           Code = "account_locked"
	AccountRateLimited      Code = "account_rate_limited"
	AccountRestricted       Code = "account_restricted"
	AppRateLimited          Code = "app_rate_limited"
	AuthExpired             Code = "auth_expired"
	FlowBlocked             Code = "flow_blocked"
	MarketingBlocked        Code = "marketing_blocked_by_user"
	MediaDownloadFailed     Code = "media_download_failed"
	MediaUploadFailed       Code = "media_upload_failed"
	OutsideWindow           Code = "outside_24h_window"
	PermissionRevoked       Code = "permission_revoked"
	PolicyViolation         Code = "policy_violation"
	RecipientUnavailable    Code = "recipient_unavailable"
	RegistrationFailed      Code = "whatsapp_registration_failed"
	TemplateNotFound        Code = "template_not_found"
	TemplatePaused          Code = "template_paused"
	TemplatePolicyViolation Code = "template_policy_violation"
	Undeliverable           Code = "undeliverable"
	UnsupportedMessageType  Code = "unsupported_message_type"
	UpstreamError           Code = "upstream_error" // any other failure
)
