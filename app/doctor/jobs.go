package doctor

import (
	"context"
	"time"

	"confab/storage"
)

// stuckAfter is how long a job may be due while a server runs.
const stuckAfter = 10 * time.Minute

func (e *examination) checkJobs(ctx context.Context) {
	counts, ok := query(ctx, e, "jobs", (*storage.Rx).JobCounts)
	if !ok {
		return
	}

	before, now := e.problems, e.db.Now()
	for _, n := range counts {
		late := now.Sub(n.Oldest)
		switch {
		case n.State == storage.JobFailed:
			e.warn("jobs", "See why: confab jobs list --state failed. Then: confab jobs retry ID, or confab jobs cancel ID.",
				"%s failed permanently.", count(n.Count, n.Kind+" job", n.Kind+" jobs"))
		case n.State == storage.JobDue && late > stuckAfter && e.served:
			e.broken("jobs", "Check the server's log, then restart it: confab jobs list --kind "+n.Kind,
				"%s jobs have been due for %s, and the server is not running them.", n.Kind, late.Round(time.Minute))
		case n.State == storage.JobDue && late > stuckAfter:
			e.warn("jobs", "Start the server: confab serve.",
				"%s waiting, the oldest for %s, and no server is running.",
				count(n.Count, n.Kind+" job is", n.Kind+" jobs are"), late.Round(time.Minute))
		}
	}

	if e.problems == before {
		e.ok("jobs", "No jobs have failed or are late.")
	}
}

// checkOrphans checks for jobs about deliveries that are gone.
func (e *examination) checkOrphans(ctx context.Context) {
	if orphans, _ := query(ctx, e, "jobs", (*storage.Rx).OrphanJobs); orphans > 0 {
		e.warn("jobs", "They are harmless, and end when their subscriptions are enabled or deleted. Please report this.",
			"%s waiting for deleted deliveries.", count(orphans, "job is", "jobs are"))
	}
}

func (e *examination) checkEndpoints(ctx context.Context) {
	troubles, ok := query(ctx, e, "webhooks", (*storage.Rx).EndpointTroubles)
	if !ok {
		return
	}

	for _, t := range troubles {
		why := ""
		if t.DisabledReason != nil {
			why = " (" + *t.DisabledReason + ")"
		}

		switch {
		case t.Status == "disabled":
			e.warn("webhooks",
				"Once the endpoint works: confab webhooks enable "+t.ID+", then: confab deliveries replay --subscription "+t.ID,
				"%s is disabled%s; %s not delivered to %s.", t.ID, why, count(t.Dead, "event was", "events were"), t.URL)
		case t.Dead > 0:
			e.warn("webhooks", "Run: confab deliveries replay --subscription "+t.ID,
				"Delivery of %s to %s stopped.", count(t.Dead, "event", "events"), t.URL)
		case t.Failures > 0:
			e.warn("webhooks", "See what it answers: confab deliveries list --status failed",
				"%s has failed %s in a row (%s).", t.URL, count(t.Failures, "time", "times"), t.ID)
		}

		if t.AllExpire {
			e.warn("webhooks", "Create one that does not expire: POST /v1/webhook_subscriptions/"+t.ID+"/secrets.",
				"All signing secrets of %s expire; after the last one, every delivery fails with no_signing_secret.", t.ID)
		}
	}

	if len(troubles) == 0 {
		e.ok("webhooks", "Every endpoint accepts its events.")
	}
}
