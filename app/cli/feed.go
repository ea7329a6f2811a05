package cli

import (
	"fmt"
	"io"
	"net/url"
	"strings"
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

func (f *feed) print(a simulator.Activity) {
	fmt.Fprintln(f.out, feedLine(a))
	if n := f.dropped.Swap(0); n > 0 {
		fmt.Fprintf(f.out, "          … and %d more\n", n)
	}
}

// feedLine is the line of one activity: time, direction, person, content.
func feedLine(a simulator.Activity) string {
	arrow, who, what := "·", a.Kind, a.Type
	switch a.Kind {
	case "inbound":
		arrow, who, what = "←", displayNumber(a.Party), a.Type
	case "message", "echo":
		arrow, who, what = "→", displayNumber(a.Party), a.Type
		if a.Kind == "echo" {
			what += ", from the phone"
		}
		if a.Code != nil {
			what += fmt.Sprintf(", will fail with %d", *a.Code)
		}
	case "template":
		who, what = "template", a.MessageID+" "+a.Type
	case "callback":
		arrow, who, what = "⇢", "callback", callbackLine(a)
	}

	return fmt.Sprintf("%s  %s %-14s %s", a.Time.Format("15:04:05"), arrow, printable(who), printable(what))
}

func callbackLine(a simulator.Activity) string {
	what := a.Type
	if a.Count > 1 {
		what += fmt.Sprintf(" ×%d", a.Count)
	}
	if a.Err != nil {
		why := a.Err
		if u, ok := why.(*url.Error); ok {
			why = u.Err // without the URL, which the reader knows
		}
		return what + " not delivered: " + why.Error()
	}
	return fmt.Sprintf("%s: %d", what, a.Status)
}

// displayNumber puts the + before a phone number. A user id stays as it is.
func displayNumber(s string) string {
	if s != "" && strings.Trim(s, "0123456789") == "" {
		return "+" + s
	}
	return s
}
