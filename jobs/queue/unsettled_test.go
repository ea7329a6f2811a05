package queue_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/queue"
	"confab/storage"
)

// A run whose handler has returned has given its place away, but until its end is
// written it is unknown whether the job will come back.
func TestAJobIsUnsettledUntilItsEndIsWritten(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		answer := make(chan error)
		r, _ := start(t, db, queue.Options{Kinds: []queue.Kind{{
			Name: "k", LaneLimit: func(string) int { return 1 },
			Handle: func(context.Context, storage.Job) (queue.Commit, error) { return nil, <-answer },
		}}})
		synctest.Wait()
		id := enqueue(t, db, storage.NewJob{Kind: "k", Lane: "a"})[0]
		synctest.Wait()
		state := func() []bool {
			return []bool{r.Busy("k", "a"), r.Unsettled("k", "a", id+1), r.Unsettled("k", "a", id), r.Unsettled("k", "b", math.MaxInt64)}
		}
		is.Equal(state(), []bool{true, true, false, false})

		// The writer is occupied while the handler returns.
		occupied, free := make(chan struct{}), make(chan struct{})
		go db.Update(context.Background(), func(*storage.Tx) error {
			close(occupied)
			<-free
			return nil
		})
		<-occupied
		answer <- errors.New("not yet")
		synctest.Wait()
		is.Equal(state(), []bool{false, true, false, false})

		close(free)
		synctest.Wait()
		is.Equal(state(), []bool{false, false, false, false})
		is.Equal(waiting(t, db)[0].State, storage.JobDue)

		time.Sleep(time.Minute)
		answer <- nil
		synctest.Wait()
		is.Equal(len(waiting(t, db)), 0)
	})
}
