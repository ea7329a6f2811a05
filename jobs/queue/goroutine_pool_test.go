package queue

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"
)

// goroutine names the one that asks, by the head of its stack.
func goroutine() string {
	text := make([]byte, 64)
	text = text[:runtime.Stack(text, false)]
	return string(text[:len("goroutine 00000")])
}

func TestAPoolUsesItsGoroutinesAgain(t *testing.T) {
	is := is.New(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		c := newGoroutinePool()
		var seen []string
		for range 3 {
			c.run(ctx, func() { seen = append(seen, goroutine()) })
			synctest.Wait() // it waits for the next task
		}
		is.Equal(len(seen), 3)
		is.Equal(seen[0], seen[1])
		is.Equal(seen[1], seen[2])
	})
}

func TestAPoolRunsAllAtOnceAndKeepsSome(t *testing.T) {
	is := is.New(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		c := newGoroutinePool()
		begun, letGo := make(chan struct{}, 3*maxIdle), make(chan struct{})
		for range 3 * maxIdle {
			c.run(ctx, func() {
				begun <- struct{}{}
				<-letGo
			})
		}
		for range 3 * maxIdle {
			<-begun // none waits for another
		}
		close(letGo)
		synctest.Wait()
		is.Equal(len(c.idle), maxIdle)
		end() // they go home, or the test would wait for them for ever
	})
}
