package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/simulator"
)

func TestFeedLine(t *testing.T) {
	var out bytes.Buffer
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	(&feed{out: &out}).print(simulator.Activity{Time: at, Arrow: "←", Who: "US.1234", What: "image \x1b[5m"})
	is.New(t).Equal(out.String(), "03:04:05  ← US.1234        image ?[5m\n")
}

// played is something to subscribe to.
type played struct{ publish func(simulator.Activity) }

func (p *played) subscribe(fn func(simulator.Activity)) (cancel func()) {
	p.publish = fn
	return func() { p.publish = nil }
}

func TestFeedShowsWhatHappenedBeforeItBegan(t *testing.T) {
	is := is.New(t)
	var (
		p   played
		out bytes.Buffer
	)
	f := newFeed(p.subscribe, &out)
	p.publish(simulator.Activity{Arrow: "←", What: "early"})
	f.start()
	p.publish(simulator.Activity{Arrow: "←", What: "late"})
	f.stop()
	is.True(p.publish == nil) // not subscribed any more
	is.Equal(strings.Count(out.String(), "\n"), 3)
	is.True(strings.Index(out.String(), "early") < strings.Index(out.String(), "late"))
}

// stuck is a terminal that takes nothing until it is released.
type stuck struct {
	bytes.Buffer
	released chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.released
	return s.Buffer.Write(b)
}

func TestFeedNeverHoldsTheSimulatorUp(t *testing.T) {
	is := is.New(t)
	var p played
	out := &stuck{released: make(chan struct{})}
	f := newFeed(p.subscribe, out)
	for range 3 * feedBuffer {
		p.publish(simulator.Activity{Arrow: "←", What: "text"}) // returns at once, or the test hangs
	}
	close(out.released)
	f.start()
	f.stop()
	is.Equal(strings.Count(out.String(), "←"), feedBuffer)
	is.True(strings.Contains(out.String(), "… and 512 more"))
}

func TestNoFeedIsFine(t *testing.T) {
	f := newTerminalFeed(nil, &bytes.Buffer{}) // not a terminal
	f.start()
	f.stop()
	is.New(t).True(f == nil)
}
