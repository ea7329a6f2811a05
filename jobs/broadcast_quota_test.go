package jobs_test

import (
	"net/http"
	"testing"
	"time"

	"confab/jobs"
	"confab/storage"
)

// What was counted is sent, also what had to be tried again, and only then the broadcast
// pauses.
func TestABroadcastSendsWhatWasCountedBeforeItPausesForTheQuota(t *testing.T) {
	for name, failures := range map[string]int{"at once": 0, "with retries": 20} {
		t.Run(name, func(t *testing.T) {
			broadcasting(t, func(w *world) {
				w.options.MonthlyMessages = map[string]int{"self_hosted": 60}
				w.provider.answer = func(n int, c call) (*http.Response, error) {
					if n <= failures {
						return refusing(500, 131016), nil
					}
					return acceptedTo(n, c)
				}
				w.start()
				b := w.broadcast(people(100))
				time.Sleep(10 * time.Minute)

				b = w.now(b)
				w.is.Equal(b.Status, storage.BroadcastPaused)
				w.is.Equal(*b.PausedReason, "quota_exceeded")
				w.is.Equal(b.BroadcastCounts, storage.BroadcastCounts{Total: 100, Waiting: 40, Sent: 60})
				w.is.Equal(b.Open, int64(0))

				w.move(b, jobs.ResumeBroadcast) // it is used up still
				time.Sleep(time.Minute)
				w.is.Equal(w.now(b).Status, storage.BroadcastPaused)
				w.is.Equal(w.now(b).Sent, int64(60))
			})
		})
	}
}
