package api

import (
	"cmp"

	"confab/app/api/rest"
	"confab/jobs/errorcode"
	"confab/jobs/language"
	"confab/storage"
)

// failureMeanings say in words what a code of a failed message means, and what to do.
var failureMeanings = map[errorcode.Code]string{
	errorcode.CustomerSuspended:     "The customer is suspended. Resume it to send.",
	errorcode.NumberNotVerified:     "The number isn’t registered yet. Register it with its PIN.",
	errorcode.OrganizationSuspended: "The organization is suspended. Contact the operator of this server.",
	errorcode.SubscriptionInactive:  "The organization’s subscription is inactive.",
	errorcode.ConversationHeld:      "Somebody else holds the conversation. It has to be handed over before a bot can write in it.",
	errorcode.ConsentRequired:       "The person hasn’t opted in. Ask for consent and record it on the contact.",
	errorcode.MarketingOptedOut:     "The person stopped marketing messages. Only they can turn them back on.",
	errorcode.QuotaExceeded:         "The plan’s messages for the month were used up. Ask the operator of this server for more.",

	errorcode.BroadcastCancelled: "Its broadcast was cancelled before it was sent.",
	errorcode.MessageCancelled:   "It was cancelled before it was sent.",
	errorcode.MessageOverdue:     "It was due before a backup was restored, so it wasn’t sent. Send it again if it still matters.",

	errorcode.AccountLocked:           "The provider has locked the account. Its business settings show why.",
	errorcode.AccountRateLimited:      "The number hit its sending limit. Send more slowly. Better quality raises the limit.",
	errorcode.AccountRestricted:       "The provider has restricted the account for a policy violation or unpaid bills.",
	errorcode.AppRateLimited:          "The app hit the provider’s call limit. It lifts by itself after a while.",
	errorcode.AuthExpired:             "The access token has expired or was revoked. Connect the number again with a new one.",
	errorcode.FlowBlocked:             "The provider has blocked the flow. Fix and publish it there.",
	errorcode.MarketingBlocked:        "The person doesn’t want marketing messages, or got too many. Don’t send more.",
	errorcode.MediaDownloadFailed:     "The provider couldn’t download the file. Its link must be public and fast.",
	errorcode.MediaUploadFailed:       "The provider rejected the file. Check its type and size.",
	errorcode.OutsideWindow:           "The person last wrote more than 24 hours before. Only templates can be sent then.",
	errorcode.PermissionRevoked:       "The token lacks a permission. Grant it, then connect the number again with a new token.",
	errorcode.PolicyViolation:         "The content violates the provider’s policy.",
	errorcode.RecipientUnavailable:    "The number has no account, or can’t receive this type of message. Check the number.",
	errorcode.RegistrationFailed:      "The number isn’t registered at the provider. Register it with its PIN.",
	errorcode.TemplateNotFound:        "The template doesn’t exist in this language, or isn’t approved. Sync your templates.",
	errorcode.TemplatePaused:          "The provider has paused the template because of negative feedback. Edit it, or wait.",
	errorcode.TemplatePolicyViolation: "The template violates the provider’s policy. Edit it.",
	errorcode.Undeliverable:           "It couldn’t be delivered: an outdated app, a blocked sender, or a phone that was off for too long.",
	errorcode.UnsupportedMessageType:  "The person’s app can’t show this type of message.",
	errorcode.UpstreamError:           "The provider failed or rejected it for another reason. Check the trace of a failed message.",
}

// meaningOf is what a code means in the words of the visitor; "" for an unknown one.
func meaningOf(r *rest.Request, code string) string {
	spoken := cmp.Or(storage.OrEmpty(r.User.Language), language.Accepted(r.HTTP.Header.Get("Accept-Language")))
	return language.Say(spoken, failureMeanings[errorcode.Code(code)])
}
