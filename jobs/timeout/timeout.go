// Package timeout has time limits for a process that may be stopped as a whole: by
// SIGSTOP, by a debugger, or with the container that it runs in. When such a process
// goes on, every limit is over in the same moment in which it could first read the
// answers that have arrived meanwhile. A timer of this package that fires late waits
// once more for a short time, so that an answer that is there wins.
package timeout

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// lateAfter is how late a timer fires in a process that did not run.
	lateAfter = time.Second
	// reprieve is how long a late timer waits once more.
	reprieve = 2 * time.Second
)

// Timer calls a function when its time is over, like that of time.AfterFunc.
type Timer struct {
	mu        sync.Mutex // guards all fields
	timer     *time.Timer
	due       time.Time // with a monotonic reading: setting the clock changes nothing
	reprieved bool
	stopped   bool
}

// AfterFunc calls f after d in a goroutine of its own.
func AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{due: time.Now().Add(d)}

	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(d, func() {
		if t.isOver() {
			f()
		}
	})
	return t
}

// isOver reports whether a timer that has fired may call its function.
func (t *Timer) isOver() bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.stopped {
		return false
	}
	if t.reprieved || time.Since(t.due) < lateAfter {
		return true
	}

	t.reprieved = true
	t.timer.Reset(reprieve)
	return false
}

// Reset makes the timer wait for d from now on, whatever became of it.
func (t *Timer) Reset(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.due, t.reprieved, t.stopped = time.Now().Add(d), false, false
	t.timer.Reset(d)
}

// Stop keeps the timer from calling its function.
func (t *Timer) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.stopped = true
	t.timer.Stop()
}

// Context returns a context that ends with cause after d. As the context knows no
// deadline, its Err is context.Canceled. The caller must call cancel.
func Context(parent context.Context, d time.Duration, cause error) (ctx context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(parent)
	t := AfterFunc(d, func() { end(cause) })
	return ctx, func() {
		t.Stop()
		end(nil)
	}
}

// RetryAfter reads the header of that name: seconds, or a date. A number that is too large
// becomes the largest that ParseUint returns, which stops reading where it becomes that.
func RetryAfter(value string, now time.Time) time.Duration {
	isNumber := strings.Trim(value, "0123456789") == ""
	seconds, err := strconv.ParseUint(value, 10, 31)
	if err == nil || errors.Is(err, strconv.ErrRange) && isNumber {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}
