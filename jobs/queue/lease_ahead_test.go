package queue_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/queue"
	"confab/storage"
)

// line is a lane that works off a backlog, a second for each job.
type line struct {
	places atomic.Int64
	hang   bool // a job takes until it is stopped

	mu        sync.Mutex
	began     []int64
	now, most int
}

// start runs the lane with jobs leased ahead.
func (l *line) start(t *testing.T, db *storage.DB, places int64) (*queue.Runner, func()) {
	l.places.Store(places)
	return start(t, db, queue.Options{Poll: time.Second, Kinds: []queue.Kind{{
		Name: "job", LeaseAhead: 4, LaneLimit: func(string) int { return int(l.places.Load()) },
		Handle: func(ctx context.Context, j storage.Job) (queue.Commit, error) {
			l.mu.Lock()
			l.began = append(l.began, j.ID)
			l.now++
			l.most = max(l.most, l.now)
			l.mu.Unlock()
			if l.hang {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			time.Sleep(time.Second)
			l.mu.Lock()
			defer l.mu.Unlock()
			l.now--
			return nil, nil
		},
	}}})
}

// done lists what has begun so far.
func (l *line) done() []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.began)
}

// states counts the jobs by state.
func states(t *testing.T, db *storage.DB) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	for _, j := range waiting(t, db) {
		counts[j.State]++
	}
	return counts
}

// pile makes a backlog of one lane.
func pile(t *testing.T, db *storage.DB, n int) []int64 {
	t.Helper()
	return enqueue(t, db, slices.Repeat([]storage.NewJob{{Kind: "job", Lane: "lane"}}, n)...)
}

func TestABacklogIsLeasedAheadAndStaysInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var l line
		l.start(t, db, 4)
		ids := pile(t, db, 50)
		synctest.Wait()
		is.Equal(states(t, db), map[string]int{storage.JobRunning: 4 + 16, storage.JobHeld: 30}) // four run, sixteen are next
		is.Equal(len(l.done()), 4)
		time.Sleep(time.Minute)
		got := l.done()
		is.Equal(len(got), 50)
		is.Equal(l.most, 4)
		for i, id := range got { // those of one moment begin in any order
			is.True(slices.Contains(ids[i/4*4:min(i/4*4+4, 50)], id))
		}
		is.Equal(len(waiting(t, db)), 0)
	})
}

func TestWhatComesLaterGoesBehindWhatIsLeasedAhead(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var l line
		l.start(t, db, 2)
		first := pile(t, db, 6) // two run, four are next, and none is left
		synctest.Wait()
		second := pile(t, db, 1)
		time.Sleep(time.Minute)
		got := l.done()
		is.Equal(len(got), 7)
		is.Equal(got[6], second[0])
		is.True(got[0] == first[0] || got[0] == first[1])
	})
}

func TestALaneThatSlowsDownGivesBackWhatItCannotDoInTime(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var l line
		l.start(t, db, 4)
		ids := pile(t, db, 20)
		synctest.Wait()
		l.places.Store(1)
		time.Sleep(2*time.Second + time.Millisecond)
		synctest.Wait()
		is.True(states(t, db)[storage.JobRunning] <= 1+4) // one runs, and no more than four are next
		is.True(states(t, db)[storage.JobHeld] >= 10)
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(l.done()[4:], ids[4:]) // one by one, in order
	})
}

func TestALaneThatIsClosedGivesBackAll(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var l line
		l.start(t, db, 4)
		ids := pile(t, db, 20)
		synctest.Wait()
		l.places.Store(0)
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(states(t, db), map[string]int{storage.JobHeld: 16})
		l.places.Store(1)
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(l.done()[4:], ids[4:])
	})
}

func TestAStopGivesBackWhatHasNotBegun(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var l line
		_, stop := l.start(t, db, 4)
		ids := pile(t, db, 20)
		synctest.Wait()
		stop()
		is.Equal(states(t, db), map[string]int{storage.JobHeld: 16}) // four were finished
		for _, j := range waiting(t, db) {
			is.Equal(j.Crashes, 0)
		}
		_, _ = l.start(t, db, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(l.done()[4:], ids[4:])
	})
}

func TestAJobThatIsCancelledBeforeItsTurnNeverBegins(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var l line
		runner, _ := l.start(t, db, 4)
		ids := pile(t, db, 20)
		synctest.Wait()
		cancel := ids[10]
		err := db.Update(t.Context(), func(tx *storage.Tx) error { return tx.CancelJob(cancel) })
		is.NoErr(err)
		runner.Cancel(cancel)
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(len(l.done()), 19)
		is.True(!slices.Contains(l.done(), cancel))
	})
}

func TestWhatIsClaimedTogetherIsPreparedTogether(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var mu sync.Mutex
		var sizes []int
		knew := make(map[any]int)
		start(t, db, queue.Options{Kinds: []queue.Kind{{
			Name: "job", LeaseAhead: 4, LaneLimit: func(string) int { return 4 },
			Preload: func(_ context.Context, jobs []storage.Job) {
				sizes = append(sizes, len(jobs))
				for i := range jobs {
					if jobs[i].Memory == nil {
						jobs[i].Memory = "prepared"
					}
				}
			},
			Handle: func(_ context.Context, j storage.Job) (queue.Commit, error) {
				mu.Lock()
				knew[j.Memory]++
				mu.Unlock()
				time.Sleep(time.Second)
				return nil, nil
			},
		}}})
		synctest.Wait()
		pile(t, db, 16)
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(knew, map[any]int{nil: 4, "prepared": 12}) // four began as they were stored
		is.Equal(sizes, []int{12})
	})
}

// A job may end while those after it are being leased. No run is left then to
// hand its place on, and they must not wait for the next poll.
func TestWhatIsLeasedWhileItsTurnComesBeginsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var began atomic.Int64
		end, ended := make(chan struct{}), make(chan struct{}, 10)
		pile(t, db, 4) // before there is a runner: no wake-up is left over
		start(t, db, queue.Options{Poll: time.Hour, OnRun: func(string, string, time.Duration) { ended <- struct{}{} }, Kinds: []queue.Kind{{
			Name: "job", LeaseAhead: 4, LaneLimit: func(string) int { return 1 },
			Preload: func(context.Context, []storage.Job) { // leased, and not in line yet
				close(end)
				<-ended
			},
			Handle: func(context.Context, storage.Job) (queue.Commit, error) {
				began.Add(1)
				<-end
				return nil, nil
			},
		}}})
		synctest.Wait() // no time passes
		is.Equal(began.Load(), int64(4))
	})
}
