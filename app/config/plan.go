package config

import (
	"maps"
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
	base, ok := defaults[SelfHosted]
	if !ok {
		base = selfHosted()
	}
	l.applyValues(reflect.ValueOf(&base).Elem(), "plans."+SelfHosted+".")

	plans := map[string]Plan{}
	for name := range l.plans {
		plans[name] = base
	}
	maps.Copy(plans, defaults)
	plans[SelfHosted] = base

	for name, plan := range plans {
		l.applyValues(reflect.ValueOf(&plan).Elem(), "plans."+name+".")
		plans[name] = plan
	}
	return plans
}
