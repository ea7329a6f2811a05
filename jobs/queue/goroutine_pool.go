package queue

import "context"

// maxIdle is how many idle goroutines a pool keeps.
const maxIdle = 64

// goroutinePool runs functions concurrently and uses its goroutines again: a new
// one would have to grow its stack for each network call. It does not limit how
// many run at once.
type goroutinePool struct {
	tasks chan func()
	idle  chan struct{} // holds a token for each goroutine that waits for a task
}

func newGoroutinePool() goroutinePool {
	return goroutinePool{tasks: make(chan func()), idle: make(chan struct{}, maxIdle)}
}

// run runs a task on an idle goroutine, or else on a new one. Idle goroutines
// stay until ctx ends.
func (p goroutinePool) run(ctx context.Context, task func()) {
	select {
	case p.tasks <- task:
	default:
		go p.work(ctx, task)
	}
}

func (p goroutinePool) work(ctx context.Context, task func()) {
	for {
		task()

		select {
		case p.idle <- struct{}{}:
		default:
			return // enough of them are idle
		}

		select {
		case task = <-p.tasks:
			<-p.idle
		case <-ctx.Done():
			return
		}
	}
}
