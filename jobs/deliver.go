package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"confab/jobs/guard"
	"confab/jobs/queue"
	"confab/jobs/webhook"
	"confab/storage"
)

const (
	// maxRetryAfter is the longest Retry-After of an endpoint that is obeyed.
	maxRetryAfter = 24 * time.Hour
	// retrySpread is the part by which waits are made shorter or longer at random.
	retrySpread = 0.2
	// pausedRecheck is the delay of a delivery whose subscription was paused after
	// the job was leased. Its lane is closed by then, so the job will be held.
	pausedRecheck = time.Second
)

// Webhooks says how deliveries are made.
type Webhooks struct {
	Client webhook.Client
	// Schedule is how long to wait after each failed attempt but the last.
	Schedule []time.Duration
	// A subscription is disabled after DisableAfter failures in a row, if the
	// first of them is at least DisableMinAge ago.
	DisableAfter  int
	DisableMinAge time.Duration
	// PerSubscription is how many attempts to one endpoint may be under way.
	PerSubscription int
	// OnAttempt is called after each attempt: how it ended, and how long it took.
	OnAttempt func(result string, took time.Duration)
}

// deliveriesAhead is how many are leased ahead for each that a lane may run at once.
const deliveriesAhead = 16

// longestOf is the longest of some waits, made longer at random by up to a part.
func longestOf(waits []time.Duration, part float64) (longest time.Duration) {
	for _, d := range waits {
		longest = max(longest, time.Duration(float64(d)*(1+part)))
	}
	return longest
}

// deliver makes one attempt to post an event to an endpoint. First attempts and
// retries are the same code.
//
// Delivery is at least once: after a crash the endpoint may have accepted an event
// without our having recorded it. It then gets the same bytes with the same ids.
func (w *Workers) deliver(ctx context.Context, job storage.Job) (queue.Commit, error) {
	p, err := w.loadDelivery(ctx, job)
	if err != nil || p.Status == storage.DeliverySucceeded || p.Status == storage.DeliveryDead {
		return nil, storage.IgnoreNotFound(err)
	}

	to, err := w.DB.Endpoint(ctx, p.Subscription)
	switch {
	case err != nil:
		return nil, storage.IgnoreNotFound(err)
	case to.Status == storage.WebhookPaused:
		return nil, queue.Postpone(pausedRecheck)
	case to.Status == storage.WebhookDisabled:
		return func(tx *storage.Tx) error { return tx.MarkDeliveryDisabled(p.Delivery) }, nil
	}

	out := w.attempt(ctx, job, p, to)
	if !out.Succeeded() && ctx.Err() != nil {
		return nil, context.Cause(ctx) // we stopped it: not the endpoint's failure
	}

	a := attemptOf(p, out)
	if out.Succeeded() {
		w.logAttempt(p, out, 0)
		return func(tx *storage.Tx) error { return tx.MarkDelivered(p, a) }, nil
	}

	// The attempt is recorded in the transaction that puts the job back.
	delay, again := w.Webhooks.retryDelay(a.Attempt, out)
	w.logAttempt(p, out, delay)
	if !again {
		return func(tx *storage.Tx) error { return w.recordFailedAttempt(tx, job, p, a, 0) }, nil
	}
	record := func(tx *storage.Tx) error { return w.recordFailedAttempt(tx, job, p, a, tx.Now.Add(delay)) }
	return record, queue.RetryAfter(delay, errors.New(out.Message))
}

// loadDelivery finds what a job delivers. One that was enqueued or preloaded just now
// has not changed, and is not read again.
func (w *Workers) loadDelivery(ctx context.Context, job storage.Job) (p storage.OutgoingDelivery, err error) {
	if p, ok := job.Memory.(storage.OutgoingDelivery); ok {
		return p, nil
	}

	args, err := argsOf[storage.DeliverArgs](job)
	if err != nil {
		return p, err
	}

	return storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.OutgoingDelivery, error) {
		return rx.OutgoingDelivery(args.Delivery)
	})
}

// preloadDeliveries reads with one query what many jobs deliver, into their Memory.
func (w *Workers) preloadDeliveries(ctx context.Context, jobs []storage.Job) {
	ids := make([]string, 0, len(jobs))
	byDelivery := make(map[string]*storage.Job, len(jobs))
	for i := range jobs {
		var args storage.DeliverArgs
		if jobs[i].Memory == nil && json.Unmarshal(jobs[i].Args, &args) == nil {
			ids, byDelivery[args.Delivery] = append(ids, args.Delivery), &jobs[i]
		}
	}
	if len(ids) == 0 {
		return
	}

	all, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) ([]storage.OutgoingDelivery, error) { return rx.OutgoingDeliveries(ids) })
	if err != nil {
		return // each job reads for itself, and meets the error
	}

	for _, p := range all {
		byDelivery[p.Delivery].Memory = p
	}
}

func (w *Workers) attempt(ctx context.Context, job storage.Job, p storage.OutgoingDelivery, to *storage.Endpoint) webhook.Outcome {
	succeeded := false
	end := w.attempts.Begin(job.Lane)
	defer func() { end(succeeded) }() // also after a panic

	out := w.Webhooks.Client.Deliver(ctx, WebhookOf(p, to, p.Attempts+1, to.Secrets(w.DB.Now())))

	succeeded = out.Succeeded()
	out.At = out.At.Add(w.Clock.Offset())
	return out
}

// WebhookOf is what an endpoint gets in an attempt of a delivery, signed with some secrets.
func WebhookOf(p storage.OutgoingDelivery, to *storage.Endpoint, attempt int, secrets []string) webhook.Delivery {
	return webhook.Delivery{
		ID:      p.Delivery,
		Attempt: attempt,
		Event:   p.Event,
		EventID: p.EventID,
		Type:    p.Type,
		Source:  p.Source,
		Body:    p.Payload,
		URL:     to.URL,
		Headers: to.Headers,
		Secrets: secrets,
		Native:  to.Format == storage.FormatProvider,
	}
}

func attemptOf(p storage.OutgoingDelivery, out webhook.Outcome) storage.Attempt {
	return storage.Attempt{
		Attempt:             p.Attempts + 1,
		AttemptedAt:         storage.At(out.At),
		DurationMS:          new(out.Took.Milliseconds()),
		ResponseStatus:      storage.OrNil(out.Status),
		ResponseBodySnippet: storage.OrNil(out.Snippet),
		ErrorCode:           storage.OrNil(out.Code),
		ErrorMessage:        storage.OrNil(out.Message),
	}
}

// retryDelay is how long to wait after a failed attempt. again is false if that was
// the last one, or if the endpoint says that it is gone.
func (w Webhooks) retryDelay(attempt int, out webhook.Outcome) (delay time.Duration, again bool) {
	if out.Status == http.StatusGone || attempt > len(w.Schedule) {
		return 0, false
	}

	delay = queue.Jitter(w.Schedule[attempt-1], retrySpread)
	return max(delay, min(out.RetryAfter, maxRetryAfter)), true
}

// recordFailedAttempt records a failed attempt: on the delivery, which is tried
// again at next, or is dead if next is 0; and on its subscription, which may be
// disabled by it.
func (w *Workers) recordFailedAttempt(
	tx *storage.Tx, job storage.Job, p storage.OutgoingDelivery, a storage.Attempt, next storage.Time,
) error {
	reason, err := w.Webhooks.shouldDisable(tx, p, a)
	if err != nil {
		return err
	}
	if reason == "" {
		return tx.MarkUndelivered(p, a, next)
	}

	// DisableSubscription makes all outstanding deliveries dead. This one is marked
	// before, so that it keeps its own error.
	if err := tx.MarkUndelivered(p, a, 0); err != nil {
		return err
	}
	if next != 0 { // the transaction has put its job back
		if err := tx.CancelJob(job.ID); err != nil {
			return err
		}
	}

	tx.AfterCommit(func() { w.Log.Warn("subscription disabled", "subscription", p.Subscription, "reason", reason) })
	return tx.DisableSubscription(p.Subscription, reason)
}

// shouldDisable counts a failed attempt of a subscription. It returns why the
// subscription must be disabled now, or "".
func (w Webhooks) shouldDisable(tx *storage.Tx, p storage.OutgoingDelivery, a storage.Attempt) (reason string, err error) {
	failures, since, err := tx.CountFailure(p.Subscription)
	switch {
	case err != nil:
		return "", storage.IgnoreNotFound(err) // disabled or deleted already
	case a.ResponseStatus != nil && *a.ResponseStatus == http.StatusGone:
		return storage.ReasonGone, nil
	case failures >= w.DisableAfter && tx.Now.Sub(since) >= w.DisableMinAge:
		return storage.ReasonFailures, nil
	}
	return "", nil
}

// giveUpDelivery makes a delivery dead that could not even be attempted, because of
// our own errors. It can be replayed.
func giveUpDelivery(tx *storage.Tx, args storage.DeliverArgs, failure error) error {
	why := "no attempt could be made"
	if errors.Is(failure, errCancelled) {
		why = failure.Error()
	}
	return tx.MarkDeliveryDead(args.Delivery, guard.ConnectionFailed, why)
}

// logAttempt logs an attempt in one line with all its fields, and counts it.
func (w *Workers) logAttempt(p storage.OutgoingDelivery, out webhook.Outcome, next time.Duration) {
	if w.Webhooks.OnAttempt != nil {
		w.Webhooks.OnAttempt(cmp.Or(out.Code, storage.DeliverySucceeded), out.Took)
	}

	level := slog.LevelInfo
	if !out.Succeeded() {
		level = slog.LevelWarn
	}
	if !w.Log.Enabled(context.Background(), level) {
		return
	}

	attrs := []slog.Attr{
		slog.String("delivery", p.Delivery),
		slog.String("subscription", p.Subscription),
		slog.String("event", p.Event),
		slog.String("type", p.Type),
		slog.Int("attempt", p.Attempts+1),
		slog.Int("status", out.Status),
		slog.Duration("took", out.Took),
	}
	if !out.Succeeded() {
		attrs = append(attrs, slog.String("error", out.Code), slog.String("message", out.Message), slog.Duration("retry_in", next))
	}
	w.Log.LogAttrs(context.Background(), level, "webhook attempt", attrs...)
}
