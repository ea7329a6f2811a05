package app

import (
	"confab/jobs"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/push"
)

// newPush makes the options of notifications, which go through the same guarded client as webhooks.
func (a *App) newPush() jobs.Push {
	return jobs.Push{
		Sender:       push.Sender{Client: a.endpoints, PublicURL: a.URL()},
		HidesContent: !a.Config.Console.PushContent,
		OnScreen: func(organization int64, user, conversation string) bool {
			return a.live.IsOnScreen(organization, user, conversation)
		},
	}
}

// newWorkers makes what does the jobs, with a client of the provider that the
// settings name.
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
		InForce:           a.replicaInForce,
		Fence:             a.fence,
		MessagesPerSecond: c.MessagesPerSecond,
		PairLimit:         c.PairLimit,
		MonthlyMessages:   quotas(a.Config),
		SendRetries:       c.RetrySchedule,
		ReconcileWindow:   c.ReconcileWindow,
		Webhooks:          webhooks,
		Push:              a.newPush(),
		GatewayWait:       a.Config.Gateway.Wait,
		Clock:             a.Clock,
		OnDropped:         a.metrics.countDropped,
		OnClock:           a.metrics.setClockAhead,
	}), nil
}
