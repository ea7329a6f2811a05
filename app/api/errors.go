package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"confab/storage"
)

// Code is a permanent, programmatic name of a failure.
type Code string

// Every failure that the API can express.
const (
	MissingAPIKey         Code = "missing_api_key"
	InvalidAPIKey         Code = "invalid_api_key"
	RevokedAPIKey         Code = "revoked_api_key"
	ExpiredAPIKey         Code = "expired_api_key"
	InvalidSignature      Code = "invalid_signature" // of a provider's callback, outside of /v1
	ResourceNotFound      Code = "resource_not_found"
	MethodNotAllowed      Code = "method_not_allowed"
	OrganizationSuspended Code = "organization_suspended"
	FeatureNotAvailable   Code = "feature_not_available"
	FeatureNotEntitled    Code = "feature_not_entitled"
	RateLimitExceeded     Code = "rate_limit_exceeded"
	RequestTooLarge       Code = "request_too_large"
	InvalidJSON           Code = "invalid_json"
	IdempotencyInProgress Code = "idempotency_in_progress"
	IdempotencyKeyReuse   Code = "idempotency_key_reuse"
	ContactAlreadyExists  Code = "contact_already_exists"
	SetupLinkInactive     Code = "setup_link_inactive"
	MissingRequiredField  Code = "missing_required_field"
	InvalidFieldValue     Code = "invalid_field_value"
	InvalidPhoneNumber    Code = "invalid_phone_number"
	InvalidTemplateName   Code = "invalid_template_name"
	InvalidLimit          Code = "invalid_limit"
	InvalidCursor         Code = "invalid_cursor"
	InvalidWebhookURL     Code = "invalid_webhook_url"
	InvalidEventType      Code = "invalid_event_type"
	TemplateAlreadyExists Code = "template_already_exists"
	SubscriptionInactive  Code = "subscription_inactive"
	QuotaExceeded         Code = "quota_exceeded"
	MarketingOptedOut     Code = "marketing_opted_out"
	ConsentRequired       Code = "consent_required"
	AccountRestricted     Code = "account_restricted"
	CustomerSuspended     Code = "customer_suspended"
	NumberNotVerified     Code = "whatsapp_number_not_verified"
	MediaNotFound         Code = "media_not_found"
	UpstreamError         Code = "upstream_error"
	RegistrationRunning   Code = "registration_in_progress"
	RegistrationFailed    Code = "whatsapp_registration_failed"
	ProviderUnavailable   Code = "whatsapp_upstream_error"
	WebhookDisabled       Code = "webhook_subscription_disabled"
	LastSecret            Code = "cannot_revoke_last_secret"
	InternalError         Code = "internal_error"
	ServiceUnavailable    Code = "service_unavailable"
)

// kind is the status and the type that a code is sent with.
type kind struct {
	status int
	name   string
}

// kinds is the catalogue: one line for each code.
var kinds = map[Code]kind{
	MissingAPIKey:         {http.StatusUnauthorized, "authentication_error"},
	InvalidAPIKey:         {http.StatusUnauthorized, "authentication_error"},
	RevokedAPIKey:         {http.StatusUnauthorized, "authentication_error"},
	ExpiredAPIKey:         {http.StatusUnauthorized, "authentication_error"},
	InvalidSignature:      {http.StatusUnauthorized, "authentication_error"},
	ResourceNotFound:      {http.StatusNotFound, "not_found"},
	MethodNotAllowed:      {http.StatusMethodNotAllowed, "invalid_request_error"},
	OrganizationSuspended: {http.StatusForbidden, "permission_error"},
	FeatureNotAvailable:   {http.StatusForbidden, "permission_error"},
	FeatureNotEntitled:    {http.StatusPaymentRequired, "permission_error"},
	RateLimitExceeded:     {http.StatusTooManyRequests, "rate_limit_error"},
	RequestTooLarge:       {http.StatusRequestEntityTooLarge, "invalid_request_error"},
	InvalidJSON:           {http.StatusBadRequest, "invalid_request_error"},
	IdempotencyInProgress: {http.StatusConflict, "conflict"},
	IdempotencyKeyReuse:   {http.StatusUnprocessableEntity, "invalid_request_error"},
	ContactAlreadyExists:  {http.StatusConflict, "conflict"},
	SetupLinkInactive:     {http.StatusConflict, "conflict"},
	MissingRequiredField:  {http.StatusBadRequest, "invalid_request_error"},
	InvalidFieldValue:     {http.StatusBadRequest, "invalid_request_error"},
	InvalidPhoneNumber:    {http.StatusBadRequest, "invalid_request_error"},
	InvalidTemplateName:   {http.StatusBadRequest, "invalid_request_error"},
	InvalidLimit:          {http.StatusBadRequest, "invalid_request_error"},
	InvalidCursor:         {http.StatusBadRequest, "invalid_request_error"},
	InvalidWebhookURL:     {http.StatusBadRequest, "invalid_request_error"},
	InvalidEventType:      {http.StatusBadRequest, "invalid_request_error"},
	TemplateAlreadyExists: {http.StatusConflict, "conflict"},
	SubscriptionInactive:  {http.StatusPaymentRequired, "permission_error"},
	QuotaExceeded:         {http.StatusPaymentRequired, "permission_error"},
	MarketingOptedOut:     {http.StatusUnprocessableEntity, "invalid_request_error"},
	ConsentRequired:       {http.StatusUnprocessableEntity, "invalid_request_error"},
	AccountRestricted:     {http.StatusUnprocessableEntity, "invalid_request_error"},
	CustomerSuspended:     {http.StatusUnprocessableEntity, "invalid_request_error"},
	NumberNotVerified:     {http.StatusUnprocessableEntity, "invalid_request_error"},
	MediaNotFound:         {http.StatusUnprocessableEntity, "invalid_request_error"},
	UpstreamError:         {http.StatusUnprocessableEntity, "invalid_request_error"},
	RegistrationRunning:   {http.StatusConflict, "conflict"},
	RegistrationFailed:    {http.StatusUnprocessableEntity, "invalid_request_error"},
	ProviderUnavailable:   {http.StatusBadGateway, "api_error"},
	WebhookDisabled:       {http.StatusConflict, "conflict"},
	LastSecret:            {http.StatusUnprocessableEntity, "invalid_request_error"},
	InternalError:         {http.StatusInternalServerError, "api_error"},
	ServiceUnavailable:    {http.StatusServiceUnavailable, "api_error"},
}

// Error is a failure as the client reads it. cause is what the log reads.
type Error struct {
	Code       Code
	Message    string
	Param      string        // the offending field, if there is one
	RetryAfter time.Duration // 0 for none
	Allow      string        // the methods of a path, with MethodNotAllowed
	cause      error
}

// Error is for the log, so it tells the cause too.
func (e *Error) Error() string {
	if e.cause != nil {
		return string(e.Code) + ": " + e.Message + " " + e.cause.Error()
	}
	return string(e.Code) + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.cause }

func (e *Error) status() int { return kinds[e.Code].status }

// fail is an error that concerns no single field.
func fail(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// missing reports a required field that is absent.
func missing(param string) *Error {
	return &Error{Code: MissingRequiredField, Param: param, Message: param + " is required."}
}

// invalid reports a field that breaks a rule; rule continues the field's name.
func invalid(param, rule string) *Error {
	return &Error{Code: InvalidFieldValue, Param: param, Message: param + " " + rule + "."}
}

// notFound reports what is missing or belongs to somebody else, which is the
// same to the client.
func notFound() *Error { return fail(ResourceNotFound, "No such resource.") }

// statusClientGone is logged for a request whose client left before the answer.
const statusClientGone = 499

// asError makes a client's error out of any.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}

	switch {
	case errors.Is(err, storage.ErrNotFound):
		return notFound()
	case errors.Is(err, storage.ErrUnavailable), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{
			Code:       ServiceUnavailable,
			Message:    "The service cannot take this request just now. Please retry.",
			RetryAfter: time.Second,
			cause:      err,
		}
	default:
		return &Error{Code: InternalError, Message: "Something went wrong on our side.", cause: err}
	}
}
