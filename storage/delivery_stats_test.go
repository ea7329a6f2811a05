package storage_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// endpoint is a subscription with very many deliveries.
type endpoint struct {
	db           *storage.DB
	organization int64
	subscription string
	event        string
}

func newEndpoint(t *testing.T) endpoint {
	t.Helper()
	db := open(t, newFile(t))
	tenant := storagetest.Seed(t, db, "Busy")
	s, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test")
	e := happen(t, db, tenant.Organization.ID, "message.sent", "")
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.Run(`DELETE FROM deliveries`) })
	db.SetCountStep(firstCount, 4*firstCount)
	return endpoint{db, tenant.Organization.ID, s.ID, e.ID}
}

// firstCount is how many deliveries of a state are counted in the first step.
const firstCount = 8

// fill stores n deliveries: the ith with a state, a number of attempts and a time that
// SQL computes of i.
func (e endpoint) fill(t *testing.T, name string, n int, status, attempts, at string) {
	t.Helper()
	storagetest.Update(t, e.db, func(tx *storage.Tx) error {
		return tx.Run(`
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, status, attempt_count, duration_ms, created_at)
			SELECT ? || i, ?, ?, ?, 'message.sent', 'e', `+status+`, `+attempts+`, i % 1000, `+at+` FROM n`,
			n, "wbd_"+name, e.organization, e.subscription, e.event)
	})
}

// counted is what a plain query counts.
func (e endpoint) counted(t *testing.T, since storage.Time) (s storage.DeliveryStats) {
	t.Helper()
	var rows []storage.DeliveryStats
	storagetest.View(t, e.db, func(rx *storage.Rx) error {
		return rx.List(&rows, `
			SELECT count(*) FILTER (WHERE status = 'pending') AS pending, count(*) FILTER (WHERE status = 'succeeded') AS succeeded,
				count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'dead') AS dead,
				count(*) FILTER (WHERE status <> 'pending' AND (status <> 'dead' OR attempt_count > 0)) AS attempted
			FROM deliveries
			WHERE created_at >= ?`, since)
	})
	return rows[0]
}

// However the deliveries lie in time, the steps count each once.
func TestStatsOfManyDeliveriesAreExact(t *testing.T) {
	const (
		states = `CASE WHEN i % 7 = 0 THEN 'dead' WHEN i % 11 = 0 THEN 'failed' WHEN i % 13 = 0 THEN 'pending' ELSE 'succeeded' END`
		tries  = `i % 2`
	)
	now := int64(storage.Now())
	for name, fill := range map[string]func(t *testing.T, e endpoint){
		"evenly": func(t *testing.T, e endpoint) {
			e.fill(t, "a", 400, states, tries, fmt.Sprint(now-20_000_000, "+ 1000 * i"))
		},
		"in one millisecond": func(t *testing.T, e endpoint) { e.fill(t, "a", 400, states, tries, fmt.Sprint(now-77_777)) },
		"in the future":      func(t *testing.T, e endpoint) { e.fill(t, "a", 200, states, tries, fmt.Sprint(now+77_777, " + i")) },
		"in bursts that lie far off": func(t *testing.T, e endpoint) {
			e.fill(t, "a", 400, states, tries, fmt.Sprint(now, " - (i / 70) * 1000000000"))
		},
		"each state at its own time": func(t *testing.T, e endpoint) {
			e.fill(t, "a", 200, `'succeeded'`, `1`, fmt.Sprint(now-9_000, " + i"))
			e.fill(t, "b", 200, `'dead'`, tries, fmt.Sprint(now-90_000_000, " + i"))
			e.fill(t, "c", 200, `'pending'`, `0`, fmt.Sprint(now-900_000_000_000, " + 100000 * i"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t)
			e.db.SetTurnTime(0)
			fill(t, e)
			for _, ago := range []int64{now, 1_000_000_000, 77_777, 10_000_000, 3} {
				since := storage.Time(now - ago)
				want := e.counted(t, since)
				var got storage.DeliveryStats
				err := e.db.Search(t.Context(), e.organization, func(rx *storage.Rx) (err error) {
					got, err = rx.DeliveryStats(e.subscription, since)
					return err
				})
				if got.P50, got.P95 = nil, nil; err != nil || got != want {
					t.Errorf("since %d ms: counted %+v (%v), there are %+v", ago, got, err, want)
				}
			}
		})
	}
}

// Deliveries go from one state to another while they are counted. Each of them is
// counted all the same, and once.
func TestStatsCountWhatChangesMeanwhileOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		e := newEndpoint(t)
		e.db.SetTurnTime(0)
		const all = 400
		e.fill(t, "a", all, `'pending'`, `0`, fmt.Sprint(int64(storage.Now())-10_000_000, " + 1000 * i"))

		// One connection is left. On it the count and searches of another organization
		// take turns, and each of those makes some of the deliveries.
		release := hold(t, e.db.Search, 98, storage.MaxSearches)
		const turns = 10
		var delivered atomic.Int32
		others := make(chan error, turns)
		for n := range turns {
			go func() {
				others <- e.db.Search(context.Background(), 99, func(*storage.Rx) error {
					delivered.Add(1)
					return e.db.Update(context.Background(), func(tx *storage.Tx) error {
						return tx.Run(`UPDATE deliveries SET status = 'succeeded' WHERE rowid % ? = ?`, turns, n)
					})
				})
			}()
			synctest.Wait()
		}
		var got storage.DeliveryStats
		done := make(chan error)
		go func() {
			var err error
			got, err = e.db.DeliveryStats(context.Background(), e.organization, e.subscription, 0)
			done <- err
		}()
		synctest.Wait()
		e.db.SetSearches(1)
		release()
		is.NoErr(<-done)
		is.True(delivered.Load() > 1) // while it counted
		is.Equal(got.Total(), all)
		for range turns {
			is.NoErr(<-others)
		}
	})
}

// ask asks for the stats of all deliveries.
func (e endpoint) ask(ctx context.Context) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := e.db.DeliveryStats(ctx, e.organization, e.subscription, 0)
		done <- err
	}()
	synctest.Wait()
	return done
}

func newBusyEndpoint(t *testing.T) endpoint {
	e := newEndpoint(t)
	e.fill(t, "a", firstCount, `'succeeded'`, `1`, `i`)
	return e
}

func TestStatsOfManyDeliveriesAreASearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		e := newBusyEndpoint(t)
		release := hold(t, e.db.Search, 98, storage.MaxSearches)
		is.NoErr(<-e.ask(context.Background())) // so many are counted at once

		e.fill(t, "b", 1, `'succeeded'`, `1`, `5`)
		var all []<-chan error
		for range 20 {
			all = append(all, e.ask(context.Background()))
		}
		for since := range storage.Time(5) {
			done := make(chan error, 1)
			go func() {
				_, err := e.db.DeliveryStats(context.Background(), e.organization, e.subscription, since-5)
				done <- err
			}()
			all = append(all, done)
		}
		synctest.Wait()
		is.Equal(e.db.SearchesWaiting(e.organization), 1) // for all of them
		release()
		for _, done := range all {
			is.NoErr(<-done)
		}
	})
}

func TestALongCountGoesOnWhenItsAskersLosePatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		e := newBusyEndpoint(t)
		e.fill(t, "b", 1, `'succeeded'`, `1`, `5`)
		release := hold(t, e.db.Search, 98, storage.MaxSearches)
		first := e.ask(context.Background())
		time.Sleep(storage.CountPatience)
		is.True(errors.Is(<-first, storage.ErrUnavailable))
		second := e.ask(context.Background())
		is.Equal(e.db.SearchesWaiting(e.organization), 1) // the same one still
		release()
		is.NoErr(<-second)

		release = hold(t, e.db.Search, 98, storage.MaxSearches)
		is.NoErr(<-e.ask(context.Background())) // what took so long is kept for a while
		time.Sleep(time.Minute)
		late := e.ask(context.Background())
		is.Equal(len(late), 0)
		release()
		is.NoErr(<-late)
	})
}

func TestACountThatNobodyWaitsForDoesNotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		e := newBusyEndpoint(t)
		e.fill(t, "b", 1, `'succeeded'`, `1`, `5`)
		release := hold(t, e.db.Search, 98, storage.MaxSearches)
		ctx, leave := context.WithCancel(context.Background())
		one, other := e.ask(ctx), e.ask(ctx)
		stays := e.ask(context.Background())
		leave()
		is.Equal(<-one, context.Canceled)
		is.Equal(<-other, context.Canceled)
		synctest.Wait()
		is.Equal(e.db.SearchesWaiting(e.organization), 1) // somebody waits for it
		time.Sleep(storage.CountPatience)
		is.True(errors.Is(<-stays, storage.ErrUnavailable))

		ctx, leave = context.WithCancel(context.Background())
		last := e.ask(ctx)
		leave()
		is.Equal(<-last, context.Canceled)
		synctest.Wait()
		is.Equal(e.db.SearchesWaiting(e.organization), 0)
		release()
		is.NoErr(<-e.ask(context.Background())) // begins anew
	})
}

func TestACountThatHasBegunGoesOnWithoutItsAskers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		e := newBusyEndpoint(t)
		e.db.SetTurnTime(0)
		e.fill(t, "b", 500, `'succeeded'`, `1`, `i`)

		// It shares the last connection with a search that holds it in its turn.
		release := hold(t, e.db.Search, 98, storage.MaxSearches)
		ctx, leave := context.WithCancel(context.Background())
		asked := e.ask(ctx)
		next := make(chan struct{})
		go e.db.Search(context.Background(), 99, func(*storage.Rx) error { <-next; return nil })
		synctest.Wait()
		e.db.SetSearches(1)
		release()
		synctest.Wait()
		is.Equal(e.db.SearchesWaiting(e.organization), 1) // it has begun, and waits for its next turn
		leave()
		is.Equal(<-asked, context.Canceled)
		synctest.Wait()
		is.Equal(e.db.SearchesWaiting(e.organization), 1)
		close(next)
	})
}
