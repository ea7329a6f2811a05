package app

import (
	"context"

	"confab/app/api/rest"
	"confab/app/config"
	"confab/jobs"
	"confab/storage"
)

// apiPlans returns the plans as the API applies them.
func apiPlans(c config.Config) map[string]rest.Plan {
	all := make(map[string]rest.Plan)
	for name, p := range c.Plans {
		all[name] = rest.Plan{
			API:             p.API,
			Customers:       p.Customers,
			MonthlyMessages: p.MonthlyMessages,
			RatePerSecond:   p.RatePerSecond,
			Burst:           p.Burst,

			WebhookSubscriptions: p.WebhookSubscriptions,
		}
	}
	return all
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
func (a *App) warnAboutUnknownPlans() error {
	return a.DB.View(context.Background(), func(rx *storage.Rx) error {
		all, err := rx.Organizations()
		for _, o := range all {
			if _, known := a.Config.Plans[o.Plan]; !known {
				a.Log.Warn("an organization's plan is not in the settings", "org", o.PublicID, "plan", o.Plan)
			}
		}
		return err
	})
}
