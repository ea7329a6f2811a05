package storage

import (
	"math"
	"slices"
	"time"
)

// DeliveryStats say how a subscription's deliveries went.
type DeliveryStats struct {
	Pending, Succeeded, Failed, Dead int
	Attempted                        int // tried at least once
	P50, P95                         *int64
}

// Total is how many deliveries there were.
func (s DeliveryStats) Total() int { return s.Pending + s.Succeeded + s.Failed + s.Dead }

const (
	// maxDurations bounds the deliveries of each state that the percentiles are taken from.
	maxDurations = 10_000
	// deliveriesAtOnce is how many deliveries of a state are counted in one step.
	deliveriesAtOnce = 8192
)

// DeliveryHours counts a subscription's deliveries hour by hour. It is a walk.
func (rx *Rx) DeliveryHours(subscription string, from Time, hours int) ([]DeliveryStats, error) {
	all := make([]DeliveryStats, hours)
	for i := range all {
		start, err := from.Add(time.Duration(i)*hour), error(nil)
		if all[i], err = rx.countDeliveries(subscription, start, start.Add(hour)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// DeliveryStats counts the deliveries of a subscription since a time, with the percentiles of the last, or
// the newest, attempts. It is a walk.
func (rx *Rx) DeliveryStats(subscription string, since Time) (s DeliveryStats, err error) {
	whole := hourStart(since.Add(hour) - 1)
	if s, err = rx.countDeliveries(subscription, whole, math.MaxInt64); err != nil {
		return s, err
	}
	if whole > since {
		part, err := rx.countDeliveries(subscription, since, whole)
		if err != nil {
			return s, err
		}
		s.add(part)
	}

	s.P50, s.P95, err = rx.durations(subscription, since)
	return s, err
}

func (s *DeliveryStats) add(some DeliveryStats) {
	s.Pending += some.Pending
	s.Succeeded += some.Succeeded
	s.Failed += some.Failed
	s.Dead += some.Dead
	s.Attempted += some.Attempted
}

// countDeliveries counts the deliveries that were made in a span of time, in one snapshot,
// so that one whose state changes meanwhile is counted once. Many are a search.
func (rx *Rx) countDeliveries(subscription string, from, to Time) (DeliveryStats, error) {
	s, fits, err := rx.countSome(subscription, from, to, deliveriesAtOnce)
	if err != nil || fits {
		return s, err
	}
	if err := rx.Pause(); err != nil {
		return s, err
	}

	s, _, err = rx.countSome(subscription, from, to, math.MaxInt)
	return s, err
}

// countSome counts up to most deliveries of a state by their rows, and reports whether these are all. Ended
// ones are counted so only where the span does not begin with an hour.
func (rx *Rx) countSome(subscription string, from, to Time, most int) (s DeliveryStats, fits bool, err error) {
	var untried int
	counted := map[string]*int{DeliveryPending: &s.Pending, DeliveryFailed: &s.Failed}
	if from == hourStart(from) {
		err = rx.Scan([]any{&s.Succeeded, &s.Dead, &untried}, `
			SELECT coalesce(sum(succeeded), 0), coalesce(sum(dead), 0), coalesce(sum(untried), 0)
			FROM delivery_hours
			WHERE subscription_id = ? AND hour >= ? AND hour < ?`, subscription, from, to)
	} else {
		counted[DeliverySucceeded], counted[DeliveryDead] = &s.Succeeded, &s.Dead
		err = rx.Scan([]any{&untried}, `
			SELECT count(*)
			FROM deliveries INDEXED BY deliveries_of_subscription
			WHERE subscription_id = ? AND status = 'dead' AND created_at >= ? AND created_at < ? AND attempt_count = 0`,
			subscription, from, to)
	}
	if err != nil {
		return s, false, err
	}

	for status, n := range counted {
		err := rx.Scan([]any{n}, `
			SELECT count(*) FROM (
				SELECT 1
				FROM deliveries INDEXED BY deliveries_of_subscription
				WHERE subscription_id = ? AND status = ? AND created_at >= ? AND created_at < ?
				LIMIT ?)`, subscription, status, from, to, most)
		if err != nil || *n == most {
			return s, false, err
		}
	}
	s.Attempted = s.Succeeded + s.Failed + s.Dead - untried
	return s, true, nil
}

func (rx *Rx) durations(subscription string, since Time) (p50, p95 *int64, err error) {
	var all []int64
	for _, status := range []string{DeliverySucceeded, DeliveryFailed, DeliveryDead} {
		some, err := list[int64](rx, `
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

// percentile is the least of the sorted values that p of a hundred do not exceed.
func percentile(sorted []int64, p int) *int64 {
	rank := (len(sorted)*p + 99) / 100
	return &sorted[max(rank, 1)-1]
}
