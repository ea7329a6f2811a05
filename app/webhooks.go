package app

import (
	"confab/jobs"
	"confab/jobs/guard"
	"confab/jobs/webhook"
)

// webhooks is how deliveries are made, as the settings say. Whatever the
// endpoint redirects to is not followed.
func (a *App) webhooks() jobs.Webhooks {
	c := a.Config.Webhooks
	a.endpoints = guard.New(guard.Options{Allow: a.Config.Security.AllowCIDRs, AllowInsecure: a.Config.Security.AllowInsecureURLs, AllowLocal: a.AllowLocalURLs})
	return jobs.Webhooks{
		Client:   webhook.Client{Transport: a.endpoints.Transport(), Timeout: c.Timeout},
		Schedule: c.RetrySchedule, DisableAfter: c.DisableAfterFailures, DisableMinAge: c.DisableMinAge,
		PerSubscription: c.PerSubscription, OnAttempt: a.metrics.attempt,
	}
}

// closeWebhooks hangs up the connections to endpoints that were kept alive.
func (a *App) closeWebhooks() {
	if a.endpoints != nil {
		a.endpoints.Close()
	}
}
