package jobs

import (
	"context"
	"log/slog"
	"time"

	"confab/jobs/attempts"
	"confab/jobs/clockwatch"
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
	Imports   storage.ImportFiles
	Publisher messaging.Publisher
	Log       *slog.Logger
	Retention Retention

	MessagesPerSecond float64 // of each number; 0 for no limit
	PairLimit         bool
	MonthlyMessages   map[string]int // quotas, by the name of the plan that has one
	SendRetries       []time.Duration
	// ReconcileWindow is how long a send whose outcome is unknown, for example
	// after a crash, waits for a callback that tells it.
	ReconcileWindow time.Duration

	Webhooks Webhooks

	// Calls are the calls that hand messages to the provider, for requests that cancel them.
	Calls *SendCalls

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
	ahead    *madeAhead
	uploads  *uploadLocks
	attempts *attempts.Limiter
	clock    *clockGuard
	steady   *clockwatch.Watch
}

// New makes workers.
func New(o Options) *Workers {
	if o.Calls == nil {
		o.Calls = NewSendCalls()
	}
	return &Workers{
		Options:  o,
		Accounts: provisioning.NewAccounts(o.DB, o.Provider),
		ahead:    newMadeAhead(),
		sends:    newSendLimiter(o.MessagesPerSecond, o.PairLimit),
		uploads:  newUploadLocks(),
		attempts: attempts.New(o.Webhooks.PerSubscription, deliveriesAtOnce),
		clock:    &clockGuard{db: o.DB, log: o.Log, onAhead: o.OnClock},
		steady:   clockwatch.New(o.DB.StalledAt),
	}
}

// NoticeStops watches, until ctx ends, whether the process was stopped meanwhile.
func (w *Workers) NoticeStops(ctx context.Context) error { return w.steady.Run(ctx) }

// deliveriesAtOnce is how many attempts may be under way to all endpoints
// together, which bounds the memory that they use.
const deliveriesAtOnce = 2048

// sendsAtOnce is how many calls a number may have under way: enough for its
// throughput at the provider's usual latency.
const sendsAtOnce = 64

// broadcastWorkers is how many messages of broadcasts are sent at once. They have workers of
// their own, and none of those that direct sends share.
const broadcastWorkers = 2 * sendsAtOnce

// maxTransfer is the time limit of a run that uploads or downloads a file.
const maxTransfer = 2 * time.Hour

// Kinds lists every kind of job, the most urgent first. Each has workers of its own,
// so that none waits for another: without them, the sends of a campaign could take
// all workers, and the event of an inbound file would have to wait for their end.
func (w *Workers) Kinds() []queue.Kind {
	return []queue.Kind{
		{
			Name: kindSend, Handle: w.send, GiveUp: giveUpSend, Reserved: 32,
			Lease: sendLease, MaxRun: maxTransfer, MaxDelay: w.maxSendDelay(),
			LaneLimit: func(string) int { return sendsAtOnce }, Turn: w.sendTurn,
		},
		{Name: kindSendLater, Handle: w.sendLater, GiveUp: giveUpSend, Workers: 4, Reserved: 4, MaxDelay: maxScheduled, LooksAtClock: true},
		{Name: kindReceipt, Handle: w.receipt, Reserved: 8, LaneLimit: func(string) int { return receiptsAtOnce }},

		{
			Name: kindBroadcastRun, Handle: w.runBroadcast, GiveUp: giveUpBroadcast, Workers: 8, Reserved: 8,
			Lease: 5 * time.Minute, MaxRun: broadcastMaxRun, MaxDelay: maxScheduled, LooksAtClock: true,
			LaneLimit: func(string) int { return 1 },
		},
		{
			Name: kindBroadcastSend, Handle: w.sendToRecipient, GiveUp: giveUpSend, Workers: broadcastWorkers, Reserved: broadcastWorkers,
			Lease: sendLease, MaxRun: maxTransfer, MaxDelay: w.maxSendDelay(),
			LaneLimit: func(string) int { return sendsAtOnce }, Turn: w.recipientTurn,
		},
		{Name: kindBroadcastResume, Handle: w.resumeBroadcast, Workers: 1, Reserved: 1},

		{
			Name: storage.KindFanOut, Handle: w.fanOut, Workers: 4, Reserved: 4,
			MaxRun: fanOutMaxRun, LaneLimit: func(string) int { return 1 },
		},
		{
			Name: storage.KindDeliver, Handle: w.deliver, GiveUp: giveUpDelivery,
			Lease: w.Webhooks.lease(), MaxDelay: w.Webhooks.maxDelay(),
			Workers: deliveriesAtOnce, Reserved: deliveriesAtOnce, LaneLimit: w.attempts.Limit, OnLaneOpened: w.attempts.Resumed,
			LeaseAhead: deliveriesAhead, Preload: w.preloadDeliveries,
		},

		{Name: storage.KindOnboard, Handle: w.onboard, GiveUp: giveUpOnboard, Reserved: 4},
		{
			Name: kindMediaFetch, Handle: w.fetchMedia, GiveUp: w.giveUpFetch, Reserved: 32, Lease: fetchLease, MaxRun: maxTransfer,
			LaneLimit: func(string) int { return fetchesAtOnce },
		},
		{Name: kindUnsubscribe, Handle: w.unsubscribe, Reserved: 2},
		{Name: kindPurge, Handle: w.purgeAccount, Workers: 1, Reserved: 1, Lease: purgeLease},
		{Name: kindAccountCheck, Handle: w.checkAccount, Workers: accountChecks, Reserved: accountChecks, Lease: accountCheckLease},
		{Name: kindAccountSweep, Handle: w.sweepAccounts, Workers: 1, Reserved: 1, Every: accountSweepEvery, Lease: accountSweepLease},
		{Name: kindMediaRemoval, Handle: w.removeMedia, Reserved: 2},

		{
			Name: storage.KindFailDeliveries, Handle: w.failDeliveries, Workers: 1, Reserved: 1,
			Lease: subscriptionLease, MaxRun: subscriptionMaxRun,
		},
		{
			Name: storage.KindDeleteSubscription, Handle: w.deleteSubscription, Workers: 1, Reserved: 1,
			Lease: subscriptionLease, MaxRun: subscriptionMaxRun,
		},

		{
			Name: kindContactImport, Handle: w.importContacts, GiveUp: giveUpImport, Workers: 4, Reserved: 4, Lease: importLease,
			LaneLimit: func(string) int { return 1 },
		},
		{Name: storage.KindDetachLabel, Handle: w.detachLabel, Workers: 1, Reserved: 1, Lease: labelLease},
		{Name: storage.KindTouchLabel, Handle: w.touchLabeled, Workers: 1, Reserved: 1, Lease: labelLease},

		{Name: kindMediaSweep, Handle: w.sweepMedia, Workers: 1, Reserved: 1, Every: mediaSweepEvery, Lease: mediaSweepEvery},
		{Name: kindHousekeeping, Handle: w.deleteExpired, Workers: 1, Reserved: 1, Every: housekeepingEvery, Lease: housekeepingEvery},
		{Name: kindRetention, Handle: w.applyRetention, Workers: 1, Reserved: 1, Every: retentionEvery, Lease: retentionLease},
	}
}
