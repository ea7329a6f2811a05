// Package jobs is each thing that is done from the queue. Package queue runs
// them; what they need is in Workers.
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
	// ReconcileWindow is how long a send whose outcome a dead process left
	// unknown waits for a callback to settle it.
	ReconcileWindow time.Duration

	Webhooks Webhooks

	// OnDropped is told how many callbacks were dropped that matched no message.
	OnDropped func(n int64)
}

// Workers does the jobs.
type Workers struct {
	Options
	Accounts *Accounts // what speaks to the provider about accounts, for requests too
	pace     *pace
	uploads  *uploads
	traffic  *traffic
	started  storage.Time
}

// New makes workers.
func New(o Options) *Workers {
	return &Workers{
		Options: o, Accounts: NewAccounts(o.DB, o.Provider), pace: newPace(o.MessagesPerSecond, o.PairLimit), uploads: newUploads(),
		traffic: newTraffic(o.Webhooks.PerSubscription, deliveriesAtOnce), started: storage.Now(),
	}
}

// sendsAtOnce is how many calls a number may have under way: enough for its
// throughput at the provider's usual latency.
const sendsAtOnce = 64

// sendLease is the time limit of a send, with the upload of its media.
const sendLease = 10 * time.Minute

// Kinds lists every kind of job, the most urgent first.
func (w *Workers) Kinds() []queue.Kind {
	return []queue.Kind{
		{Name: kindSend, Handle: w.send, GiveUp: giveUpSend, Lease: sendLease, Lane: func(string) int { return sendsAtOnce }},
		{Name: kindReceipt, Handle: w.receipt, Lane: func(string) int { return receiptsAtOnce }},
		{Name: storage.KindDeliver, Handle: w.deliver, GiveUp: giveUpDelivery, Own: true, Workers: deliveriesAtOnce, Lane: w.traffic.allowed, Opened: w.traffic.resumed, Ahead: deliveriesAhead, Prepare: w.parcels, Lease: w.Webhooks.lease()},
		{Name: storage.KindOnboard, Handle: w.onboard, GiveUp: giveUpOnboard},
		{Name: kindFetch, Handle: w.fetchMedia, GiveUp: w.giveUpFetch, Lease: fetchLease, Lane: func(string) int { return fetchesAtOnce }},
		{Name: kindUnsubscribe, Handle: w.unsubscribe},
		{Name: kindPurge, Handle: w.purgeAccount, Workers: 1, Lease: purgeLease},
		{Name: kindAccountCheck, Handle: w.checkAccount, Workers: accountChecks, Lease: accountCheckLease},
		{Name: kindAccountSweep, Handle: w.sweepAccounts, Workers: 1, Every: accountSweepEvery, Lease: accountSweepLease},
		{Name: kindMediaRemoval, Handle: w.removeMedia},
		{Name: storage.KindBury, Handle: w.buryDeliveries, Workers: 1, Lease: subscriptionLease},
		{Name: storage.KindUproot, Handle: w.uprootSubscription, Workers: 1, Lease: subscriptionLease},
		{Name: kindMediaSweep, Handle: w.sweepMedia, Workers: 1, Every: mediaSweepEvery, Lease: mediaSweepEvery},
		{Name: kindHousekeeping, Handle: w.keepHouse, Workers: 1, Every: housekeepingEvery, Lease: housekeepingEvery},
		{Name: kindRetention, Handle: w.retain, Workers: 1, Every: retentionEvery, Lease: retentionLease},
	}
}
