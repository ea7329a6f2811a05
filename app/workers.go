package app

import (
	"time"

	"confab/app/config"
	"confab/jobs"
	"confab/jobs/guard"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/push"
	"confab/jobs/webhook"
	"confab/storage"
)

// newWorkers makes what does the jobs, with a client of the provider that the settings name.
func (a *App) newWorkers() (*jobs.Workers, error) {
	c := a.Config.Provider

	client, err := provider.New(ProviderOptions(c, a.Version))
	if err != nil {
		return nil, err
	}

	webhooks := a.newWebhooks()
	return jobs.New(jobs.Options{
		DB:                a.DB,
		Provider:          client,
		Files:             a.files,
		Imports:           a.imports,
		Publisher:         messaging.Publisher{PublicURL: a.URL()},
		Log:               a.Log,
		Retention:         retention(a.Config),
		ObjectsKept:       a.objectsKept(),
		InForce:           a.replica.InForce,
		Fence:             a.fence,
		MessagesPerSecond: c.MessagesPerSecond,
		PairLimit:         c.PairLimit,
		MonthlyMessages:   quotas(a.Config),
		SendRetries:       c.RetrySchedule,
		ReconcileWindow:   c.ReconcileWindow,
		Webhooks:          webhooks,
		Push: jobs.Push{ // by the same guarded client as webhooks
			Sender:       push.Sender{Client: a.endpoints, PublicURL: a.URL()},
			HidesContent: !a.Config.Console.PushContent,
			OnScreen: func(organization int64, user, conversation string) bool {
				return a.live.IsOnScreen(organization, user, conversation)
			},
		},
		GatewayWait: a.Config.Gateway.Wait,
		Clock:       a.Clock,
		OnDropped:   func(n int64) { a.metrics.dropped.Add(float64(n)) },
		OnClock:     func(ahead time.Duration) { a.metrics.clockAhead.Set(ahead.Seconds()) },
	}), nil
}

// newWebhooks makes the options of webhook deliveries. Redirects of endpoints are not followed.
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
		OnAttempt: func(result string, took time.Duration) {
			a.metrics.attempts.WithLabelValues(result).Observe(took.Seconds())
		},
	}
}

// retention returns how long the settings keep data.
func retention(c config.Config) jobs.Retention {
	r := jobs.Retention{Plans: make(map[string]int), Events: c.Webhooks.RetentionDays, Calls: c.Log.APILogDays, Audit: c.Console.AuditDays}
	for name, plan := range c.Plans {
		r.Plans[name] = plan.RetentionDays
	}
	return r
}

// quotas returns the messages that plans allow in a month, of those that have a limit. An
// organization whose plan is gone is served as self_hosted.
func quotas(c config.Config) map[string]int {
	all := make(map[string]int)
	for name, plan := range c.Plans {
		if plan.MonthlyMessages > 0 {
			all[name] = plan.MonthlyMessages
		}
	}
	return all
}

// warnAboutUnknownPlans logs the organizations whose plan is not in the settings
// any more. They are served as self_hosted rather than cut off.
func (a *App) warnAboutUnknownPlans(rx *storage.Rx) error {
	all, err := rx.Organizations()
	for _, o := range all {
		if _, known := a.Config.Plans[o.Plan]; !known {
			a.Log.Warn("an organization's plan is not in the settings", "org", o.PublicID, "plan", o.Plan)
		}
	}
	return err
}
