package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/queue"
	"confab/storage"
	"confab/storage/storagetest"
)

// claim is a job that was leased, with the time at which it was due.
type claim struct {
	ID   int64        `db:"id"`
	Kind string       `db:"kind"`
	Lane string       `db:"lane"`
	Due  storage.Time `db:"due_at"`
	Held bool         `db:"held"` // it was not leased, but has to wait for its lane
}

// logClaims makes a database keep a list of its claims, in their order: handlers run side by
// side, and could not tell.
func logClaims(t *testing.T, db *storage.DB) (read func() []claim) {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		_, err := tx.Exec(`CREATE TABLE claims (seq INTEGER PRIMARY KEY AUTOINCREMENT, id, kind, lane, due_at, held)`)
		if err == nil {
			_, err = tx.Exec(`CREATE TRIGGER claimed AFTER UPDATE OF state ON jobs WHEN OLD.state = 'due' AND NEW.state IN ('running', 'held')
				BEGIN INSERT INTO claims (id, kind, lane, due_at, held) VALUES (OLD.id, OLD.kind, OLD.lane, OLD.due_at, NEW.state = 'held'); END`)
		}
		return err
	})
	return func() (all []claim) {
		storagetest.View(t, db, func(rx *storage.Rx) error {
			return rx.List(&all, `SELECT id, kind, lane, due_at, held FROM claims ORDER BY seq`)
		})
		return all
	}
}

// moves is a move of a test's clock.
func moves(clock *storage.MovableClock, by time.Duration) queue.Move {
	return queue.Move{
		By:     by,
		Apply:  func(context.Context) error { clock.Advance(by); return nil },
		Before: func(storage.Time) {},
	}
}

// moving runs a test under a virtual clock, on a database whose own clock can be moved.
func moving(t *testing.T, test func(t *testing.T, is *is.I, db *storage.DB, clock *storage.MovableClock)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		clock := &storage.MovableClock{}
		o := storagetest.Options(t, t.TempDir())
		o.Now = clock.Now
		test(t, is.New(t), storagetest.OpenWith(t, o), clock)
	})
}

// TestWhatBecomesDueStartsInOrderWhateverTheJump plays random histories: jobs of kinds with few
// and many workers, with lanes and without, that take their time and fail at times, and jumps
// of seconds and of months.
func TestWhatBecomesDueStartsInOrderWhateverTheJump(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			moving(t, func(t *testing.T, is *is.I, db *storage.DB, clock *storage.MovableClock) {
				random := rand.New(rand.NewPCG(seed, 44))
				claims := logClaims(t, db)
				r, _ := start(t, db, queue.Options{Kinds: randomKinds(random), Workers: 1 + random.IntN(4)})
				synctest.Wait()

				for range 4 {
					enqueueAtRandom(t, db, random)
					synctest.Wait()
					before, from := len(claims()), db.Now()

					jump := time.Duration(1 + random.Int64N(int64([]time.Duration{time.Minute, 2 * day, 100 * day}[random.IntN(3)])))
					_, err := r.MoveClock(context.Background(), moves(clock, jump))
					is.NoErr(err)

					time.Sleep(time.Minute) // until all of it has ended, and what failed was tried again
					synctest.Wait()
					checkOrder(t, claims()[before:], from.Add(jump))
					storagetest.View(t, db, func(rx *storage.Rx) error {
						left, err := rx.DueJobs(storage.DueJob{}, 1000)
						is.Equal(len(left), 0) // whatever was due has started
						return err
					})
				}
			})
		})
	}
}

// randomKinds are kinds whose handlers are quicker than a lane may be that others wait for.
func randomKinds(random *rand.Rand) (kinds []queue.Kind) {
	var mu sync.Mutex
	handle := func(context.Context, storage.Job) (queue.Commit, error) {
		mu.Lock()
		takes, fails := time.Duration(random.Int64N(int64(1500*time.Millisecond))), random.IntN(4) == 0
		mu.Unlock()
		time.Sleep(takes)
		if fails {
			return nil, queue.RetryAfter(time.Second, errors.New("not yet"))
		}
		return nil, nil
	}
	for i := range 5 {
		k := queue.Kind{Name: fmt.Sprintf("kind%d", i), Handle: handle, Workers: random.IntN(4), Reserved: random.IntN(3), MaxDelay: 200 * day}
		if random.IntN(2) == 0 {
			limit := 1 + random.IntN(2)
			k.LaneLimit = func(string) int { return limit }
		}
		kinds = append(kinds, k)
	}
	return kinds
}

func enqueueAtRandom(t *testing.T, db *storage.DB, random *rand.Rand) {
	t.Helper()
	spans := []time.Duration{time.Minute, day, 90 * day}
	var jobs []storage.NewJob
	for range 30 + random.IntN(60) {
		job := storage.NewJob{Kind: fmt.Sprintf("kind%d", random.IntN(5)), Lane: []string{"", "a", "b"}[random.IntN(3)]}
		job.DueAt = db.Now().Add(time.Second + time.Duration(random.Int64N(int64(spans[random.IntN(len(spans))]))))
		jobs = append(jobs, job)
	}
	enqueue(t, db, jobs...)
}

// checkOrder checks that jobs that were due by a time were claimed in the order of their times,
// and those that were not after them.
func checkOrder(t *testing.T, claimed []claim, until storage.Time) {
	t.Helper()
	for i := 1; i < len(claimed); i++ {
		a, b := claimed[i-1], claimed[i]
		if b.Held && b.Due <= until {
			t.Fatalf("%s job %d of lane %q, due at %s, did not start in its turn", b.Kind, b.ID, b.Lane, b.Due)
		}
		if b.Due <= until && (a.Due > b.Due || a.Due == b.Due && a.ID > b.ID) {
			t.Fatalf("%s job %d of lane %q, due at %s, started after %s job %d of lane %q, due at %s",
				b.Kind, b.ID, b.Lane, b.Due, a.Kind, a.ID, a.Lane, a.Due)
		}
	}
}

// TestALaneThatHangsKeepsNobodyElse has an endpoint that does not answer.
func TestALaneThatHangsKeepsNobodyElse(t *testing.T) {
	moving(t, func(t *testing.T, is *is.I, db *storage.DB, clock *storage.MovableClock) {
		claims := logClaims(t, db)
		hang := func(context.Context, storage.Job) (queue.Commit, error) {
			time.Sleep(30 * time.Second)
			return nil, nil
		}
		quick := func(context.Context, storage.Job) (queue.Commit, error) { return nil, nil }
		r, _ := start(t, db, queue.Options{Kinds: []queue.Kind{
			{Name: "hangs", Handle: hang, LaneLimit: func(string) int { return 1 }},
			{Name: "quick", Handle: quick},
		}})
		synctest.Wait()
		now := db.Now()
		hanging := enqueue(t, db,
			storage.NewJob{Kind: "hangs", Lane: "x", DueAt: now.Add(3 * time.Hour)},
			storage.NewJob{Kind: "hangs", Lane: "x", DueAt: now.Add(2 * time.Hour)},
			storage.NewJob{Kind: "hangs", Lane: "x", DueAt: now.Add(time.Hour)})
		late := enqueue(t, db, storage.NewJob{Kind: "quick", DueAt: now.Add(4 * time.Hour)})

		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
		defer cancel()
		started, err := r.MoveClock(ctx, moves(clock, 5*time.Hour))
		is.NoErr(err)
		is.Equal(started, 2)
		is.Equal(time.Since(began), 8*time.Second) // it answers although two of them wait

		is.Equal(ids(claims()), []int64{hanging[2], late[0]})
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		is.Equal(ids(claims()), []int64{hanging[2], late[0], hanging[1], hanging[0]}) // its own jobs stay in order
	})
}

func ids(claims []claim) (all []int64) {
	for _, c := range claims {
		all = append(all, c.ID)
	}
	return all
}

// TestWhatIsPeriodicRunsOnceAfterAMove however many times it would have run.
func TestWhatIsPeriodicRunsOnceAfterAMove(t *testing.T) {
	moving(t, func(t *testing.T, is *is.I, db *storage.DB, clock *storage.MovableClock) {
		runs := make(chan storage.Time, 10)
		r, _ := start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "hourly", Every: time.Hour, Handle: func(context.Context, storage.Job) (queue.Commit, error) {
			runs <- db.Now()
			return nil, nil
		}}}})
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(len(runs), 1) // at the start

		_, err := r.MoveClock(context.Background(), moves(clock, 25*time.Hour))
		is.NoErr(err)
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(len(runs), 2)
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(len(runs), 3) // and then as always
	})
}

// TestAMoveThatFailsMovesNothing and the queue goes on.
func TestAMoveThatFailsMovesNothing(t *testing.T) {
	moving(t, func(t *testing.T, is *is.I, db *storage.DB, clock *storage.MovableClock) {
		ran := make(chan bool, 1)
		r, _ := start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "k", Handle: func(context.Context, storage.Job) (queue.Commit, error) {
			ran <- true
			return nil, nil
		}}}})
		full := errors.New("the disk is full")
		_, err := r.MoveClock(context.Background(), queue.Move{By: day, Apply: func(context.Context) error { return full }})
		is.Equal(err, full)
		enqueue(t, db, storage.NewJob{Kind: "k"})
		synctest.Wait()
		is.Equal(len(ran), 1)
		is.Equal(clock.Offset(), time.Duration(0))
	})
}

// TestWhatRunsGoesOnThroughAMove: its lease counts by the real time.
func TestWhatRunsGoesOnThroughAMove(t *testing.T) {
	moving(t, func(t *testing.T, is *is.I, db *storage.DB, clock *storage.MovableClock) {
		ended := make(chan error, 10)
		r, _ := start(t, db, queue.Options{Kinds: []queue.Kind{{Name: "long", Lease: time.Minute, Handle: func(ctx context.Context, _ storage.Job) (queue.Commit, error) {
			time.Sleep(50 * time.Second)
			ended <- ctx.Err()
			return nil, nil
		}}}})
		enqueue(t, db, storage.NewJob{Kind: "long"})
		time.Sleep(time.Second)
		_, err := r.MoveClock(context.Background(), moves(clock, 100*day))
		is.NoErr(err)
		time.Sleep(10 * time.Minute)
		is.Equal(len(ended), 1) // it was not started again
		is.NoErr(<-ended)
	})
}
