package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/jobs"
	"confab/jobs/queue"
	"confab/storage"
	"confab/storage/storagetest"
)

const day = 24 * time.Hour

// retained is what the tests of the clock keep: everything for ninety days.
var retained = jobs.Retention{Plans: map[string]int{"self_hosted": 90}, Events: 90, Calls: 90}

// serve runs the jobs on a heap for so long, as a process does that is then stopped.
func (h *heap) serve(d time.Duration, change ...func(*jobs.Options)) {
	h.t.Helper()
	o := jobs.Options{DB: h.db, Files: h.files, Log: slog.New(slog.DiscardHandler), Retention: retained}
	for _, f := range change {
		f(&o)
	}
	runner := queue.New(queue.Options{DB: h.db, Kinds: kinds(jobs.New(o), "housekeeping", "retention"), Workers: 4, Poll: time.Hour, Grace: time.Second, Log: o.Log})

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	time.Sleep(d)
	stop()
	h.is.NoErr(<-ended)
}

// keepForADay stores rows that are kept for a day: an answer and a callback that waits for
// its message.
func (h *heap) keepForADay() {
	h.t.Helper()
	storagetest.Update(h.t, h.db, func(tx *storage.Tx) error {
		_, err := tx.ParkStatus(h.ours.account.ID, "wamid.1", "read", storage.JSON("{}"))
		return errors.Join(err, tx.SaveIdempotentReply(h.ours.Organization.ID, "k", storage.IdempotentReply{Fingerprint: []byte{1}, Status: 201, RequestID: "r", Body: []byte("{}")}))
	})
}

// keptForADay counts what keepForADay stored.
func (h *heap) keptForADay() int {
	h.t.Helper()
	return storagetest.Select[int](h.t, h.dir, `SELECT (SELECT count(*) FROM parked_statuses) + (SELECT count(*) FROM idempotency)`)[0]
}

func TestAStartWithAClockThatIsAheadDeletesNothing(t *testing.T) {
	inHeap(t, func(h *heap) {
		for range 3 {
			h.day()
		}
		h.keepForADay()
		h.serve(time.Hour)

		time.Sleep(200 * day) // to a server that was off it looks the same
		h.serve(6 * time.Second)
		h.is.Equal(h.left(h.ours), daysOf(3))
		h.is.Equal(h.keptForADay(), 2)
	})
}

func TestAServerThatWasOffForLongDeletesAgainAfterADay(t *testing.T) {
	inHeap(t, func(h *heap) {
		for range 3 {
			h.day()
		}
		h.serve(time.Hour)

		// Restarts do not make it begin anew.
		time.Sleep(200 * day)
		for range 2 {
			h.serve(11 * time.Hour)
			h.is.Equal(h.left(h.ours), daysOf(3))
			time.Sleep(13 * time.Hour)
		}
		h.serve(4 * time.Hour)
		h.is.Equal(h.left(h.ours), storage.PurgeCounts{})
	})
}

func TestAPersonWhoConfirmsTheClockIsBelieved(t *testing.T) {
	inHeap(t, func(h *heap) {
		for range 3 {
			h.day()
		}
		h.serve(time.Hour)
		time.Sleep(200 * day)

		what := storage.PurgeScope{Before: storage.Now().Add(-90 * day)}
		purge := func() error {
			return h.workers(jobs.Retention{}).Purge(context.Background(), what, func(storage.PurgeCounts) {})
		}
		h.is.True(errors.Is(purge(), jobs.ErrClock)) // by hand neither
		h.is.Equal(h.left(h.ours), daysOf(3))

		storagetest.Update(t, h.db, (*storage.Tx).ConfirmClock)
		h.is.NoErr(purge())
		h.is.Equal(h.left(h.ours), storage.PurgeCounts{})
		h.day()
		h.serve(time.Hour)
		h.is.Equal(h.left(h.ours), daysOf(1))
	})
}

// TestAClockThatLeapsWhileTheServerRuns sets the clock of a server ahead, back, and
// ahead again, to where rows were stored the first time.
func TestAClockThatLeapsWhileTheServerRuns(t *testing.T) {
	inHeap(t, func(h *heap) {
		for range 3 {
			h.day()
		}
		h.keepForADay()
		var log bytes.Buffer
		var ahead time.Duration
		told := func(o *jobs.Options) {
			o.Log = slog.New(slog.NewTextHandler(&log, nil))
			o.OnClock = func(d time.Duration) { ahead = d }
		}

		leap := func() {
			h.clock.Set(200 * day)
			h.serve(2*time.Hour, told)
			h.event(h.ours, "succeeded") // from the future
			h.is.Equal(h.left(h.ours).Messages, daysOf(3).Messages)
			h.is.Equal(h.keptForADay(), 2)
			h.is.Equal(ahead.Round(day), 200*day)
		}
		go func() {
			time.Sleep(30 * time.Minute)
			h.clock.Set(200 * day)
		}()
		h.serve(2*time.Hour, told)
		leap()
		h.is.Equal(strings.Count(log.String(), `level=ERROR msg="this machine's clock looks wrong`), 4) // each hour, and at each start
		h.is.True(strings.Contains(log.String(), "confab purge --confirm-clock"))

		h.clock.Set(0)
		h.serve(time.Hour, told)
		h.is.Equal(ahead, time.Duration(0))
		h.is.Equal(h.keptForADay(), 2)
		leap()

		// Rows that are old by the right time go at once.
		h.clock.Set(0)
		h.serve(21*time.Hour, told)
		h.is.Equal(h.keptForADay(), 0)
	})
}

// set runs a test in a world whose clock it can set.
func set(t *testing.T, test func(w *world, clock *storagetest.Clock)) {
	t.Helper()
	clock := &storagetest.Clock{}
	bubbleWith(t, func(o *storage.Options) { o.Now = clock.Now }, func(w *world) { test(w, clock) })
}

// TestWhatWasPutOffWhileTheClockWasAheadGoesOnWhenItIsCorrected has each case fail in
// some way at a clock that is ahead, and corrects the clock, with a new process or not.
func TestWhatWasPutOffWhileTheClockWasAheadGoesOnWhenItIsCorrected(t *testing.T) {
	for name, first := range map[string]func(c call) (*http.Response, error){
		"a retry":            func(call) (*http.Response, error) { return refusing(500, 131016), nil },
		"an unknown outcome": hang,
		"a cooldown":         func(call) (*http.Response, error) { return refusing(400, 131048), nil },
	} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", restart: ", restart), func(t *testing.T) {
				set(t, func(w *world, clock *storagetest.Clock) {
					w.provider.answer = func(n int, c call) (*http.Response, error) {
						if n == 1 {
							return first(c)
						}
						return accepted(fmt.Sprint("wamid.", n)), nil
					}
					clock.Set(200 * day)
					w.start()
					one := w.text()
					time.Sleep(30 * time.Second)
					if restart {
						w.stop()
					}
					clock.Set(0)
					if restart {
						w.start()
					}
					two := w.text()
					time.Sleep(5 * time.Minute)
					synctest.Wait()
					if name != "a cooldown" { // which is a refusal of the first
						w.is.Equal(w.message(one).Status, storage.MessageSent)
					}
					w.is.Equal(w.message(two).Status, storage.MessageSent)
				})
			})
		}
	}
}

func TestAccountsAreCheckedAfterTheClockWasAhead(t *testing.T) {
	set(t, func(w *world, clock *storagetest.Clock) {
		w.periodic = []string{"account.check_all"}
		w.provider.answer = func(int, call) (*http.Response, error) { return refusing(500, 131016), nil }
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.MarkAccountChecked(w.account.ID) })
		clock.Set(200 * day)
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.MarkAccountChecked(w.account.ID) })
		clock.Set(0)
		time.Sleep(time.Hour)
		w.start()
		time.Sleep(time.Second)
		w.is.True(len(w.provider.calls()) > 0)
	})
}

func TestAReceiptOfTheFutureIsGivenUpInTime(t *testing.T) {
	set(t, func(w *world, clock *storagetest.Clock) {
		w.provider.answer = func(int, call) (*http.Response, error) { return refusing(500, 131016), nil }
		clock.Set(200 * day)
		w.start()
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return jobs.EnqueueReceipt(tx, w.account.ID, "wamid.1", true) })
		time.Sleep(time.Second)
		clock.Set(0)
		time.Sleep(time.Hour)
		synctest.Wait()
		w.is.Equal(len(w.provider.calls()), 5) // within the life of a typing indicator
	})
}
