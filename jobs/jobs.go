// Package jobs has a handler for each kind of job, and the steps that jobs share
// with requests, callbacks and commands.
//
// A handler does its slow work outside of any transaction and returns what to
// write; package queue runs it and writes that together with the job's end. So
// our own effects happen once, and outside calls at least once: a handler must
// bear that its call is repeated after a crash. Kinds lists all of them.
package jobs

import (
	"log/slog"
	"time"

	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

// Options are what job handlers need.
type Options struct {
	DB        *storage.DB
	Provider  *provider.Client
	Files     *storage.Files
	Host      Host
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
	Accounts *Accounts // calls the provider about accounts, for requests too
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
		Accounts: NewAccounts(o.DB, o.Provider),
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
			Lane: func(string) int { return sendsAtOnce },
		},
		{Name: kindReceipt, Handle: w.receipt, Lane: func(string) int { return receiptsAtOnce }},
		{
			Name: storage.KindDeliver, Handle: w.deliver, GiveUp: giveUpDelivery,
			Lease: w.Webhooks.lease(), MaxDelay: w.Webhooks.maxDelay(),
			Own: true, Workers: deliveriesAtOnce, Lane: w.attempts.limit, Opened: w.attempts.resumed,
			Ahead: deliveriesAhead, Prepare: w.preloadDeliveries,
		},
		{Name: storage.KindOnboard, Handle: w.onboard, GiveUp: giveUpOnboard},
		{Name: kindFetch, Handle: w.fetchMedia, GiveUp: w.giveUpFetch, Lease: fetchLease, Lane: func(string) int { return fetchesAtOnce }},
		{Name: kindUnsubscribe, Handle: w.unsubscribe},
		{Name: kindPurge, Handle: w.purgeAccount, Workers: 1, Lease: purgeLease},
		{Name: kindAccountCheck, Handle: w.checkAccount, Workers: accountChecks, Lease: accountCheckLease},
		{Name: kindAccountSweep, Handle: w.sweepAccounts, Workers: 1, Every: accountSweepEvery, Lease: accountSweepLease},
		{Name: kindMediaRemoval, Handle: w.removeMedia},
		{Name: storage.KindBury, Handle: w.failDeliveries, Workers: 1, Lease: subscriptionLease},
		{Name: storage.KindUproot, Handle: w.deleteSubscription, Workers: 1, Lease: subscriptionLease},
		{Name: storage.KindDetachLabel, Handle: w.detachLabel, Workers: 1, Lease: labelLease},
		{Name: storage.KindTouchLabel, Handle: w.touchLabeled, Workers: 1, Lease: labelLease},
		{Name: kindMediaSweep, Handle: w.sweepMedia, Workers: 1, Every: mediaSweepEvery, Lease: mediaSweepEvery},
		{Name: kindHousekeeping, Handle: w.deleteExpired, Workers: 1, Every: housekeepingEvery, Lease: housekeepingEvery},
		{Name: kindRetention, Handle: w.applyRetention, Workers: 1, Every: retentionEvery, Lease: retentionLease},
	}
}
