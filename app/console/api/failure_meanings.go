package api

import "confab/jobs/errorcode"

// failureMeanings say in words what a code of a failed message means, and what to do.
var failureMeanings = map[errorcode.Code]string{
	errorcode.CustomerSuspended:     "The customer is suspended. Make it active again to send.",
	errorcode.NumberNotVerified:     "The number was not registered yet. Register it with its PIN.",
	errorcode.OrganizationSuspended: "The organization is suspended. Ask the operator of this server.",
	errorcode.SubscriptionInactive:  "The organization’s subscription is inactive.",
	errorcode.ConsentRequired:       "The person has not agreed to get messages. Ask for consent, and mark the contact as opted in.",
	errorcode.MarketingOptedOut:     "The person has stopped marketing messages. Only the person can resume them.",
	errorcode.QuotaExceeded:         "The plan’s messages of this month were used up. Ask the operator of this server for more.",

	errorcode.BroadcastCancelled: "Its broadcast was cancelled before it was sent.",
	errorcode.MessageCancelled:   "Somebody cancelled it before it was sent.",
	errorcode.MessageOverdue:     "It was due before a backup was restored, so it was not sent. Send it again if it still matters.",

	errorcode.AccountLocked:           "The provider has locked the account. See its business settings for the reason.",
	errorcode.AccountRateLimited:      "More was sent than the provider allows this number. Send more slowly; quality decides the limit.",
	errorcode.AccountRestricted:       "The provider has restricted the account for breaking a rule, or for unpaid bills.",
	errorcode.AppRateLimited:          "More calls were made than the provider allows this app. They go through again after a while.",
	errorcode.AuthExpired:             "The access token has expired or was revoked. Connect the number again with a new one.",
	errorcode.FlowBlocked:             "The provider has blocked the flow. Repair and publish it there.",
	errorcode.MarketingBlocked:        "The person does not want marketing messages, or got too many. Do not send more of them.",
	errorcode.MediaDownloadFailed:     "The provider could not fetch the file. Its link must be public and answer quickly.",
	errorcode.MediaUploadFailed:       "The provider did not take the file. Check its type and size.",
	errorcode.OutsideWindow:           "More than 24 hours had passed since the person last wrote. Only a template can be sent then.",
	errorcode.PermissionRevoked:       "The token lacks a permission. Grant it again, and connect the number with the new token.",
	errorcode.PolicyViolation:         "The content breaks the provider’s rules.",
	errorcode.RecipientUnavailable:    "The number has no account, or cannot get such messages. Check the number.",
	errorcode.RegistrationFailed:      "The number is not registered at the provider. Register it with its PIN.",
	errorcode.TemplateNotFound:        "The template does not exist in this language, or is not approved. Sync the templates.",
	errorcode.TemplatePaused:          "The provider has paused the template because people disliked it. Edit it, or wait.",
	errorcode.TemplatePolicyViolation: "The template breaks the provider’s rules. Edit it.",
	errorcode.Undeliverable:           "It could not be delivered: an old app, a blocked sender, or a phone that was off for long.",
	errorcode.UnsupportedMessageType:  "The person’s app cannot show this kind of message.",
	errorcode.UpstreamError:           "The provider failed or refused for another reason. Look at a failed message’s trace.",
}

// meaningOf is what a code means in words; "" for an unknown one.
func meaningOf(code string) string { return failureMeanings[errorcode.Code(code)] }
