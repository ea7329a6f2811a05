package config

import (
	"reflect"
	"regexp"
)

// SelfHosted is the plan that a new organization and the sandbox have.
const SelfHosted = "self_hosted"

// planName matches names that can be part of a variable's name.
var planName = regexp.MustCompile(`^[a-z0-9_]{1,50}$`)

// Plan is what an organization may do.
type Plan struct {
	API             bool    `koanf:"api"`
	Customers       bool    `koanf:"customers"`
	MonthlyMessages int     `koanf:"monthly_messages"` // 0: no quota
	RetentionDays   int     `koanf:"retention_days"`   // 0: keep for ever
	RatePerSecond   float64 `koanf:"rate_per_second"`  // 0: no limit
	Burst           int     `koanf:"burst"`

	WebhookSubscriptions int `koanf:"webhook_subscriptions"` // 0: no limit
}

func selfHosted() Plan {
	return Plan{API: true, Customers: true, RatePerSecond: 1000, Burst: 2000, WebhookSubscriptions: 100}
}

// buildPlans makes the plans when all layers are read, because every new plan begins as a copy of
// self_hosted: a plan of the file inherits what a variable has changed in self_hosted.
func (l *loader) buildPlans(defaults map[string]Plan) map[string]Plan {
	base := defaults[SelfHosted]
	l.applyValues(reflect.ValueOf(&base).Elem(), "plans."+SelfHosted+".")

	plans := map[string]Plan{SelfHosted: base}
	for name := range l.plans {
		plan := base
		l.applyValues(reflect.ValueOf(&plan).Elem(), "plans."+name+".")
		plans[name] = plan
	}
	return plans
}
