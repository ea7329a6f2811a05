package storage

import (
	"context"
	"math"
	"slices"
	"time"
)

// DeliveryStats tell how a subscription's deliveries went.
type DeliveryStats struct {
	Pending, Succeeded, Failed, Dead int
	Attempted                        int // tried at least once
	P50, P95                         *int64
}

// Total is how many deliveries there were.
func (s DeliveryStats) Total() int { return s.Pending + s.Succeeded + s.Failed + s.Dead }

const (
	// maxDurations bounds how many deliveries of each state the percentiles are taken
	// from.
	maxDurations = 10_000

	// How many deliveries of each state are counted in one step: few in the first,
	// which most subscriptions do not exceed, and twice as many in each further one.
	firstCount, longestCount = 1024, 8192
)

// stepSize is how many rows the first step of a walk looks at, and the longest.
type stepSize struct{ first, longest int }

// DeliveryStats counts the deliveries of a subscription that were made since a time,
// for a client of its organization.
func (db *DB) DeliveryStats(ctx context.Context, organization int64, subscription string, since Time) (DeliveryStats, error) {
	return countShared(ctx, db, db.counts, organization, statsKey{subscription, since}, func(rx *Rx) (DeliveryStats, error) {
		return rx.DeliveryStats(subscription, since)
	})
}

// DeliveryHours counts the deliveries of a subscription for each hour from a time on, for
// a client of its organization.
func (db *DB) DeliveryHours(ctx context.Context, organization int64, subscription string, from Time, hours int) ([]DeliveryStats, error) {
	return countShared(ctx, db, db.hourCounts, organization, statsKey{subscription, from}, func(rx *Rx) ([]DeliveryStats, error) {
		return rx.DeliveryHours(subscription, from, hours)
	})
}

// DeliveryHours counts the deliveries of a subscription for each hour from a time on. It
// is a walk, as DeliveryStats is.
func (rx *Rx) DeliveryHours(subscription string, from Time, hours int) ([]DeliveryStats, error) {
	all := make([]DeliveryStats, hours)
	for i := range all {
		hour := timeSpan{from.Add(time.Duration(i) * time.Hour), from.Add(time.Duration(i+1) * time.Hour)}

		var err error
		if all[i], err = rx.countWithin(subscription, hour); err != nil {
			return nil, err
		}
		if all[i].Total() > rx.db.countStep.first {
			if err := rx.Pause(); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// DeliveryStats counts the deliveries of a subscription that were made since a
// time. The percentiles are those of the last attempts, of the newest ones where
// there are very many.
//
// It is a walk, from the newest delivery to the oldest. Each step counts all states of
// a span of time in one snapshot, so that a delivery whose state changes meanwhile is
// counted once.
func (rx *Rx) DeliveryStats(subscription string, since Time) (s DeliveryStats, err error) {
	newest, err := rx.newestDelivery(subscription)
	if err != nil || newest < since {
		return s, err
	}

	if s, err = rx.countWithin(subscription, timeSpan{since, newest + 1}); err != nil {
		return s, err
	}
	s.P50, s.P95, err = rx.durations(subscription, since)
	return s, err
}

// countWithin counts the deliveries that were made in a span of time, in steps.
func (rx *Rx) countWithin(subscription string, whole timeSpan) (s DeliveryStats, err error) {
	span := whole
	for n := rx.db.countStep.first; ; n = min(2*n, rx.db.countStep.longest) {
		some, fits, err := rx.countDeliveries(subscription, span, n)
		if err != nil {
			return s, err
		}

		if !fits {
			span = span.newerHalf()
		} else {
			s.add(some)
			if span.from == whole.from {
				return s, nil
			}
			span = span.before(whole.from)
		}

		if err := rx.Pause(); err != nil {
			return s, err
		}
	}
}

// newestDelivery is when the newest delivery of a subscription was made, 0 if it has
// none. The index has the state before the time.
func (rx *Rx) newestDelivery(subscription string) (newest Time, err error) {
	for _, status := range deliveryStates() {
		var at Time
		err := rx.Get(&at, `
			SELECT coalesce(max(created_at), 0)
			FROM deliveries INDEXED BY deliveries_of_subscription
			WHERE subscription_id = ? AND status = ?`, subscription, status)
		if err != nil {
			return 0, err
		}
		newest = max(newest, at)
	}
	return newest, nil
}

func (s *DeliveryStats) add(some DeliveryStats) {
	s.Pending += some.Pending
	s.Succeeded += some.Succeeded
	s.Failed += some.Failed
	s.Dead += some.Dead
	s.Attempted += some.Attempted
}

// countDeliveries counts the deliveries that were made in a span of time. If a state has
// more than limit of them, and the span could be shorter, they do not fit.
func (rx *Rx) countDeliveries(subscription string, span timeSpan, limit int) (s DeliveryStats, fits bool, err error) {
	most := limit + 1
	if span.isShortest() {
		limit, most = math.MaxInt, -1 // which counts all
	}

	for _, state := range []struct {
		status string
		count  *int
	}{
		{DeliverySucceeded, &s.Succeeded}, {DeliveryDead, &s.Dead}, {DeliveryFailed, &s.Failed}, {DeliveryPending, &s.Pending},
	} {
		err := rx.Get(state.count, `
			SELECT count(*) FROM (
				SELECT 1
				FROM deliveries INDEXED BY deliveries_of_subscription
				WHERE subscription_id = ? AND status = ? AND created_at >= ? AND created_at < ?
				LIMIT ?)`, subscription, state.status, span.from, span.to, most)
		if err != nil || *state.count > limit {
			return s, false, err
		}
	}

	// Whether one was tried is not in the index: the row has to be read.
	var untried int
	if s.Dead > 0 {
		err = rx.Get(&untried, `
			SELECT count(*)
			FROM deliveries INDEXED BY deliveries_of_subscription
			WHERE subscription_id = ? AND status = 'dead' AND created_at >= ? AND created_at < ? AND attempt_count = 0`,
			subscription, span.from, span.to)
	}
	s.Attempted = s.Succeeded + s.Failed + s.Dead - untried
	return s, true, err
}

// timeSpan is a span of time: from one instant on, and before another.
type timeSpan struct{ from, to Time }

// isShortest tells whether the span is a millisecond.
func (s timeSpan) isShortest() bool { return s.to-s.from == 1 }

// newerHalf is the second half of a span that is not the shortest.
func (s timeSpan) newerHalf() timeSpan { return timeSpan{s.to - (s.to-s.from)/2, s.to} }

// before is the span before s, twice as long, but not from before since.
func (s timeSpan) before(since Time) timeSpan {
	return timeSpan{max(since, s.from-2*(s.to-s.from)), s.from}
}

// durations are the median and the 95th percentile of how long attempts took.
func (rx *Rx) durations(subscription string, since Time) (p50, p95 *int64, err error) {
	var all []int64
	for _, status := range []string{DeliverySucceeded, DeliveryFailed, DeliveryDead} {
		var some []int64
		err := rx.List(&some, `
			SELECT duration_ms FROM (
				SELECT duration_ms
				FROM deliveries
				WHERE subscription_id = ? AND status = ? AND created_at >= ?
				ORDER BY created_at DESC, id DESC
				LIMIT ?)
			WHERE duration_ms IS NOT NULL`, subscription, status, since, maxDurations)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, some...)
	}

	if len(all) == 0 {
		return nil, nil, nil
	}
	slices.Sort(all)
	return percentile(all, 50), percentile(all, 95), nil
}

// percentile is the least of the sorted values that at least p of a hundred do
// not exceed.
func percentile(sorted []int64, p int) *int64 {
	rank := (len(sorted)*p + 99) / 100
	return &sorted[max(rank, 1)-1]
}
