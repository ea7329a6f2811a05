package jobs_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// leased counts the sends that a crash would leave as perhaps begun.
func (w *world) leased() int {
	w.t.Helper()
	return len(storagetest.Select[int64](w.t, w.dir, `SELECT id FROM jobs WHERE kind = 'send' AND state = 'running' AND preparing = 0`))
}

// After a crash every lease means a call that may have begun, and waits for
// callbacks. So only calls that are under way may be leased, or are about to be.
func TestOnlyCallsThatAreUnderWayAreLeased(t *testing.T) {
	bubble(t, func(w *world) {
		w.options.MessagesPerSecond = 5
		w.provider.answer = func(_ int, c call) (*http.Response, error) { return hang(c) }
		w.start()
		w.queueMany(30, false)
		for range 25 {
			synctest.Wait()
			w.is.Equal(w.leased(), len(w.provider.calls()))
			time.Sleep(100 * time.Millisecond)
		}
		w.is.True(len(w.provider.calls()) > 10)
	})
}

func TestTurnsThatWaitInTheQueueKeepTheirOrder(t *testing.T) {
	bubble(t, func(w *world) {
		w.options.MessagesPerSecond = 80
		w.provider.answer = each
		w.start()
		ids := w.queueMany(300, false)
		time.Sleep(10 * time.Second)
		w.allSent(ids)
		for i, c := range w.provider.calls() {
			overtaken := i - slices.Index(ids, c.tag())
			w.is.True(-64 < overtaken && overtaken < 64) // only those that were started side by side
		}
	})
}

func TestAfterAStopOnlyWhatHadBegunWaitsForACallback(t *testing.T) {
	bubble(t, func(w *world) {
		w.options.MessagesPerSecond = 1
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if n == 1 {
				return hang(c)
			}
			return each(n, c)
		}
		w.start()
		ids := w.queueMany(2, false)
		synctest.Wait()
		begun := w.provider.calls()[0].tag() // either may be the first
		waiting := ids[1-slices.Index(ids, begun)]
		w.stop()
		w.start()
		time.Sleep(2 * time.Second)
		w.is.Equal(w.message(waiting).Status, storage.MessageSent)
		w.is.Equal(w.message(begun).Status, storage.MessageQueued)
		time.Sleep(time.Minute)
		w.is.Equal(w.message(begun).Status, storage.MessageSent)
		w.is.Equal(len(w.provider.calls()), 3)
	})
}

// uploading lets uploads hang until they are let go.
func uploading(w *world) (letGo chan struct{}) {
	letGo = make(chan struct{})
	w.provider.answer = func(n int, c call) (*http.Response, error) {
		if strings.HasSuffix(c.path, "/media") {
			select {
			case <-letGo:
			case <-c.done:
				return nil, http.ErrServerClosed
			}
		}
		return uploadsThenSends(n, c)
	}
	return letGo
}

func TestAStopDuringAnUploadDelaysNothing(t *testing.T) {
	bubble(t, func(w *world) {
		letGo := uploading(w)
		m := w.file("image/png", "\x89PNG")
		w.start()
		id := w.picture(m)
		synctest.Wait()
		w.is.Equal(w.leased(), 0) // though it is running
		w.stop()
		close(letGo)
		w.start()
		time.Sleep(time.Second)
		w.is.Equal(w.message(id).Status, storage.MessageSent)
	})
}

func TestACrashDuringAnUploadDelaysNothing(t *testing.T) {
	bubble(t, func(w *world) {
		letGo := uploading(w)
		m := w.file("image/png", "\x89PNG")
		w.start()
		ids := []string{w.picture(m), w.picture(m)} // the second waits for the first
		synctest.Wait()
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			all, err := tx.RunningJobs()
			w.is.Equal(len(all), 2)
			for _, j := range all { // as the next process does when this one was killed
				_, err := tx.FreeJob(j, 1, 0)
				w.is.NoErr(err)
			}
			return err
		})
		w.stop() // what its runs found out is fenced off
		w.is.Equal(storagetest.Select[int64](t, w.dir, `SELECT max(call_begun_at) FROM jobs WHERE kind = 'send'`), []int64{0})
		close(letGo)
		w.start()
		time.Sleep(time.Second)
		for _, id := range ids {
			w.is.Equal(w.message(id).Status, storage.MessageSent)
		}
	})
}

func TestACallAfterAnUploadCountsAsBegun(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if strings.HasSuffix(c.path, "/media") {
				return uploadsThenSends(n, c)
			}
			return hang(c)
		}
		m := w.file("image/png", "\x89PNG")
		w.start()
		w.picture(m)
		synctest.Wait()
		w.is.Equal(len(w.provider.calls()), 2)
		w.is.Equal(w.leased(), 1)
	})
}
