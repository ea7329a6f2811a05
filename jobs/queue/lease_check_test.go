package queue_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/queue"
	"confab/storage"
	"confab/storage/storagetest"
)

// A job whose run ends while the table is read looks like one that no run has. It is gone
// when that is looked at again, and nothing is said about it.
func TestOnlyAJobThatNobodyHasIsFreed(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var said bytes.Buffer
		ran := make(chan int64, 2)
		start(t, db, queue.Options{Log: slog.New(slog.NewTextHandler(&said, nil)), Kinds: []queue.Kind{{
			Name: "k", Workers: 1, Lease: time.Minute, Handle: func(_ context.Context, j storage.Job) (queue.Commit, error) {
				ran <- j.ID
				return nil, nil
			},
		}}})
		synctest.Wait()

		later := storage.NewJob{Kind: "k", DueAt: storage.Now().Add(time.Hour)}
		enqueue(t, db, later, later)
		var leased []storage.Job
		storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
			tx.Now = later.DueAt
			leased, _, err = tx.ClaimDue("k", 2, time.Minute, func(string) bool { return true })
			return err
		})
		is.Equal(len(leased), 2)
		time.Sleep(90 * time.Second) // both are unknown to the runner
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.FinishJob(leased[0]) })
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(len(ran), 1)
		is.Equal(<-ran, leased[1].ID)
		is.Equal(bytes.Count(said.Bytes(), []byte("leased to no worker")), 1)
	})
}
