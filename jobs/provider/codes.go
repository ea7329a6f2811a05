package provider

import (
	"slices"
	"time"

	"confab/jobs/errorcode"
)

// Effect is what a code means beyond the one call: for the account, or for the
// contact.
type Effect string

// The effects of a code.
const (
	NoEffect     Effect = ""
	Degraded     Effect = "degraded"     // the account cannot be used until someone repairs it
	Disconnected Effect = "disconnected" // the number no longer exists
	Restricted   Effect = "restricted"   // the provider stopped the whole account
	Cooldown     Effect = "cooldown"     // the account must pause
	OptOut       Effect = "opt_out"      // the contact stopped marketing messages
)

// Arrival says how a code usually reaches us. Any code must be expected in both
// ways; the usual one is for tests that play the provider.
type Arrival string

// How a code reaches us.
const (
	InAnswer   Arrival = "answer"
	InCallback Arrival = "callback"
	InEither   Arrival = "either"
)

// Class says how to treat a code.
type Class struct {
	Code      errorcode.Code
	Transient bool          // the same call may succeed on the retry schedule
	Retries   int           // the most retries that make sense; 0 leaves it to the schedule
	Wait      time.Duration // the shortest useful wait before another try; 0 leaves it to the schedule
	Effect    Effect
}

// CodeRow describes one of the provider's codes, or a range that means the same.
type CodeRow struct {
	First, Last int
	Subcode     int // 0 matches any
	HTTP        int // status of an answer with the code; 0 if it comes by callback only
	Arrival     Arrival
	Title       string // the provider's own words
	Class
}

// Lookup finds the row of a code.
func Lookup(code, subcode int) (CodeRow, bool) {
	for _, row := range table {
		if row.First <= code && code <= row.Last && (row.Subcode == 0 || row.Subcode == subcode) {
			return row, true
		}
	}
	return CodeRow{}, false
}

// Codes returns the whole table, for tests that play the provider.
func Codes() []CodeRow { return slices.Clone(table) }

// Codes that callers ask for by name. The others matter only for the class that
// the table gives them.
const (
	CodeSomethingWrong = 131000 // the code of failures to which the provider gave none
	CodeMediaDownload  = 131052 // the provider itself could not get the file of a message

	codeTemplateGone     = 132001
	codeTemplatePaused   = 132015
	codeTemplateDisabled = 132016

	codeInvalidParameter = 100 // the subcode says which
	codeUnknownAlias     = 803
)

// Subcodes of code 100 that callers ask for.
const (
	SubcodeMissingObject         = 33
	SubcodeCodeExpired           = 36007   // the signup code is too old
	SubcodeCodeUsed              = 36009   // the signup code was used before
	SubcodeLanguageDeleted       = 2388023 // the name and language are blocked for up to four weeks
	SubcodeTemplateExists        = 2388024
	SubcodeTemplateLocked        = 2388039 // the template cannot be edited in its state
	SubcodeTemplateNameFormat    = 2388046
	SubcodeTemplateHeaderFormat  = 2388047
	SubcodeTemplateBodyFormat    = 2388072
	SubcodeTemplateFooterFormat  = 2388073
	SubcodeTemplateVariableRatio = 2388293 // the body has too many variables for its length
	SubcodeTemplateVariableEdge  = 2388299 // the body begins or ends with a variable
	SubcodeTemplateMissing       = 2593002 // there is none to delete
)

// table gives the provider's codes their meaning. The first row that matches
// counts, so that a row for a subcode comes before the one for all others.
//
// A code is Restricted only if it stops the whole account: payment, country and
// marketing limits stop some messages and let others pass.
var table = []CodeRow{
	{0, 0, 0, 401, InAnswer, "AuthException", Class{Code: errorcode.AuthExpired, Effect: Degraded}},
	{1, 1, 0, 400, InAnswer, "API Unknown", Class{Code: errorcode.UpstreamError, Transient: true, Retries: 2}},
	{2, 2, 0, 503, InAnswer, "API Service", Class{Code: errorcode.UpstreamError, Transient: true}},
	{3, 3, 0, 500, InAnswer, "API Method", Class{Code: errorcode.PermissionRevoked, Effect: Degraded}},
	{4, 4, 0, 400, InAnswer, "API Too Many Calls", Class{Code: errorcode.AppRateLimited, Transient: true}},
	{10, 10, 0, 403, InAnswer, "API Permission Denied", Class{Code: errorcode.PermissionRevoked, Effect: Degraded}},
	{33, 33, 0, 400, InAnswer, "Parameter value is not valid", Class{Code: errorcode.UpstreamError, Effect: Disconnected}},
	{codeInvalidParameter, codeInvalidParameter, SubcodeMissingObject, 400, InAnswer, "Unsupported request",
		Class{Code: errorcode.PermissionRevoked, Effect: Degraded}},
	{codeInvalidParameter, codeInvalidParameter, 0, 400, InAnswer, "Invalid parameter", Class{Code: errorcode.UpstreamError}},
	{104, 104, 0, 400, InAnswer, "An access token is required to request this resource.",
		Class{Code: errorcode.AuthExpired, Effect: Degraded}},
	{190, 190, 0, 401, InAnswer, "Access token has expired", Class{Code: errorcode.AuthExpired, Effect: Degraded}},
	{192, 192, 0, 400, InAnswer, "Invalid phone number", Class{Code: errorcode.UpstreamError}},
	{200, 299, 0, 403, InAnswer, "API Permission", Class{Code: errorcode.PermissionRevoked, Effect: Degraded}},
	{368, 368, 0, 403, InEither, "Temporarily blocked for policies violations", Class{Code: errorcode.PolicyViolation, Effect: Restricted}},
	{613, 613, 0, 400, InAnswer, "Calls to this API have exceeded the rate limit.", Class{Code: errorcode.AppRateLimited, Transient: true}},
	{codeUnknownAlias, codeUnknownAlias, 0, 404, InAnswer, "Some of the aliases you requested do not exist",
		Class{Code: errorcode.UpstreamError}},
	{2500, 2500, 0, 400, InAnswer, "Unknown path components", Class{Code: errorcode.UpstreamError}},
	{80007, 80007, 0, 400, InAnswer, "Rate limit issues", Class{Code: errorcode.AccountRateLimited, Transient: true, Effect: Cooldown}},
	{80008, 80008, 0, 400, InAnswer, "There have been too many calls to this WhatsApp Business account.",
		Class{Code: errorcode.AccountRateLimited, Transient: true}},
	{130403, 130403, 0, 400, InEither, "Business has blocked this user", Class{Code: errorcode.Undeliverable}},
	{130429, 130429, 0, 400, InAnswer, "Rate limit hit", Class{Code: errorcode.AccountRateLimited, Transient: true}},
	{130472, 130472, 0, 400, InCallback, "User's number is part of an experiment", Class{Code: errorcode.Undeliverable}},
	{130497, 130497, 0, 403, InEither, "Business account is restricted from messaging users in this country.",
		Class{Code: errorcode.AccountRestricted}},
	{CodeSomethingWrong, CodeSomethingWrong, 0, 500, InEither, "Something went wrong",
		Class{Code: errorcode.UpstreamError, Transient: true}},
	{131005, 131005, 0, 403, InAnswer, "Access denied", Class{Code: errorcode.PermissionRevoked, Effect: Degraded}},
	{131008, 131008, 0, 400, InAnswer, "Required parameter is missing", Class{Code: errorcode.UpstreamError}},
	{131009, 131009, 0, 400, InEither, "Parameter value is not valid", Class{Code: errorcode.UpstreamError}},
	{131016, 131016, 0, 500, InEither, "Service unavailable", Class{Code: errorcode.UpstreamError, Transient: true}},
	{131020, 131020, 0, 400, InAnswer, "Group has a single member", Class{Code: errorcode.Undeliverable}},
	{131021, 131021, 0, 400, InEither, "Recipient cannot be sender", Class{Code: errorcode.Undeliverable}},
	{131026, 131026, 0, 400, InCallback, "Message undeliverable", Class{Code: errorcode.RecipientUnavailable}},
	{131030, 131030, 0, 400, InAnswer, "Recipient phone number not in allowed list", Class{Code: errorcode.RecipientUnavailable}},
	{131031, 131031, 0, 403, InEither, "Account has been locked", Class{Code: errorcode.AccountLocked, Effect: Restricted}},
	{131037, 131037, 0, 400, InAnswer, "WhatsApp provided number needs display name approval before message can be sent.",
		Class{Code: errorcode.AccountRestricted, Effect: Restricted}},
	{131041, 131041, 0, 400, InAnswer, "Unknown group", Class{Code: errorcode.Undeliverable}},
	{131042, 131042, 0, 400, InCallback, "Business eligibility payment issue", Class{Code: errorcode.AccountRestricted}},
	{131043, 131043, 0, 0, InCallback, "Message expired", Class{Code: errorcode.Undeliverable}},
	{131044, 131044, 0, 400, InCallback, "Business eligibility payment issue", Class{Code: errorcode.AccountRestricted}},
	{131045, 131045, 0, 500, InAnswer, "Incorrect certificate", Class{Code: errorcode.UpstreamError, Effect: Degraded}},
	{131047, 131047, 0, 400, InCallback, "Re-engagement message", Class{Code: errorcode.OutsideWindow}},
	{131048, 131048, 0, 400, InEither, "Spam rate limit hit", Class{Code: errorcode.AccountRateLimited, Effect: Cooldown}},
	{131049, 131049, 0, 400, InCallback, "This message was not delivered to maintain healthy ecosystem engagement.",
		Class{Code: errorcode.Undeliverable, Wait: 24 * time.Hour}},
	{131050, 131050, 0, 400, InCallback, "User has stopped receiving marketing messages from this business",
		Class{Code: errorcode.MarketingBlocked, Effect: OptOut}},
	{131051, 131051, 0, 400, InEither, "Unsupported message type", Class{Code: errorcode.UnsupportedMessageType}},
	{CodeMediaDownload, CodeMediaDownload, 0, 400, InCallback, "Media download error", Class{Code: errorcode.MediaDownloadFailed}},
	{131053, 131053, 0, 400, InEither, "Media upload error", Class{Code: errorcode.MediaUploadFailed}},
	{131055, 131055, 0, 400, InAnswer, "Method not allowed", Class{Code: errorcode.UnsupportedMessageType}},
	{131056, 131056, 0, 400, InAnswer, "(Business Account, Consumer Account) pair rate limit hit",
		Class{Code: errorcode.AccountRateLimited, Transient: true, Wait: 4 * time.Second}},
	{131057, 131057, 0, 500, InAnswer, "Account in maintenance mode",
		Class{Code: errorcode.UpstreamError, Transient: true, Wait: time.Minute}},
	{131060, 131060, 0, 0, InCallback, "This message is unavailable.", Class{Code: errorcode.UpstreamError}},
	{131062, 131062, 0, 400, InAnswer, "Business-scoped user IDs are not supported for this message",
		Class{Code: errorcode.UnsupportedMessageType}},
	{131063, 131063, 0, 400, InAnswer, "Marketing templates are disabled on Cloud API", Class{Code: errorcode.AccountRestricted}},
	{131064, 131064, 0, 400, InEither, "Messaging limited due to template misclassification", Class{Code: errorcode.AccountRateLimited}},
	{131201, 131215, 0, 400, InAnswer, "Group error", Class{Code: errorcode.UpstreamError}},
	{132000, 132000, 0, 400, InEither, "Number of parameters does not match the expected number of params",
		Class{Code: errorcode.UpstreamError}},
	{132001, 132001, 0, 404, InAnswer, "Template name does not exist in the translation", Class{Code: errorcode.TemplateNotFound}},
	{132005, 132005, 0, 400, InEither, "Translated text too long", Class{Code: errorcode.TemplatePolicyViolation}},
	{132007, 132007, 0, 400, InEither, "Template format character policy violated", Class{Code: errorcode.TemplatePolicyViolation}},
	{132008, 132008, 0, 400, InEither, "Parameter value is not valid for the template", Class{Code: errorcode.UpstreamError}},
	{132012, 132012, 0, 400, InEither, "Parameter format does not match format in the created template",
		Class{Code: errorcode.UpstreamError}},
	{132015, 132015, 0, 400, InEither, "Template is paused", Class{Code: errorcode.TemplatePaused}},
	{132016, 132016, 0, 400, InEither, "Template is disabled", Class{Code: errorcode.TemplatePaused}},
	{132018, 132018, 0, 400, InEither, "Template component validation failed", Class{Code: errorcode.UpstreamError}},
	{132068, 132068, 0, 400, InEither, "Flow is in blocked state", Class{Code: errorcode.FlowBlocked}},
	{132069, 132069, 0, 400, InEither, "Flow is in throttled state", Class{Code: errorcode.FlowBlocked, Wait: time.Hour}},
	{133000, 133000, 0, 500, InAnswer, "Incomplete deregistration", Class{Code: errorcode.RegistrationFailed}},
	{133004, 133004, 0, 503, InAnswer, "Server temporarily unavailable", Class{Code: errorcode.UpstreamError, Transient: true}},
	{133005, 133005, 0, 400, InAnswer, "Two step verification PIN Mismatch", Class{Code: errorcode.RegistrationFailed}},
	{133006, 133006, 0, 400, InAnswer, "Phone number re-verification needed", Class{Code: errorcode.RegistrationFailed}},
	{133008, 133008, 0, 400, InAnswer, "Too many two step verification PIN guesses", Class{Code: errorcode.RegistrationFailed}},
	{133009, 133009, 0, 400, InAnswer, "Two step verification PIN guessed too fast", Class{Code: errorcode.RegistrationFailed}},
	{133010, 133010, 0, 400, InAnswer, "Account not registered", Class{Code: errorcode.UpstreamError, Effect: Degraded}},
	{133015, 133015, 0, 400, InAnswer, "Please wait a few minutes before attempting to register this phone number",
		Class{Code: errorcode.RegistrationFailed, Wait: 5 * time.Minute}},
	{133016, 133016, 0, 400, InAnswer, "Account register deregister rate limit exceeded",
		Class{Code: errorcode.RegistrationFailed, Wait: 72 * time.Hour}},
	{134011, 134011, 0, 400, InAnswer, "Payments terms of service not accepted", Class{Code: errorcode.AccountRestricted}},
	{134100, 134100, 0, 400, InAnswer, "Only marketing messages supported", Class{Code: errorcode.UpstreamError}},
	{134101, 134101, 0, 400, InAnswer, "Template is syncing", Class{Code: errorcode.UpstreamError, Wait: 10 * time.Minute}},
	{134102, 134102, 0, 500, InAnswer, "Template unavailable for use", Class{Code: errorcode.UpstreamError}},
	{135000, 135000, 0, 400, InEither, "Generic user error", Class{Code: errorcode.UpstreamError}},
	{136024, 136024, 0, 400, InAnswer, "Phone number is already verified", Class{Code: errorcode.UpstreamError}},
	{136025, 136025, 0, 400, InAnswer, "Verification code is wrong", Class{Code: errorcode.UpstreamError}},
	{137000, 137000, 0, 0, InCallback, "Recipient identity key hash mismatch", Class{Code: errorcode.Undeliverable}},
	{138000, 139999, 0, 400, InAnswer, "Calling or flow error", Class{Code: errorcode.UpstreamError}},
	{147001, 147005, 0, 400, InAnswer, "Username error", Class{Code: errorcode.UpstreamError}},
	{200002, 200002, 0, 400, InAnswer, "Template creation failed", Class{Code: errorcode.UpstreamError}},
	{2388000, 2388999, 0, 400, InAnswer, "Template cannot be created or changed", Class{Code: errorcode.UpstreamError}},
	{2494100, 2494100, 0, 400, InAnswer, "Number is being migrated", Class{Code: errorcode.UpstreamError}},
	{2593107, 2593109, 0, 400, InEither, "Synchronization is not possible", Class{Code: errorcode.UpstreamError}},
}
