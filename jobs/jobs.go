package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

	// ObjectsKept is how long an object of media stays after its last row is gone, because a
	// restored database may name it again.
	ObjectsKept time.Duration
	// InForce returns an error if another server has taken over, which owns the objects
	// then; nil means that there is none.
	InForce func(context.Context) error
	// Fence, if set, returns an error if no message may be sent any more.
	Fence func(context.Context) error

	MessagesPerSecond float64 // of each number; 0 for no limit
	PairLimit         bool
	MonthlyMessages   map[string]int // quotas, by the name of the plan that has one
	SendRetries       []time.Duration
	// ReconcileWindow is how long a send whose outcome is unknown, for example
	// after a crash, waits for a callback that reports it.
	ReconcileWindow time.Duration

	Webhooks Webhooks
	Push     Push

	// GatewayWait is how long a client of the gateway waits for what becomes of its message.
	GatewayWait time.Duration

	// Clock is the one of a sandbox, which can be moved; nil for this machine's.
	Clock *storage.MovableClock

	// OnDropped is called with how many dropped callbacks matched no message.
	OnDropped func(n int64)
	// OnClock is called with how far the clock is ahead, 0 if it is believed.
	OnClock func(ahead time.Duration)
}

// Workers handles the jobs.
type Workers struct {
	Options
	Accounts *provisioning.Accounts // calls the provider about accounts, for requests too
	Calls    *SendCalls             // hand messages to the provider, for requests that cancel them
	Answers  *Answers               // tells the clients of the gateway what became of their messages
	Steady   *clockwatch.Watch      // notices that the process was stopped, or its clock set
	sends    *sendLimiter
	ahead    *madeAhead
	trials   *cooldownTrials
	uploads  *uploadLocks
	attempts *attempts.Limiter
	clock    *clockGuard
}

// New makes workers.
func New(o Options) *Workers {
	return &Workers{
		Options:  o,
		Accounts: provisioning.NewAccounts(o.DB, o.Provider),
		Calls:    new(SendCalls),
		Answers:  &Answers{waiting: make(map[string][]chan provider.Answer)},
		Steady:   clockwatch.New(o.DB.Now, o.DB.StalledAt),
		ahead:    &madeAhead{of: make(map[int64]map[string]bool)},
		trials:   &cooldownTrials{db: o.DB, of: make(map[int64]map[string]bool)},
		sends:    newSendLimiter(o.MessagesPerSecond, o.PairLimit),
		uploads:  new(uploadLocks),
		attempts: attempts.New(o.Webhooks.PerSubscription, deliveriesAtOnce),
		clock:    &clockGuard{db: o.DB, log: o.Log, onAhead: o.OnClock},
	}
}

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
			Name: kindSend, Handle: w.send, GiveUp: giveUpWith(giveUpSend), Reserved: 32,
			Lease: sendLease, MaxRun: maxTransfer, MaxDelay: w.maxSendDelay(),
			LaneLimit: perLane(sendsAtOnce), Turn: turnBy(w.sends.await),
		},
		{
			Name: kindSendLater, Handle: w.sendLater, GiveUp: giveUpWith(giveUpSend), Workers: 4, Reserved: 4,
			MaxDelay: maxScheduled, LooksAtClock: true,
		},
		{
			Name: storage.KindWake, Handle: withArgs(w.wakeConversation), Workers: 2, Reserved: 2,
			MaxDelay: maxWakeDelay, LooksAtClock: true,
		},
		{Name: kindNotify, Handle: withArgs(w.notify), Workers: 4, Reserved: 4},
		{Name: kindPush, Handle: withArgs(w.push), Workers: pushWorkers, Reserved: pushWorkers, LaneLimit: perLane(pushesAtOnce)},
		{Name: kindRules, Handle: withArgs(w.runRules), Workers: 64, Reserved: 16, LaneLimit: perLane(1)},
		{Name: kindIdleRules, Handle: w.askIdleRules, Workers: 1, Reserved: 1, Every: idleRulesEvery, Lease: 10 * time.Minute},
		{Name: kindReceipt, Handle: withArgs(w.receipt), Reserved: 8, LaneLimit: perLane(receiptsAtOnce)},

		{
			Name: kindBroadcastRun, Handle: withArgs(w.runBroadcast), GiveUp: giveUpWith(giveUpBroadcast), Workers: 8, Reserved: 8,
			Lease: 5 * time.Minute, MaxRun: broadcastMaxRun, MaxDelay: maxScheduled, LooksAtClock: true, LaneLimit: perLane(1),
		},
		{
			Name: kindBroadcastSend, Handle: w.sendToRecipient, GiveUp: giveUpWith(giveUpSend),
			Workers: broadcastWorkers, Reserved: broadcastWorkers, Lease: sendLease, MaxRun: maxTransfer, MaxDelay: w.maxSendDelay(),
			LaneLimit: perLane(sendsAtOnce), Turn: turnBy(w.sends.pace),
		},
		{Name: kindBroadcastResume, Handle: withArgs(w.resumeBroadcast), Workers: 1, Reserved: 1},

		{Name: storage.KindFanOut, Handle: withArgs(w.fanOut), Workers: 4, Reserved: 4, MaxRun: fanOutMaxRun, LaneLimit: perLane(1)},
		{
			Name: storage.KindDeliver, Handle: w.deliver, GiveUp: giveUpWith(giveUpDelivery),
			Lease: w.Webhooks.Client.TimeLimit() + deliverMargin, MaxDelay: max(maxRetryAfter, longestOf(w.Webhooks.Schedule, retrySpread)),
			Workers: deliveriesAtOnce, Reserved: deliveriesAtOnce, LaneLimit: w.attempts.Limit, OnLaneOpened: w.attempts.Resumed,
			LeaseAhead: deliveriesAhead, Preload: w.preloadDeliveries,
		},

		{Name: storage.KindOnboard, Handle: withArgs(w.onboard), GiveUp: giveUpWith(giveUpOnboard), Reserved: 4},
		{
			Name: kindMediaFetch, Handle: withArgs(w.fetchMedia), GiveUp: giveUpWith(w.failFetch),
			Reserved: 32, Lease: fetchLease, MaxRun: maxTransfer, LaneLimit: perLane(fetchesAtOnce),
		},
		{Name: kindUnsubscribe, Handle: withArgs(w.unsubscribe), Reserved: 2},
		{Name: kindPurge, Handle: withArgs(w.purgeAccount), Workers: 1, Reserved: 1, Lease: purgeLease},
		{
			Name: kindAccountCheck, Handle: withArgs(w.checkAccount),
			Workers: accountChecks, Reserved: accountChecks, Lease: accountCheckLease,
		},
		{Name: kindAccountSweep, Handle: w.sweepAccounts, Workers: 1, Reserved: 1, Every: accountSweepEvery, Lease: accountSweepLease},
		{Name: kindMediaRemoval, Handle: withArgs(w.removeMedia), Reserved: 2},

		{
			Name: storage.KindFailDeliveries, Handle: withArgs(w.failDeliveries), Workers: 1, Reserved: 1,
			Lease: subscriptionLease, MaxRun: subscriptionMaxRun,
		},
		{
			Name: storage.KindDeleteSubscription, Handle: withArgs(w.deleteSubscription), Workers: 1, Reserved: 1,
			Lease: subscriptionLease, MaxRun: subscriptionMaxRun,
		},

		{
			Name: kindContactImport, Handle: withArgs(w.importContacts), GiveUp: giveUpWith(giveUpImport),
			Workers: 4, Reserved: 4, Lease: importLease, LaneLimit: perLane(1),
		},
		{Name: storage.KindDetachLabel, Handle: withArgs(w.detachLabel), Workers: 1, Reserved: 1, Lease: labelLease},
		{Name: storage.KindTouchLabel, Handle: withArgs(w.touchLabeled), Workers: 1, Reserved: 1, Lease: labelLease},

		{Name: storage.KindBlankJobs, Handle: w.blankJobs, Workers: 1, Reserved: 1, Lease: blankLease},
		{Name: kindMediaSweep, Handle: w.sweepMedia, Workers: 1, Reserved: 1, Every: mediaSweepEvery, Lease: mediaSweepEvery},
		{
			Name: kindObjectRemoval, Handle: w.deleteObjects, Workers: 1, Reserved: 1,
			Every: objectRemovalEvery, Lease: objectRemovalLease, MaxRun: maxTransfer,
		},
		{Name: kindHousekeeping, Handle: w.deleteExpired, Workers: 1, Reserved: 1, Every: housekeepingEvery, Lease: housekeepingEvery},
		{Name: kindRetention, Handle: w.applyRetention, Workers: 1, Reserved: 1, Every: retentionEvery, Lease: retentionLease},
	}
}

func perLane(n int) func(string) int { return func(string) int { return n } }

func argsOf[A any](job storage.Job) (args A, err error) {
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return args, fmt.Errorf("arguments: %w", err)
	}
	return args, nil
}

func enqueue(tx *storage.Tx, j storage.NewJob) error {
	_, err := tx.Enqueue(j)
	return err
}

// withArgs is a handler that gets the arguments of its job. If what they name is gone meanwhile,
// there is nothing left to do.
func withArgs[A any](handle func(context.Context, storage.Job, A) (queue.Commit, error)) queue.Handler {
	return func(ctx context.Context, job storage.Job) (queue.Commit, error) {
		args, err := argsOf[A](job)
		if err != nil {
			return nil, err
		}
		commit, err := handle(ctx, job, args)
		return commit, storage.IgnoreNotFound(err)
	}
}

// giveUpWith ends a job that has failed for good, by its arguments. If they cannot be read,
// they name nothing that is to be ended.
func giveUpWith[A any](end func(tx *storage.Tx, args A, why error) error) func(storage.Job, error) queue.Commit {
	return func(job storage.Job, why error) queue.Commit {
		return func(tx *storage.Tx) error {
			args, err := argsOf[A](job)
			if err != nil {
				return nil
			}
			return end(tx, args, why)
		}
	}
}

// errCancelled is why something ends that depended on a job which a person cancelled.
var errCancelled = errors.New("its job was cancelled")

// Cancel deletes a job in any state, and ends what depends on it as if
// the job were out of attempts. Otherwise a message would stay pending for ever,
// and the event of an inbound file would never be emitted.
func (w *Workers) Cancel(tx *storage.Tx, id int64) error {
	j, err := tx.Job(id)
	if err != nil {
		return err
	}
	if err := tx.CancelJob(id); err != nil {
		return err
	}

	for _, k := range w.Kinds() {
		if k.Name == j.Kind && k.GiveUp != nil {
			return k.GiveUp(j, errCancelled)(tx)
		}
	}
	return nil
}
