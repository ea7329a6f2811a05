package rest

import (
	"net/http"

	"confab/jobs/errorcode"
)

// Code is a permanent, programmatic name of a failure, with the HTTP status and the
// type that it is sent with. Only newCode makes one, so a code without a status or
// a type cannot be written down.
type Code struct {
	Name      string
	Status    int
	ErrorType errorType
}

// String is the name, as clients read it.
func (c Code) String() string { return c.Name }

// ErrorType is the group of a code: what a client may do about it.
type errorType string

const (
	authenticationError errorType = "authentication_error"
	permissionError     errorType = "permission_error"
	invalidRequestError errorType = "invalid_request_error"
	notFoundError       errorType = "not_found"
	conflictError       errorType = "conflict"
	rateLimitError      errorType = "rate_limit_error"
	apiError            errorType = "api_error"
)

// Every failure that the API can express: one line for each. Those that a message can
// also end with have their name in package errorcode.
var (
	MissingAPIKey         = newCode("missing_api_key", http.StatusUnauthorized, authenticationError)
	InvalidAPIKey         = newCode("invalid_api_key", http.StatusUnauthorized, authenticationError)
	RevokedAPIKey         = newCode("revoked_api_key", http.StatusUnauthorized, authenticationError)
	ExpiredAPIKey         = newCode("expired_api_key", http.StatusUnauthorized, authenticationError)
	SessionRequired       = newCode("session_required", http.StatusUnauthorized, authenticationError)  // in the console
	InvalidSignature      = newCode("invalid_signature", http.StatusUnauthorized, authenticationError) // of a provider's callback
	ResourceNotFound      = newCode("resource_not_found", http.StatusNotFound, notFoundError)
	MethodNotAllowed      = newCode("method_not_allowed", http.StatusMethodNotAllowed, invalidRequestError)
	OrganizationSuspended = newCode(errorcode.OrganizationSuspended, http.StatusForbidden, permissionError)
	PermissionDenied      = newCode("permission_denied", http.StatusForbidden, permissionError)      // to an agent, or to a key with limits
	SecondFactorRequired  = newCode("second_factor_required", http.StatusForbidden, permissionError) // in the console
	FeatureNotAvailable   = newCode("feature_not_available", http.StatusForbidden, permissionError)
	FeatureNotEntitled    = newCode("feature_not_entitled", http.StatusPaymentRequired, permissionError)
	RateLimitExceeded     = newCode("rate_limit_exceeded", http.StatusTooManyRequests, rateLimitError)
	RequestTooLarge       = newCode("request_too_large", http.StatusRequestEntityTooLarge, invalidRequestError)
	InvalidJSON           = newCode("invalid_json", http.StatusBadRequest, invalidRequestError)
	IdempotencyInProgress = newCode("idempotency_in_progress", http.StatusConflict, conflictError)
	IdempotencyKeyReuse   = newCode("idempotency_key_reuse", http.StatusUnprocessableEntity, invalidRequestError)
	ContactAlreadyExists  = newCode("contact_already_exists", http.StatusConflict, conflictError)
	ConversationChanged   = newCode("conversation_changed", http.StatusConflict, conflictError)
	ConversationHeld      = newCode(errorcode.ConversationHeld, http.StatusConflict, conflictError)
	MessageNotCancellable = newCode("message_not_cancellable", http.StatusConflict, conflictError)
	BroadcastNotActive    = newCode("broadcast_not_active", http.StatusConflict, conflictError)
	SetupLinkInactive     = newCode("setup_link_inactive", http.StatusConflict, conflictError)
	MissingRequiredField  = newCode("missing_required_field", http.StatusBadRequest, invalidRequestError)
	InvalidFieldValue     = newCode("invalid_field_value", http.StatusBadRequest, invalidRequestError)
	InvalidPhoneNumber    = newCode("invalid_phone_number", http.StatusBadRequest, invalidRequestError)
	InvalidTemplateName   = newCode("invalid_template_name", http.StatusBadRequest, invalidRequestError)
	InvalidLimit          = newCode("invalid_limit", http.StatusBadRequest, invalidRequestError)
	InvalidCursor         = newCode("invalid_cursor", http.StatusBadRequest, invalidRequestError)
	InvalidWebhookURL     = newCode("invalid_webhook_url", http.StatusBadRequest, invalidRequestError)
	InvalidEventType      = newCode("invalid_event_type", http.StatusBadRequest, invalidRequestError)
	TemplateAlreadyExists = newCode("template_already_exists", http.StatusConflict, conflictError)
	SubscriptionInactive  = newCode(errorcode.SubscriptionInactive, http.StatusPaymentRequired, permissionError)
	QuotaExceeded         = newCode(errorcode.QuotaExceeded, http.StatusPaymentRequired, permissionError)
	MarketingOptedOut     = newCode(errorcode.MarketingOptedOut, http.StatusUnprocessableEntity, invalidRequestError)
	ConsentRequired       = newCode(errorcode.ConsentRequired, http.StatusUnprocessableEntity, invalidRequestError)
	AccountRestricted     = newCode(errorcode.AccountRestricted, http.StatusUnprocessableEntity, invalidRequestError)
	CustomerSuspended     = newCode(errorcode.CustomerSuspended, http.StatusUnprocessableEntity, invalidRequestError)
	NumberNotVerified     = newCode(errorcode.NumberNotVerified, http.StatusUnprocessableEntity, invalidRequestError)
	MediaNotFound         = newCode("media_not_found", http.StatusUnprocessableEntity, invalidRequestError)
	UpstreamError         = newCode(errorcode.UpstreamError, http.StatusUnprocessableEntity, invalidRequestError)
	RegistrationRunning   = newCode("registration_in_progress", http.StatusConflict, conflictError)
	RegistrationFailed    = newCode(errorcode.RegistrationFailed, http.StatusUnprocessableEntity, invalidRequestError)
	ProviderUnavailable   = newCode("whatsapp_upstream_error", http.StatusBadGateway, apiError)
	WebhookNotVerified    = newCode("webhook_verification_failed", http.StatusBadRequest, invalidRequestError)
	WebhookDisabled       = newCode("webhook_subscription_disabled", http.StatusConflict, conflictError)
	LastSecret            = newCode("cannot_revoke_last_secret", http.StatusUnprocessableEntity, invalidRequestError)
	InternalError         = newCode("internal_error", http.StatusInternalServerError, apiError)
	ServiceUnavailable    = newCode("service_unavailable", http.StatusServiceUnavailable, apiError)
)

// Codes is every code by its name. newCode fills it while the package is
// initialized; nothing writes to it afterwards.
var Codes = make(map[string]Code)

func newCode(name errorcode.Code, status int, t errorType) Code {
	c := Code{Name: string(name), Status: status, ErrorType: t}
	Codes[c.Name] = c
	return c
}

// CodeNamed is the code of a name that another package gives as text. A name that
// is none of ours gives the zero Code, which is sent as InternalError.
func CodeNamed(name string) Code { return Codes[name] }
