package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs"
	"confab/jobs/queue"
	"confab/storage"
	"confab/storage/storagetest"
)

// work runs the jobs on a database until the test ends.
func work(t *testing.T, db *storage.DB, change ...func(*jobs.Options)) {
	t.Helper()
	options := jobs.Options{DB: db, Files: storagetest.Files(t, t.TempDir()), Log: slog.New(slog.DiscardHandler), Retention: jobs.Retention{Calls: 2, Events: 2}}
	for _, f := range change {
		f(&options)
	}
	workers := jobs.New(options)
	runner := queue.New(queue.Options{DB: db, Kinds: kinds(workers, "housekeeping", "retention"), Workers: 4, Poll: time.Hour, Grace: time.Second, Log: workers.Log})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestHousekeepingForgetsWhatIsTooOldAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := storagetest.Open(t)
		org := storagetest.Seed(t, db, "Acme").Organization.ID
		remember := func(key string) {
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				calls := make([]storage.APICall, 700) // more than one batch
				for i := range calls {
					calls[i] = storage.APICall{Method: "GET", Path: "/v1/me", Status: 200, RequestID: fmt.Sprint(key, i), CreatedAt: tx.Now}
				}
				return errors.Join(tx.InsertAPICalls(calls), tx.SaveIdempotentReply(org, key, storage.IdempotentReply{Fingerprint: []byte{1}, Status: 201, RequestID: key, Body: []byte("{}")}))
			})
		}
		remember("old")
		work(t, db)
		time.Sleep(2*24*time.Hour + time.Minute)
		remember("new")
		time.Sleep(time.Hour + time.Minute)

		storagetest.View(t, db, func(rx *storage.Rx) error {
			calls, err := rx.APICalls(storage.APICallFilter{Limit: 10_000})
			is.NoErr(err)
			is.Equal(len(calls), 700)
			is.Equal(calls[0].RequestID, "new0")
			_, err = rx.IdempotentReply(org, "new")
			is.NoErr(err)
			return nil
		})
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			n, err := tx.DeleteOldIdempotentReplies(tx.Now, 10)
			is.Equal(n, int64(0)) // housekeeping left no old one
			return err
		})
	})
}

func TestCallbacksThatWaitedInVainAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := storagetest.Open(t)
		account := storagetest.Connect(t, db, storagetest.Seed(t, db, "Acme"), "100200300").ID
		park := func(n int, prefix string) {
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				for i := range n {
					if _, err := tx.ParkStatus(account, fmt.Sprint(prefix, i), "read", storage.JSON("{}")); err != nil {
						return err
					}
				}
				return nil
			})
		}
		park(700, "wamid.old.") // more than one batch
		var dropped atomic.Int64
		work(t, db, func(o *jobs.Options) { o.OnDropped = func(n int64) { dropped.Add(n) } })
		time.Sleep(23 * time.Hour)
		synctest.Wait()
		is.Equal(dropped.Load(), int64(0))
		park(3, "wamid.new.")
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		is.Equal(dropped.Load(), int64(700))
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		is.Equal(dropped.Load(), int64(703))
	})
}

func TestHousekeepingGivesEmptySpaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := storagetest.Open(t)
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			for range 3000 {
				if err := tx.InsertRawCallback(storage.RawCallback{Reason: "test", Payload: make([]byte, 4000)}); err != nil {
					return err
				}
			}
			return nil
		})
		time.Sleep(3 * 24 * time.Hour)
		work(t, db)
		time.Sleep(time.Hour)
		storagetest.View(t, db, func(rx *storage.Rx) error {
			kept, err := rx.RawCallbacks(1)
			is.NoErr(err)
			is.Equal(len(kept), 0)
			free, err := rx.FreePages()
			is.True(free <= 256) // of some three thousand
			return err
		})
	})
}
