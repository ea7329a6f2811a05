package simulator

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// outcome is what the provider does about one of its error codes: the HTTP
// status of a synchronous answer, or a failed status after a 200.
type outcome struct {
	status  int
	async   bool
	title   string
	details string
}

const (
	codeTokenMissing     = 104
	codeTokenInvalid     = 190
	codeInvalidParameter = 100
	codeThroughput       = 130429
	codeOutsideWindow    = 131047
	codeMarketingStopped = 131050
	codeMediaUpload      = 131053
	codePairLimit        = 131056
	codeMissingParameter = 131008
	codeInvalidValue     = 131009
	codeSomethingWrong   = 131000
	codeTooManyCalls     = 80007
)

func sync400(title, details string) outcome {
	return outcome{http.StatusBadRequest, false, title, details}
}

func async400(title, details string) outcome {
	return outcome{http.StatusBadRequest, true, title, details}
}

// outcomes holds every code by number. A code that the provider reports either
// way is answered synchronously.
var outcomes = map[int]outcome{
	0:   {http.StatusUnauthorized, false, "AuthException", "We were unable to authenticate the app user."},
	1:   {http.StatusBadRequest, false, "API Unknown", "Invalid request or possible server error."},
	2:   {http.StatusServiceUnavailable, false, "API Service", "Temporary due to downtime or due to being overloaded."},
	3:   {http.StatusInternalServerError, false, "API Method", "Capability or permissions issue."},
	4:   sync400("API Too Many Calls", "The app has reached its API call rate limit."),
	10:  {http.StatusForbidden, false, "Permission Denied", "Permission is either not granted or has been removed."},
	33:  sync400("Parameter value is not valid", "The business phone number has been deleted."),
	100: sync400("Invalid parameter", "The request included one or more unsupported or misspelled parameters."),
	104: sync400("An access token is required to request this resource.", "Incorrect signature or missing token."),
	190: {http.StatusUnauthorized, false, "Access token has expired", "Your access token has expired."},
	192: sync400("Invalid phone number", "The phone number is not valid."),
	368: {http.StatusForbidden, false, "Temporarily blocked for policies violations",
		"The account has been restricted for violating a platform policy."},
	613: sync400("Calls to this api have exceeded the rate limit.", "The per-endpoint call limit was reached."),
	803: {http.StatusNotFound, false, "Some of the aliases you requested do not exist", "The object does not exist."},

	2500:  sync400("Unknown path components", "The path does not exist."),
	80007: sync400("Rate limit issues", "The WhatsApp Business Account has reached its rate limit."),
	80008: sync400("There have been too many calls to this WhatsApp Business account.", "Wait a bit and try again."),

	130403: sync400("Business has blocked this user", "The business has blocked the recipient."),
	130429: sync400("Rate limit hit", "Cloud API message throughput has been reached."),
	130472: async400("User's number is part of an experiment",
		"Failed to send message because this user's phone number is part of an experiment"),
	130497: {http.StatusForbidden, false, "Business account is restricted from messaging users in this country.",
		"The account is not allowed to message users in the recipient's country."},

	131000: {http.StatusInternalServerError, false, "Something went wrong", "Message failed to send due to an unknown error."},
	131005: {http.StatusForbidden, false, "Access denied", "Permission is either not granted or has been removed."},
	131008: sync400("Required parameter is missing", "The request is missing a required parameter."),
	131009: sync400("Parameter value is not valid", "One or more parameter values are invalid."),
	131016: {http.StatusInternalServerError, false, "Service unavailable", "A service is temporarily unavailable."},
	131020: sync400("Group has a single member", "The group has no member besides the business."),
	131021: sync400("Recipient cannot be sender", "Sender and recipient phone number is the same."),
	131026: async400("Message undeliverable", "Message Undeliverable."),
	131030: sync400("Recipient phone number not in allowed list",
		"Recipient phone number not in allowed list: Add recipient phone number to recipient list and try again."),
	131031: {http.StatusForbidden, false, "Account has been locked", "The account has been restricted or disabled, or the PIN is wrong."},
	131037: sync400("Display name approval is needed before message can be sent", "The 555 number does not have an approved display name."),
	131041: sync400("Unknown group", "The group does not exist."),
	131042: async400("Business eligibility payment issue",
		"Message failed to send because of one or more errors related to your payment method."),
	131043: async400("Message expired", "Message was not delivered within its lifetime."),
	131044: async400("Business eligibility payment issue", "Calling failed because of one or more errors related to your payment method."),
	131045: {http.StatusInternalServerError, false, "Incorrect certificate",
		"Message failed to send due to a phone number registration error."},
	131047: async400("Re-engagement message",
		"Message failed to send because more than 24 hours have passed since the customer last replied to this number."),
	131048: sync400("Spam rate limit hit",
		"Message failed to send because there are restrictions on how many messages can be sent from this phone number."),
	131049: async400("This message was not delivered to maintain healthy ecosystem engagement.",
		"In order to maintain a healthy ecosystem engagement, the message failed to be delivered."),
	131050: async400("User has stopped marketing messages from this business",
		"The recipient has chosen to stop receiving marketing messages on WhatsApp from your business."),
	131051: sync400("Unsupported message type", "Message type is currently not supported."),
	131052: async400("Media download error", "Unable to download the media sent by the user."),
	131053: sync400("Media upload error", "Unable to upload the media used in the message."),
	131055: sync400("Method not allowed", "Only marketing template messages are allowed here."),
	131056: sync400("(Business Account, Consumer Account) pair rate limit hit",
		"Message failed to send because there were too many messages sent from this phone number "+
			"to the same phone number in a short period of time."),
	131057: {http.StatusInternalServerError, false, "Account in maintenance mode", "The number is being upgraded to a higher throughput."},
	131060: async400("This message is unavailable.", "This message is currently unavailable."),
	131062: sync400("Recipient is not supported for this message", "Messages of this kind cannot be sent to a business-scoped user id."),
	131063: sync400("Marketing templates are disabled", "Marketing templates cannot be sent with Cloud API by this account."),
	131064: sync400("Messaging limit hit", "Messages are limited because templates were classified wrongly."),

	132000: sync400("Number of parameters does not match the expected number of params",
		"The number of variable parameter values differs from the template's."),
	132001: {http.StatusNotFound, false, "Template name does not exist in the translation",
		"The template does not exist in the specified language or the template has not been approved."},
	132005: sync400("Translated text too long", "The hydrated template text is too long."),
	132007: sync400("Template format character policy violated", "Template content violates a policy."),
	132008: sync400("Template parameter format mismatch", "A parameter value is not valid."),
	132012: sync400("Parameter format does not match format in the created template", "Variable parameter values formatted incorrectly."),
	132015: sync400("Template is Paused", "Template is paused due to low quality so it cannot be sent in a template message."),
	132016: sync400("Template is Disabled", "Template has been paused too many times due to low quality and is now permanently disabled."),
	132018: sync400("Template parameters are not valid", "One of the template's parameters is not valid."),
	132068: sync400("Flow in blocked state", "Flow is in blocked state."),
	132069: sync400("Flow in throttled state",
		"Flow is in throttled state and 10 messages using this flow were already sent in the last hour."),

	133000: {http.StatusInternalServerError, false, "Incomplete deregistration", "A previous deregistration attempt failed."},
	133004: {http.StatusServiceUnavailable, false, "Server temporarily unavailable", "Server is temporarily unavailable."},
	133005: sync400("Two step verification PIN Mismatch", "Two-step verification PIN incorrect."),
	133006: sync400("Phone number re-verification needed", "Phone number needs to be verified before registering."),
	133008: sync400("Too many two step verification PIN guesses", "Too many two-step verification PIN guesses for this phone number."),
	133009: sync400("Two step verification PIN guessed too fast", "Two-step verification PIN was entered too quickly."),
	133010: sync400("Account not registered", "Phone number not registered on the Whatsapp Business Platform."),
	133015: sync400("Please wait a few minutes before attempting to register this phone number",
		"The phone number you are attempting to register was recently deleted."),
	133016: sync400("Account register deregister rate limit exceeded",
		"Registration or deregistration failed because there were too many attempts for this phone number in a short period of time."),

	134011: sync400("WhatsApp Payments terms of service has not been accepted", "The terms of service have not been accepted."),
	134100: sync400("Only marketing messages supported", "Only templates categorized as marketing are supported."),
	134101: sync400("Template syncing", "The template is still being synced; wait 10 minutes."),
	134102: {http.StatusInternalServerError, false, "Template unavailable for use", "The template is not available."},
	135000: sync400("Generic user error", "Message failed to send because of an unknown error with your request parameters."),
	136024: sync400("Verification code request failed", "The phone number has already been verified."),
	136025: sync400("Verify code error", "The code is wrong."),
	137000: {http.StatusBadRequest, true, "Identity key mismatch", "The identity key hash does not match the recipient's."},
	200002: sync400("Template creation failed", "The template could not be created."),
}

// firstSubcode is the lowest code that comes as a subcode of 100.
const firstSubcode = 2388000

// ranges are the codes that the provider documents as a range.
var ranges = []struct {
	low, high int
	outcome   outcome
}{
	{200, 299, outcome{http.StatusForbidden, false, "API Permission", "Permission is either not granted or has been removed."}},
	{131201, 131215, sync400("Group error", "The group request failed.")},
	{138000, 138999, sync400("Calling error", "The call request failed.")},
	{139000, 139999, sync400("Flow or block list error", "The request failed.")},
	{147001, 147005, sync400("Username error", "The username request failed.")},
	{firstSubcode, 2388999, sync400("Invalid parameter", "The template cannot be created or changed.")},
	{2494100, 2494100, sync400("Invalid parameter", "The number is being migrated.")},
	{2593107, 2593109, sync400("Invalid parameter", "The synchronization is not possible.")},
}

// lookupCode finds what the provider does about a code, and whether it is one of its own.
func lookupCode(code int) (outcome, bool) {
	if o, ok := outcomes[code]; ok {
		return o, true
	}

	for _, r := range ranges {
		if code >= r.low && code <= r.high {
			return r.outcome, true
		}
	}
	return sync400("Unknown error", "Unknown error."), false
}

func knownCode(code int) bool {
	_, known := lookupCode(code)
	return known
}

const magicDigits = 9

// magicCode reads the error code out of a magic recipient: a number whose last
// nine digits are 000 and a known code of six digits.
func magicCode(phone string) (int, bool) {
	if len(phone) <= magicDigits {
		return 0, false
	}

	digits, isMagic := strings.CutPrefix(phone[len(phone)-magicDigits:], "000")
	code, err := strconv.Atoi(digits)
	return code, isMagic && err == nil && knownCode(code)
}

// codeView is an error code of the provider with the recipient that fails with it.
type codeView struct {
	Code        int    `json:"code"`
	Title       string `json:"title"`
	Details     string `json:"details"`
	Async       bool   `json:"async"` // reported by callback after a 200
	PhoneNumber string `json:"phone_number"`
}

// controlCodes handles GET /_sim/codes: the codes, and the magic recipients.
func (s *Server) controlCodes(*controlCall) (any, error) {
	return object{"data": viewsOf(slices.Sorted(maps.Keys(outcomes)), func(code int) codeView {
		o := outcomes[code]
		return codeView{code, o.title, o.details, o.async, fmt.Sprintf("+1999000%06d", code)}
	})}, nil
}
