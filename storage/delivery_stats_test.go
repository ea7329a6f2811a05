package storage_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// endpoint is a subscription with deliveries.
type endpoint struct {
	db           *storage.DB
	organization int64
	subscription string
	event        string
}

func newEndpoint(t *testing.T) endpoint {
	t.Helper()
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Busy")
	s, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test")
	made := happen(t, db, tenant.Organization.ID, "message.sent", "")
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.Run(`DELETE FROM deliveries`) })
	return endpoint{db, tenant.Organization.ID, s.ID, made.ID}
}

// fill stores n deliveries: the ith with a state, a number of attempts and a time that
// SQL computes of i.
func (e endpoint) fill(t *testing.T, name string, n int, status, attempts, at string) {
	t.Helper()
	storagetest.Update(t, e.db, func(tx *storage.Tx) error {
		return tx.Run(numbers+`
			INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, status, attempt_count, duration_ms, created_at)
			SELECT ? || i, ?, ?, ?, 'message.sent', 'e', `+status+`, `+attempts+`, i % 1000, `+at+` FROM n`,
			n, "wbd_"+name, e.organization, e.subscription, e.event)
	})
}

// make makes a delivery and ends it in a state: of a dead one there are several ways.
func (e endpoint) make(t *testing.T, status string, tried bool, took int64) {
	t.Helper()
	made := happen(t, e.db, e.organization, "message.sent", "")
	storagetest.Update(t, e.db, func(tx *storage.Tx) error {
		var id []string
		if err := tx.List(&id, `SELECT id FROM deliveries WHERE event = ?`, made.ID); err != nil {
			return err
		}
		p, err := tx.OutgoingDelivery(id[0])
		if err != nil {
			return err
		}
		a := storage.Attempt{Attempt: 1, AttemptedAt: tx.Now, DurationMS: &took}
		switch {
		case status == storage.DeliverySucceeded:
			return tx.MarkDelivered(p, a)
		case status == storage.DeliveryFailed:
			return tx.MarkUndelivered(p, a, tx.Now.Add(time.Hour))
		case status == storage.DeliveryDead && tried:
			return tx.MarkUndelivered(p, a, 0)
		case status == storage.DeliveryDead:
			return tx.MarkDeliveryDead(p.Delivery, "timeout", "too late")
		}
		return nil
	})
}

// counted is what a plain query counts.
func (e endpoint) counted(t *testing.T, since, before storage.Time) storage.DeliveryStats {
	t.Helper()
	return view(t, e.db, func(rx *storage.Rx) ([]storage.DeliveryStats, error) {
		var rows []storage.DeliveryStats
		return rows, rx.List(&rows, `
			SELECT count(*) FILTER (WHERE status = 'pending') AS pending, count(*) FILTER (WHERE status = 'succeeded') AS succeeded,
				count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'dead') AS dead,
				count(*) FILTER (WHERE status <> 'pending' AND (status <> 'dead' OR attempt_count > 0)) AS attempted
			FROM deliveries
			WHERE created_at >= ? AND created_at < ?`, since, before)
	})[0]
}

// Deliveries end in every way, now and later; since whenever they are counted, by the hour
// and in sum, each counts once.
func TestStatsOfDeliveriesAreExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		e := newEndpoint(t)
		began := storage.Now()
		states := []string{storage.DeliverySucceeded, storage.DeliverySucceeded, storage.DeliveryFailed, storage.DeliveryDead, storage.DeliveryPending}
		random := rand.New(rand.NewPCG(1, 2))
		for range 60 {
			e.make(t, states[random.IntN(len(states))], random.IntN(2) == 0, 1)
			time.Sleep(time.Duration(random.IntN(10)) * time.Minute)
		}
		check := func() {
			t.Helper()
			for since := began - 1; since < storage.Now(); since += storage.Time(random.IntN(4_000_000)) {
				got := view(t, e.db, func(rx *storage.Rx) (storage.DeliveryStats, error) { return rx.DeliveryStats(e.subscription, since) })
				got.P50, got.P95 = nil, nil
				is.Equal(got, e.counted(t, since, storage.Now()+1))
			}
			hours := view(t, e.db, func(rx *storage.Rx) ([]storage.DeliveryStats, error) {
				return rx.DeliveryHours(e.subscription, began, 6)
			})
			for i, got := range hours {
				from := began.Add(time.Duration(i) * time.Hour)
				is.Equal(got, e.counted(t, from, from.Add(time.Hour)))
			}
		}
		check()

		// Outstanding deliveries are dead, and new ones too.
		storagetest.Update(t, e.db, func(tx *storage.Tx) error { return tx.DisableSubscription(e.subscription, storage.ReasonGone) })
		happen(t, e.db, e.organization, "message.sent", "")
		check()
	})
}

func TestStatsOfManyDeliveriesAreASearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		e := newEndpoint(t)
		ask := func() <-chan storage.DeliveryStats {
			done := make(chan storage.DeliveryStats, 1)
			go func() {
				var got storage.DeliveryStats
				is.NoErr(e.db.List(context.Background(), e.organization, func(rx *storage.Rx) (err error) {
					got, err = rx.DeliveryStats(e.subscription, 0)
					return err
				}))
				done <- got
			}()
			synctest.Wait()
			return done
		}

		e.fill(t, "few", storage.DeliveriesAtOnce-1, `'failed'`, `1`, `i`)
		release := hold(t, e.db.Search, 98, storage.MaxSearches)
		is.Equal((<-ask()).Failed, storage.DeliveriesAtOnce-1) // so many are counted at once
		e.fill(t, "more", 1, `'failed'`, `1`, `i`)
		many := ask()
		is.Equal(e.db.SearchesWaiting(e.organization), 1)
		release()
		is.Equal((<-many).Failed, storage.DeliveriesAtOnce)
	})
}
