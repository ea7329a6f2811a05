package timeout

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

func TestATimerFiresOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		var fired []time.Duration
		timer := AfterFunc(time.Minute, func() { fired = append(fired, time.Since(began)) })
		time.Sleep(30 * time.Second)
		timer.Reset(time.Minute)
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(fired, []time.Duration{90 * time.Second})

		timer.Reset(time.Minute)
		timer.Stop()
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(len(fired), 1)
	})
}

// makeLate makes a timer believe that it should have fired earlier: those of a
// virtual clock are never late.
func (t *Timer) makeLate(by time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due = t.due.Add(-by)
}

func TestALateTimerWaitsOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		var fired time.Duration
		timer := AfterFunc(time.Minute, func() { fired = time.Since(began) })
		timer.makeLate(10 * time.Second)
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(fired, time.Minute+reprieve)
	})
}

func TestATimerThatIsStoppedWhileItIsLateStaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		fired := false
		timer := AfterFunc(time.Minute, func() { fired = true })
		timer.makeLate(10 * time.Second)
		time.Sleep(time.Minute + reprieve/2)
		timer.Stop()
		time.Sleep(time.Hour)
		synctest.Wait()
		is.True(!fired)
	})
}

func TestAContextEndsWithItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		cause := errors.New("too slow")
		ctx, cancel := Context(t.Context(), time.Minute, cause)
		defer cancel()
		time.Sleep(time.Minute - time.Millisecond)
		synctest.Wait()
		is.NoErr(ctx.Err())
		time.Sleep(time.Millisecond)
		synctest.Wait()
		is.Equal(context.Cause(ctx), cause)

		ctx, cancel = Context(t.Context(), time.Minute, cause)
		cancel()
		is.Equal(context.Cause(ctx), context.Canceled)
	})
}
