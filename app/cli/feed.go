package cli

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"confab/app/simulator"
)

// feedBuffer is how many activities may wait to be printed. The simulator never
// waits for the terminal: what exceeds the buffer is only counted.
const feedBuffer = 256

// feed prints a line on the terminal for each activity of a simulator.
//
// It subscribes when it is made, so that nothing is missed, but prints nothing before start: until
// then the command prints its own text. A single goroutine prints. stop unsubscribes, ends that
// goroutine and prints the queued lines. A nil feed, for output that is no terminal, does nothing.
type feed struct {
	out     io.Writer
	queue   chan simulator.Activity
	dropped atomic.Int64 // while there was no room
	cancel  func()
	done    chan struct{}
	printer sync.WaitGroup
}

// newTerminalFeed makes a feed if out is a terminal, and else returns nil.
func newTerminalFeed(sim *simulator.Server, out io.Writer) *feed {
	if !isTerminal(out) {
		return nil
	}
	return newFeed(sim.Subscribe, out)
}

func newFeed(subscribe func(func(simulator.Activity)) (cancel func()), out io.Writer) *feed {
	f := &feed{out: out, queue: make(chan simulator.Activity, feedBuffer), done: make(chan struct{})}

	// The simulator calls this while it handles a request, so it never blocks.
	f.cancel = subscribe(func(a simulator.Activity) {
		select {
		case f.queue <- a:
		default:
			f.dropped.Add(1)
		}
	})
	return f
}

// start begins to print: first the queued lines, then new ones.
func (f *feed) start() {
	if f == nil {
		return
	}
	fmt.Fprintln(f.out)

	f.printer.Go(func() {
		for {
			select {
			case a := <-f.queue:
				f.print(a)
			case <-f.done:
				return
			}
		}
	})
}

// stop prints the remaining lines and ends the feed.
func (f *feed) stop() {
	if f == nil {
		return
	}

	f.cancel()
	close(f.done)
	f.printer.Wait()

	for range len(f.queue) {
		f.print(<-f.queue)
	}
}

// print prints a line: time, direction, person, content.
func (f *feed) print(a simulator.Activity) {
	fmt.Fprintf(f.out, "%s  %s %-14s %s\n", a.Time.Format("15:04:05"), a.Arrow, printable(a.Who), printable(a.What))
	if n := f.dropped.Swap(0); n > 0 {
		fmt.Fprintf(f.out, "          … and %d more\n", n)
	}
}
