package queue

import "context"

// idleHands is how many goroutines a crew keeps that have nothing to do.
const idleHands = 64

// crew runs functions side by side on goroutines that are used again, because a
// new one would have to let its stack grow on the way to the network each time.
type crew struct {
	tasks chan func()
	idle  chan struct{} // holds a token of each that waits for a task
}

func newCrew() crew {
	return crew{tasks: make(chan func()), idle: make(chan struct{}, idleHands)}
}

// run runs a task on a goroutine that waits for one, or else on a new one, which
// stays until ctx ends.
func (c crew) run(ctx context.Context, task func()) {
	select {
	case c.tasks <- task:
	default:
		go c.work(ctx, task)
	}
}

func (c crew) work(ctx context.Context, task func()) {
	for {
		task()
		select {
		case c.idle <- struct{}{}:
		default:
			return // enough of them wait
		}
		select {
		case task = <-c.tasks:
			<-c.idle
		case <-ctx.Done():
			return
		}
	}
}
