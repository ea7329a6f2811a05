package jobs

import (
	"log/slog"
	"time"

	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/jobs/queue"
	"confab/storage"
)

// Options are what job handlers need.
type Options struct {
	DB        *storage.DB
	Provider  *provider.Client
	Files     *storage.Files
	Publisher messaging.Publisher
	Log       *slog.Logger
	Retention Retention

	MessagesPerSecond float64 // of each number; 0 for no limit
	PairLimit         bool
	SendRetries       []time.Duration
	// ReconcileWindow is how long a send whose outcome is unknown, for example
	// after a crash, waits for a callback that tells it.
	ReconcileWindow time.Duration

	Webhooks Webhooks

	// OnDropped is called with how many callbacks were dropped because they
	// matched no message.
	OnDropped func(n int64)
	// OnClock is called with how far the clock is ahead of where it is expected, 0
	// if it is believed.
	OnClock func(ahead time.Duration)
}

// Workers handles the jobs.
type Workers struct {
	Options
	Accounts *provisioning.Accounts // calls the provider about accounts, for requests too
	sends    *sendLimiter
	uploads  *uploadLocks
	attempts *attemptLimiter
	clock    *clockGuard
	started  time.Time
}

// New makes workers.
func New(o Options) *Workers {
	return &Workers{
		Options:  o,
		Accounts: provisioning.NewAccounts(o.DB, o.Provider),
		sends:    newSendLimiter(o.MessagesPerSecond, o.PairLimit),
		uploads:  newUploadLocks(),
		attempts: newAttemptLimiter(o.Webhooks.PerSubscription, deliveriesAtOnce),
		clock:    &clockGuard{db: o.DB, log: o.Log, onAhead: o.OnClock},
		started:  time.Now(),
	}
}

// sendsAtOnce is how many calls a number may have under way: enough for its
// throughput at the provider's usual latency.
const sendsAtOnce = 64

// sendLease is the time limit of a send, including the upload of its media.
const sendLease = 10 * time.Minute

// Kinds lists every kind of job, the most urgent first.
func (w *Workers) Kinds() []queue.Kind {
	return []queue.Kind{
		{
			Name: kindSend, Handle: w.send, GiveUp: giveUpSend, Lease: sendLease, MaxDelay: w.maxSendDelay(),
			LaneLimit: func(string) int { return sendsAtOnce },
		},
		{Name: kindReceipt, Handle: w.receipt, LaneLimit: func(string) int { return receiptsAtOnce }},
		{
			Name: storage.KindDeliver, Handle: w.deliver, GiveUp: giveUpDelivery,
			Lease: w.Webhooks.lease(), MaxDelay: w.Webhooks.maxDelay(),
			OwnWorkers: true, Workers: deliveriesAtOnce, LaneLimit: w.attempts.limit, OnLaneOpened: w.attempts.resumed,
			LeaseAhead: deliveriesAhead, Preload: w.preloadDeliveries,
		},
		{Name: storage.KindOnboard, Handle: w.onboard, GiveUp: giveUpOnboard},
		{
			Name: kindMediaFetch, Handle: w.fetchMedia, GiveUp: w.giveUpFetch, Lease: fetchLease,
			LaneLimit: func(string) int { return fetchesAtOnce },
		},
		{Name: kindUnsubscribe, Handle: w.unsubscribe},
		{Name: kindPurge, Handle: w.purgeAccount, Workers: 1, Lease: purgeLease},
		{Name: kindAccountCheck, Handle: w.checkAccount, Workers: accountChecks, Lease: accountCheckLease},
		{Name: kindAccountSweep, Handle: w.sweepAccounts, Workers: 1, Every: accountSweepEvery, Lease: accountSweepLease},
		{Name: kindMediaRemoval, Handle: w.removeMedia},
		{Name: storage.KindFailDeliveries, Handle: w.failDeliveries, Workers: 1, Lease: subscriptionLease},
		{Name: storage.KindDeleteSubscription, Handle: w.deleteSubscription, Workers: 1, Lease: subscriptionLease},
		{Name: storage.KindDetachLabel, Handle: w.detachLabel, Workers: 1, Lease: labelLease},
		{Name: storage.KindTouchLabel, Handle: w.touchLabeled, Workers: 1, Lease: labelLease},
		{Name: kindMediaSweep, Handle: w.sweepMedia, Workers: 1, Every: mediaSweepEvery, Lease: mediaSweepEvery},
		{Name: kindHousekeeping, Handle: w.deleteExpired, Workers: 1, Every: housekeepingEvery, Lease: housekeepingEvery},
		{Name: kindRetention, Handle: w.applyRetention, Workers: 1, Every: retentionEvery, Lease: retentionLease},
	}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
