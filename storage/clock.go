package storage

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"
)

const (
	// clockLeap is how far the clock may be from where it is expected without being
	// doubted: more than a day, because some machines run for an hour each day.
	clockLeap = 36 * time.Hour
	// clockTrial is how long a server has to run with a clock that leapt before it is believed.
	clockTrial = 24 * time.Hour
)

// Clock is what is recorded about this machine's clock, so that one which is wrong
// deletes nothing: at a clock that is 200 days ahead, everything is old.
//
// The server looks at the clock again and again and records what it says. A clock
// that is near where it is expected, which is where it was at the last look and as
// much later as time has passed, is believed. One that is further away is on trial:
// it was set, or no server ran for some days, and there is no way to know which. While it is
// on trial and ahead, what deletes by age must wait. The trial ends
//
//   - when the clock is back where it is expected: it was wrong and is right now;
//   - when servers have run for a day with the clock, restarts included: somebody
//     would have corrected it. So a server that was off for long works by itself;
//   - when a person says that it is right: ConfirmClock.
//
// A clock that leaps again while it is on trial starts a new one. A clock that is
// behind is on trial too, but stops nothing: to it, everything is young.
//
// How much time has passed is measured with a clock that cannot be set, which each
// process has: elapsed is what it says of the time since the last look of the same
// process, and 0 at the first. Rows are no witnesses: those that were stored while
// the clock was ahead would vouch for the same wrong time when it comes back.
type Clock struct {
	Expected Time          `json:"expected"` // where it should have been at the last look
	Seen     Time          `json:"seen"`     // what it said then
	Ran      time.Duration `json:"ran"`      // how long servers have run with it on trial

	// Order is that of rows then, for those of their times that no index finds. Only the record has it.
	Order Time `json:"order"`
}

// Ahead is how far the clock is ahead of where it is expected, if that is so far
// that nothing must be deleted by age, and otherwise 0.
func (c Clock) Ahead() time.Duration {
	if ahead := c.Seen.Sub(c.Expected); ahead > clockLeap {
		return ahead
	}
	return 0
}

// TrialLeft is how long servers still have to run until the clock is believed.
func (c Clock) TrialLeft() time.Duration { return clockTrial - c.Ran }

// look is the record after a look at the clock, which says now.
func (c Clock) look(now Time, elapsed time.Duration) Clock {
	near := func(expected Time) bool { return now.Sub(expected).Abs() <= clockLeap }
	expected, ran := c.Expected.Add(elapsed), c.Ran+elapsed

	// Where the last look saw it and not where it is expected: the trial goes on.
	onTrial := near(c.Seen.Add(elapsed))
	switch {
	case near(expected), onTrial && ran >= clockTrial:
		return Clock{Expected: now, Seen: now}
	case onTrial:
		return Clock{Expected: expected, Seen: now, Ran: ran}
	default:
		return Clock{Expected: expected, Seen: now}
	}
}

const clockName = "clock"

// Clock looks at the clock without recording it: for those who only want to know.
func (rx *Rx) Clock() (Clock, error) {
	now := rx.db.Now()
	c, err := rx.recordedClock(now)
	return c.look(now, 0), err
}

// recordedClock reads the record of the clock. Where nothing is, the newest
// row shows when the clock was last right, unless it is from the future.
func (rx *Rx) recordedClock(now Time) (c Clock, err error) {
	text, err := value[[]byte](rx, `SELECT value FROM meta WHERE name = ?`, clockName)
	if err == nil {
		return c, json.Unmarshal(text, &c)
	}
	if !errors.Is(err, ErrNotFound) {
		return c, err
	}

	newest, err := rx.NewestRow()
	if newest == 0 || newest > now {
		newest = now
	}
	return Clock{Expected: newest, Seen: newest}, err
}

// LookAtClock looks at the clock and records what it says. elapsed is how much time
// has passed since the last look of this process, by a clock that cannot be set; 0
// at the first.
func (tx *Tx) LookAtClock(elapsed time.Duration) (Clock, error) {
	before, err := tx.recordedClock(tx.Now)
	if err != nil {
		return before, err
	}

	c := before.look(tx.Now, elapsed)
	return c, tx.recordClock(c)
}

// ConfirmClock records that a person has found the clock right.
func (tx *Tx) ConfirmClock() error { return tx.recordClock(Clock{Expected: tx.Now, Seen: tx.Now}) }

func (tx *Tx) recordClock(c Clock) error {
	c.Order = tx.Order
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return tx.Run(`INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)`, clockName, text)
}

// ClockTime is what the clock says, for what ends at a time.
func (rx *Rx) ClockTime() Time { return rx.db.Now() }

// MaxClockOffset is how far a sandbox's clock can be moved in all.
const MaxClockOffset = 400 * 24 * time.Hour

// MovableClock is this machine's clock, moved ahead by an offset. Only a sandbox has one,
// which its database shares: MoveClock stores the offset there, so that rows from the future are never
// served by a clock that would not understand them. The zero value is not moved.
type MovableClock struct{ offset atomic.Int64 }

// Now is what the clock says, for Options.
func (c *MovableClock) Now() Time { return Now().Add(c.Offset()) }

// Offset is how far the clock is ahead of this machine's: 0 for nil.
func (c *MovableClock) Offset() time.Duration {
	if c == nil {
		return 0
	}
	return time.Duration(c.offset.Load())
}

// Advance moves the clock ahead. Tx.MoveClock stores that first.
func (c *MovableClock) Advance(by time.Duration) { c.offset.Add(int64(by)) }

// Restore sets the clock to the offset that a database has.
func (c *MovableClock) Restore(ctx context.Context, db *DB) error {
	offset, err := Query(ctx, db, (*Rx).ClockOffset)
	if err == nil {
		c.offset.Store(int64(offset))
	}
	return err
}

// offsetName is the row of meta with the offset of a sandbox's clock, in milliseconds.
const offsetName = "clock_offset"

// ClockOffset is how far the clock of a sandbox was moved; 0 if it was not.
func (rx *Rx) ClockOffset() (time.Duration, error) {
	ms, err := metaNumber[int64](rx, offsetName)
	return time.Duration(ms) * time.Millisecond, err
}

// MoveClock stores that a sandbox's clock is moved ahead, which counts as confirmed.
func (tx *Tx) MoveClock(by time.Duration) error {
	before, err := tx.ClockOffset()
	if err != nil {
		return err
	}

	if err := tx.setMetaNumber(offsetName, (before + by).Milliseconds()); err != nil {
		return err
	}
	moved := tx.Now.Add(by)
	return tx.recordClock(Clock{Expected: moved, Seen: moved})
}
