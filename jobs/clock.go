package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"confab/storage"
)

// ErrClock means that this machine's clock is so far ahead of where it is expected
// that nothing may be deleted by age.
var ErrClock = errors.New("this machine's clock looks wrong")

// confirmClock is the command with which a person says that the clock is right.
const confirmClock = "confab purge --confirm-clock"

// clockReportEvery is how often the log says that the clock looks wrong.
const clockReportEvery = time.Hour

// clockGuard is asked for the time by all that deletes by age. storage.Clock
// explains how it knows that a clock is wrong.
type clockGuard struct {
	db  *storage.DB
	log *slog.Logger
	// onAhead is called with how far the clock is ahead, 0 if it is believed; nil for none.
	onAhead func(time.Duration)

	mu       sync.Mutex // guards what follows
	looked   time.Time  // at the clock, last; zero before the first look
	reported time.Time  // last, that it looks wrong; zero while it does not
}

// now looks at the clock, and returns the time from which ages may be counted. The error
// is ErrClock if there is none.
func (g *clockGuard) now(ctx context.Context) (storage.Time, error) {
	g.mu.Lock()
	defer g.mu.Unlock()

	// Both times have a reading of the clock that cannot be set.
	at, elapsed := time.Now(), time.Duration(0)
	if !g.looked.IsZero() {
		elapsed = at.Sub(g.looked)
	}

	var c storage.Clock
	err := g.db.Update(ctx, func(tx *storage.Tx) (err error) {
		c, err = tx.LookAtClock(elapsed)
		return err
	})
	if err != nil {
		return 0, err
	}
	g.looked = at

	g.report(c)
	if c.Ahead() > 0 {
		return 0, fmt.Errorf("%w: it says %s, but going by when a server last ran it should be %s; if it is right: %s",
			ErrClock, c.Seen, c.Expected, confirmClock)
	}
	return c.Seen, nil
}

// report writes to the log and the metrics whether the clock is believed.
func (g *clockGuard) report(c storage.Clock) {
	if g.onAhead != nil {
		g.onAhead(c.Ahead())
	}

	switch wrong := c.Ahead() > 0; {
	case wrong && (g.reported.IsZero() || time.Since(g.reported) >= clockReportEvery):
		g.reported = time.Now()
		g.log.Error("this machine's clock looks wrong: nothing is deleted by age",
			"clock", c.Seen.String(), "expected", c.Expected.String(), "believed_after", c.TrialLeft().Round(time.Minute).String(),
			"if_right", confirmClock)
	case !wrong && !g.reported.IsZero():
		g.reported = time.Time{}
		g.log.Info("this machine's clock is accepted: deletion by age resumes", "clock", c.Seen.String())
	}
}

// WatchClock looks at the clock for the first time, before anything is stored by it
// in this process. If that fails, as on a full disk, the first job looks again.
func (w *Workers) WatchClock(ctx context.Context) {
	if _, err := w.clock.now(ctx); ignoreClock(err) != nil {
		w.Log.Warn("could not record the clock", "error", err)
	}
}

// ignoreClock makes nothing of an error that says that the clock looks wrong: what
// deletes by age waits, and the guard has logged it.
func ignoreClock(err error) error {
	if errors.Is(err, ErrClock) {
		return nil
	}
	return err
}

// MoveClock moves the clock of a sandbox ahead, which counts as confirmed.
func (w *Workers) MoveClock(ctx context.Context, by time.Duration) error {
	return w.DB.Update(ctx, func(tx *storage.Tx) error {
		tx.AfterCommit(func() { w.Steady.Move(by, func() { w.Clock.Advance(by) }) })
		return tx.MoveClock(by)
	})
}
