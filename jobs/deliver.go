package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"confab/jobs/guard"
	"confab/jobs/queue"
	"confab/jobs/webhook"
	"confab/storage"
)

const (
	// maxRetryAfter is as long as an endpoint may make us wait by Retry-After.
	maxRetryAfter = 24 * time.Hour
	// deliverMargin is what a run may take beside its attempt.
	deliverMargin = time.Minute
	// paused is when to look again at a delivery whose subscription was paused
	// after a worker had it. Its lane is closed by then.
	paused = time.Second
)

// Webhooks says how deliveries are made.
type Webhooks struct {
	Client webhook.Client
	// Schedule is how long to wait after each failed attempt; the one after the
	// last wait is the last.
	Schedule []time.Duration
	// A subscription is disabled after so many failures in a row, but not before
	// the first of them is so old.
	DisableAfter  int
	DisableMinAge time.Duration
	// PerSubscription is how many attempts to one endpoint may be under way.
	PerSubscription int
	// OnAttempt is told of each attempt: how it ended, and how long it took.
	OnAttempt func(result string, took time.Duration)
}

// deliveriesAhead is how many deliveries wait for each place of their lane.
const deliveriesAhead = 16

// lease is the time limit of a run, with the wait for those before it.
func (w Webhooks) lease() time.Duration {
	return (deliveriesAhead+1)*w.Client.Timeout + deliverMargin
}

// deliver makes one attempt to hand an event to an endpoint. The first one and
// those after a failure come along here alike.
//
// An attempt is at least once: the endpoint may have taken what we could not
// write down. It then gets the same bytes under the same ids again.
func (w *Workers) deliver(ctx context.Context, job storage.Job) (queue.Commit, error) {
	p, err := w.parcel(ctx, job)
	if err != nil || p.Status == storage.DeliverySucceeded || p.Status == storage.DeliveryDead {
		return nil, ignoreMissing(err)
	}
	to, err := w.DB.Endpoint(ctx, p.Subscription)
	switch {
	case err != nil:
		return nil, ignoreMissing(err)
	case to.Status == storage.WebhookPaused:
		return nil, queue.Postpone(paused)
	case to.Status == storage.WebhookDisabled:
		return func(tx *storage.Tx) error { return tx.BuryDelivery(p.Delivery) }, nil
	}
	out := w.attempt(ctx, job, p, to)
	if !out.Succeeded() && ctx.Err() != nil {
		return nil, context.Cause(ctx) // we broke it off, which is no fault of the endpoint
	}
	a := attemptOf(p, out)
	if out.Succeeded() {
		w.tell(p, out, 0)
		return func(tx *storage.Tx) error { return tx.MarkDelivered(p, a) }, nil
	}
	delay, again := w.Webhooks.next(a.Attempt, out)
	w.tell(p, out, delay)
	if !again {
		return func(tx *storage.Tx) error { return w.undelivered(tx, job, p, a, 0) }, nil
	}
	return func(tx *storage.Tx) error {
		return w.undelivered(tx, job, p, a, tx.Now.Add(delay))
	}, queue.RetryAfter(delay, errors.New(out.Message))
}

// parcel is what a job delivers. What was enqueued just now has not changed.
func (w *Workers) parcel(ctx context.Context, job storage.Job) (p storage.Parcel, err error) {
	if p, ok := job.Memory.(storage.Parcel); ok {
		return p, nil
	}
	var args storage.DeliverArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return p, fmt.Errorf("arguments: %w", err)
	}
	err = w.DB.View(ctx, func(rx *storage.Rx) (err error) {
		p, err = rx.Parcel(args.Delivery)
		return err
	})
	return p, err
}

// parcels reads what many jobs deliver, in one go.
func (w *Workers) parcels(ctx context.Context, jobs []storage.Job) {
	ids := make([]string, 0, len(jobs))
	of := make(map[string]*storage.Job, len(jobs))
	for i := range jobs {
		var args storage.DeliverArgs
		if jobs[i].Memory == nil && json.Unmarshal(jobs[i].Args, &args) == nil {
			ids, of[args.Delivery] = append(ids, args.Delivery), &jobs[i]
		}
	}
	if len(ids) == 0 {
		return
	}
	var all []storage.Parcel
	err := w.DB.View(ctx, func(rx *storage.Rx) (err error) {
		all, err = rx.Parcels(ids)
		return err
	})
	if err != nil {
		return // each finds out for itself
	}
	for _, p := range all {
		of[p.Delivery].Memory = p
	}
}

// attempt posts the parcel.
func (w *Workers) attempt(ctx context.Context, job storage.Job, p storage.Parcel, to *storage.Endpoint) webhook.Outcome {
	end := w.traffic.begin(job.Lane)
	out := w.Webhooks.Client.Deliver(ctx, webhook.Delivery{
		ID: p.Delivery, Attempt: p.Attempts + 1, Event: p.Event, EventID: p.EventID, Type: p.Type, Source: p.Source, Body: p.Payload,
		URL: to.URL, Headers: to.Headers, Secrets: to.Secrets(storage.Now()),
	})
	end(out.Succeeded())
	return out
}

// attemptOf is an attempt as it is recorded.
func attemptOf(p storage.Parcel, out webhook.Outcome) storage.Attempt {
	took := out.Took.Milliseconds()
	a := storage.Attempt{Attempt: p.Attempts + 1, AttemptedAt: storage.At(out.At), DurationMS: &took}
	if out.Status != 0 {
		a.ResponseStatus = &out.Status
	}
	for _, text := range []struct {
		from string
		to   **string
	}{{out.Snippet, &a.ResponseBodySnippet}, {out.Code, &a.ErrorCode}, {out.Message, &a.ErrorMessage}} {
		if text.from != "" {
			*text.to = &text.from
		}
	}
	return a
}

// next is how long to wait for the attempt after a failed one, if there is one.
func (w Webhooks) next(attempt int, out webhook.Outcome) (delay time.Duration, again bool) {
	if out.Status == http.StatusGone || attempt > len(w.Schedule) {
		return 0, false
	}
	delay = time.Duration(float64(w.Schedule[attempt-1]) * (0.8 + 0.4*rand.Float64()))
	return max(delay, min(out.RetryAfter, maxRetryAfter)), true
}

// undelivered records a failed attempt: on the delivery, which is tried again at
// next or with 0 is dead, and on its subscription, which may have had enough.
func (w *Workers) undelivered(tx *storage.Tx, job storage.Job, p storage.Parcel, a storage.Attempt, next storage.Time) error {
	reason, err := w.Webhooks.hadEnough(tx, p, a)
	if err != nil {
		return err
	}
	if reason == "" {
		return tx.MarkUndelivered(p, a, next)
	}
	// What is outstanding dies with the subscription. This one first, so that it
	// keeps telling what the endpoint did.
	if err := tx.MarkUndelivered(p, a, 0); err != nil {
		return err
	}
	if next != 0 { // its job has been put back
		if err := tx.CancelJob(job.ID); err != nil {
			return err
		}
	}
	tx.AfterCommit(func() { w.Log.Warn("subscription disabled", "subscription", p.Subscription, "reason", reason) })
	return tx.DisableSubscription(p.Subscription, reason)
}

// hadEnough counts a failed attempt and tells why its subscription is to be
// disabled now, if it is.
func (w Webhooks) hadEnough(tx *storage.Tx, p storage.Parcel, a storage.Attempt) (reason string, err error) {
	failures, since, err := tx.CountFailure(p.Subscription)
	switch {
	case err != nil:
		return "", ignoreMissing(err) // it is disabled or deleted already
	case a.ResponseStatus != nil && *a.ResponseStatus == http.StatusGone:
		return storage.ReasonGone, nil
	case failures >= w.DisableAfter && tx.Now.Sub(since) >= w.DisableMinAge:
		return storage.ReasonFailures, nil
	}
	return "", nil
}

// giveUpDelivery ends a delivery that could not even be tried, for reasons of
// our own; it can be replayed.
func giveUpDelivery(job storage.Job, failure error) queue.Commit {
	return func(tx *storage.Tx) error {
		var args storage.DeliverArgs
		if err := json.Unmarshal(job.Args, &args); err != nil {
			return nil // names no delivery
		}
		why := "no attempt could be made"
		if errors.Is(failure, errCancelled) {
			why = failure.Error()
		}
		return tx.MarkDeliveryDead(args.Delivery, guard.ConnectionFailed, why)
	}
}

// tell logs an attempt in one wide line, and counts it.
func (w *Workers) tell(p storage.Parcel, out webhook.Outcome, next time.Duration) {
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
		slog.String("delivery", p.Delivery), slog.String("subscription", p.Subscription), slog.String("event", p.Event),
		slog.String("type", p.Type), slog.Int("attempt", p.Attempts+1), slog.Int("status", out.Status), slog.Duration("took", out.Took),
	}
	if !out.Succeeded() {
		attrs = append(attrs, slog.String("error", out.Code), slog.String("message", out.Message), slog.Duration("next", next))
	}
	w.Log.LogAttrs(context.Background(), level, "webhook attempt", attrs...)
}
