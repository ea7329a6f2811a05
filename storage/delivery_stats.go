package storage

import "slices"

// DeliveryStats tell how a subscription's deliveries went.
type DeliveryStats struct {
	Pending, Succeeded, Failed, Dead int
	Attempted                        int // tried at least once
	P50, P95                         *int64
}

// Total is how many deliveries there were.
func (s DeliveryStats) Total() int { return s.Pending + s.Succeeded + s.Failed + s.Dead }

// maxDurations bounds how many deliveries the percentiles are taken from.
const maxDurations = 10_000

// DeliveryStats counts the deliveries of a subscription that were made since a
// time. The percentiles are those of the last attempts, of the newest ones where
// there are very many.
func (rx *Rx) DeliveryStats(subscription string, since Time) (DeliveryStats, error) {
	var s DeliveryStats
	for status, count := range map[string]*int{
		DeliveryPending: &s.Pending, DeliverySucceeded: &s.Succeeded, DeliveryFailed: &s.Failed, DeliveryDead: &s.Dead,
	} {
		err := rx.get(count, `
			SELECT count(*)
			FROM deliveries
			WHERE subscription_id = ? AND status = ? AND created_at >= ?`, subscription, status, since)
		if err != nil {
			return s, err
		}
	}

	var untried int
	err := rx.get(&untried, `
		SELECT count(*)
		FROM deliveries
		WHERE subscription_id = ? AND status = 'dead' AND created_at >= ? AND attempt_count = 0`, subscription, since)
	if err != nil {
		return s, err
	}

	s.Attempted = s.Succeeded + s.Failed + s.Dead - untried
	s.P50, s.P95, err = rx.durations(subscription, since)
	return s, err
}

// durations are the median and the 95th percentile of how long attempts took.
func (rx *Rx) durations(subscription string, since Time) (p50, p95 *int64, err error) {
	var all []int64
	for _, status := range []string{DeliverySucceeded, DeliveryFailed, DeliveryDead} {
		var some []int64
		err := rx.list(&some, `
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
