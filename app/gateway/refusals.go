package gateway

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"confab/app/api/rest"
	"confab/jobs/errorcode"
	"confab/jobs/provider"
	"confab/storage"
)

// codes are the refusals of ours in the provider's words. Those that are not in it are 400, 100.
var codes = map[string]provider.Refusal{
	rest.MissingAPIKey.Name: {Status: 401, Code: provider.CodeToken},
	rest.InvalidAPIKey.Name: {Status: 401, Code: provider.CodeToken},
	rest.RevokedAPIKey.Name: {Status: 401, Code: provider.CodeToken},
	rest.ExpiredAPIKey.Name: {Status: 401, Code: provider.CodeToken},

	rest.PermissionDenied.Name: {Status: 403, Code: provider.CodePermission},
	rest.ResourceNotFound.Name: {Status: 400, Code: provider.CodeParameter, Subcode: provider.SubcodeMissingObject},

	rest.OrganizationSuspended.Name: {Status: 403, Code: provider.CodePolicy},
	rest.FeatureNotAvailable.Name:   {Status: 403, Code: provider.CodePolicy},
	rest.FeatureNotEntitled.Name:    {Status: 403, Code: provider.CodePolicy},
	rest.SubscriptionInactive.Name:  {Status: 403, Code: provider.CodePolicy},
	rest.QuotaExceeded.Name:         {Status: 403, Code: provider.CodePolicy},
	rest.CustomerSuspended.Name:     {Status: 403, Code: provider.CodePolicy},

	rest.RateLimitExceeded.Name: {Status: 400, Code: provider.CodeCallLimit},
	rest.NumberNotVerified.Name: {Status: 400, Code: provider.CodeNotRegistered},
	rest.UpstreamError.Name:     {Status: 400, Code: provider.CodeNotRegistered},
	rest.AccountRestricted.Name: {Status: 403, Code: provider.CodeLocked},
	rest.MarketingOptedOut.Name: {Status: 400, Code: provider.CodeOptedOut},
	rest.ConsentRequired.Name:   {Status: 403, Code: provider.CodeAccessDenied},
	rest.ConversationHeld.Name:  {Status: 403, Code: provider.CodeAccessDenied},

	string(errorcode.MessageCancelled): {Status: 400, Code: provider.CodeRateLimit},
	codeUnknown:                        {Status: 504, Code: provider.CodeSomethingWrong},

	rest.RequestTooLarge.Name:     {Status: 413, Code: provider.CodeParameter},
	rest.ServiceUnavailable.Name:  {Status: 503, Code: provider.CodeService, IsTransient: true},
	rest.ProviderUnavailable.Name: {Status: 503, Code: provider.CodeService, IsTransient: true},
	rest.InternalError.Name:       {Status: 500, Code: provider.CodeSomethingWrong},
	codeNotOffered:                {Status: 501, Code: provider.CodeMethod},
}

const (
	codeUnknown    = "upstream_timeout" // it is unknown whether the provider has the message
	codeNotOffered = "not_implemented"
)

func refusal(code, message, trace string) provider.Refusal {
	r, known := codes[code]
	if !known {
		r = provider.Refusal{Status: http.StatusBadRequest, Code: provider.CodeParameter}
	}
	r.Details, r.Trace = code+": "+message, trace
	return r
}

func refuse(x *rest.Exchange, e *rest.Error) {
	r := refusal(e.Name(), e.Message, x.Request.ID)
	if r.Subcode == provider.SubcodeMissingObject {
		r.Message = fmt.Sprintf("Unsupported %s request. Object with ID '%s' does not exist, cannot be loaded due to missing "+
			"permissions, or does not support this operation. Please read the Graph API documentation at "+
			"https://developers.facebook.com/docs/graph-api", strings.ToLower(x.Request.HTTP.Method),
			cmp.Or(x.Request.Param("id"), x.Request.Param("object")))
	}
	if e.Code == rest.MissingRequiredField {
		r.Message = "(#100) The parameter " + e.Param + " is required."
	}

	answer := r.Answer()
	if r.Status == http.StatusUnauthorized {
		x.Header().Set("WWW-Authenticate", `OAuth "Facebook Platform" "invalid_token"`)
	}
	x.Header().Set("Content-Type", answer.Type)
	x.Header().Set("X-Content-Type-Options", "nosniff")
	x.WriteHeader(answer.Status)
	x.Write(answer.Body)
}

// errNotOffered refuses what the gateway does not pass on.
func errNotOffered() error {
	code := rest.Code{Name: codeNotOffered, Status: http.StatusNotImplemented}
	return &rest.Error{Code: code, Message: "The gateway does not offer this call."}
}

// notOffered refuses a call before its body is read, which may be anything.
func notOffered(*storage.Rx, *rest.Request) error { return errNotOffered() }

// answerOf is the answer of a message that is stored, as far as it is known; false if not.
func answerOf(m storage.Message, kept storage.GatewaySend, trace string) (provider.Answer, bool) {
	switch {
	case kept.Status != 0:
		return provider.Answer{Status: kept.Status, Type: kept.ContentType, Body: kept.Answer}, true
	case m.ProviderID != nil:
		return provider.Accepted(storage.OrEmpty(cmp.Or(m.Recipient, m.PhoneNumber)), *m.ProviderID), true
	case m.Status != storage.MessageFailed:
		return provider.Answer{}, false
	}

	r := refusal(storage.OrEmpty(m.ErrorCode), storage.OrEmpty(m.ErrorMessage), trace)
	if m.ErrorProviderCode != nil {
		r.Status, r.Code, r.Subcode = http.StatusBadRequest, *m.ErrorProviderCode, 0
	}
	return r.Answer(), true
}
