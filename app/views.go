package app

import (
	"confab/app/api"
	"confab/jobs/event"
	"confab/jobs/provisioning"
	"confab/storage"
)

// EventTypes lists the names of all events.
func EventTypes() []string { return event.Types() }

// SubscriptionView is a webhook subscription as the API shows it.
func SubscriptionView(s storage.Subscription, secrets []storage.Secret) any {
	return api.ViewSubscription(s, secrets)
}

// DeliveryView is a webhook delivery as the API shows it, with its payload if
// there is one.
func DeliveryView(d storage.Delivery, payload []byte) any { return api.ViewDelivery(d, payload) }

// AccountView is an account as the API shows it.
func AccountView(a storage.AccountDetail) any { return api.ViewAccount(a) }

// TemplateSyncView is what a sync of templates brought, as the API shows it.
func TemplateSyncView(s *provisioning.TemplateSync) any { return api.ViewTemplateSync(s) }
