package app

import (
	"confab/app/config"
	"confab/jobs"
)

// retention returns how long the settings keep data.
func retention(c config.Config) jobs.Retention {
	r := jobs.Retention{Plans: make(map[string]int), Events: c.Webhooks.RetentionDays, Calls: c.Log.APILogDays, Audit: c.Console.AuditDays}
	for name, plan := range c.Plans {
		r.Plans[name] = plan.RetentionDays
	}
	return r
}
