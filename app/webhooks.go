package app

import (
	"confab/jobs"
	"confab/jobs/guard"
	"confab/jobs/webhook"
)

// newWebhooks makes the options of webhook deliveries out of the settings. Redirects of
// endpoints are not followed.
func (a *App) newWebhooks() jobs.Webhooks {
	c := a.Config.Webhooks
	a.endpoints = guard.New(guard.Options{
		Allow:         a.Config.Security.AllowCIDRs,
		AllowInsecure: a.Config.Security.AllowInsecureURLs,
		AllowLocal:    a.AllowLocalURLs,
	})

	return jobs.Webhooks{
		Client:          webhook.Client{Transport: a.endpoints.Transport(), Timeout: c.Timeout},
		Schedule:        c.RetrySchedule,
		DisableAfter:    c.DisableAfterFailures,
		DisableMinAge:   c.DisableMinAge,
		PerSubscription: c.PerSubscription,
		OnAttempt:       a.metrics.observeAttempt,
	}
}
