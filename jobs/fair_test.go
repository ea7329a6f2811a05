package jobs_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestSixteenAttemptsAtMostAreUnderWayToOneEndpoint(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.play(func(int, post, *http.Request) (*http.Response, error) {
			time.Sleep(100 * time.Millisecond)
			return answered(200, ""), nil
		})
		for n := range 300 {
			w.happen(fmt.Sprint(n))
		}
		w.wait(time.Minute)
		w.is.Equal(w.statuses(), map[string]int{"succeeded": 300})
		w.is.Equal(w.endpoint.most["hooks.test"], 16)
		counts := make(map[string]int)
		for _, event := range w.endpoint.events() {
			counts[event]++
		}
		w.is.Equal(len(counts), 300)
	})
}

// delays is how long the slowest of the events took to its first attempt at a
// host, and how many arrived there.
func (w *delivering) delays(host string, made map[string]time.Time) (worst time.Duration, arrived int) {
	for _, p := range w.endpoint.posts() {
		if at, ok := made[p.event]; ok && strings.Contains(p.url, host) && p.attempt == 1 {
			arrived++
			worst = max(worst, p.at.Sub(at))
		}
	}
	return worst, arrived
}

// A hundred endpoints that were well hang at once, each with all the attempts
// that it may have. Another one is not a moment later for it.
func TestEndpointsThatHangDoNotSlowAnother(t *testing.T) {
	deliveries(t, func(w *delivering) {
		var hang atomic.Bool
		w.endpoint.play(func(_ int, p post, r *http.Request) (*http.Response, error) {
			if hang.Load() && strings.Contains(p.url, "hangs") {
				return hung(r)
			}
			return answered(200, ""), nil
		})
		for n := range 100 {
			storagetest.Subscribe(w.t, w.db, w.tenant, fmt.Sprintf("https://hangs-%d.test/", n))
		}
		for n := range 20 { // all of them prove themselves
			w.happen(fmt.Sprint("before ", n))
		}
		w.wait(time.Second)
		hang.Store(true)
		made := make(map[string]time.Time)
		for n := range 30 {
			event := fmt.Sprint("after ", n)
			made[event] = time.Now()
			w.happen(event)
			w.wait(500 * time.Millisecond)
		}
		worst, arrived := w.delays("hooks.test", made)
		w.is.Equal(arrived, 30)
		w.is.Equal(worst, time.Duration(0))
		held := 0
		for _, most := range w.endpoint.most {
			w.is.True(most <= 16)
			held += most
		}
		w.is.True(held > 1000) // they had the chance to be in the way
		hang.Store(false)
		w.wait(10 * time.Minute) // nothing is lost by it
		pending := 0
		storagetest.View(w.t, w.db, func(rx *storage.Rx) error {
			jobs, err := rx.Jobs(storage.JobFilter{Kind: storage.KindDeliver, Limit: 10_000})
			pending = len(jobs)
			return err
		})
		w.is.Equal(pending, 0)
	})
}
