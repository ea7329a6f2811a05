package cli

import (
	"bytes"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/simulator"
)

func TestFeedLines(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	code := 131026
	refused := &url.Error{Op: "Post", URL: "http://app/", Err: errors.New("connection refused")}
	for want, a := range map[string]simulator.Activity{
		"03:04:05  ← +15550001111   text":                                           {Kind: "inbound", Party: "15550001111", Type: "text"},
		"03:04:05  ← US.1234        image":                                          {Kind: "inbound", Party: "US.1234", Type: "image"},
		"03:04:05  → +15550001111   template":                                       {Kind: "message", Party: "15550001111", Type: "template"},
		"03:04:05  → +15550001111   text, will fail with 131026":                    {Kind: "message", Party: "15550001111", Type: "text", Code: &code},
		"03:04:05  → +15550001111   text, from the phone":                           {Kind: "echo", Party: "15550001111", Type: "text"},
		"03:04:05  · template       hello_world APPROVED":                           {Kind: "template", MessageID: "hello_world", Type: "APPROVED"},
		"03:04:05  ⇢ callback       messages: 200":                                  {Kind: "callback", Type: "messages", Count: 1, Status: 200},
		"03:04:05  ⇢ callback       messages ×7: 200":                               {Kind: "callback", Type: "messages", Count: 7, Status: 200},
		"03:04:05  ⇢ callback       messages not delivered: connection refused":     {Kind: "callback", Type: "messages", Count: 1, Err: refused},
		"03:04:05  ⇢ callback       messages not delivered: the receiver said ?[5m": {Kind: "callback", Type: "messages", Count: 1, Err: errors.New("the receiver said \x1b[5m")},
	} {
		a.Time = at
		is.New(t).Equal(feedLine(a), want)
	}
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
	p.publish(simulator.Activity{Kind: "inbound", Type: "early"})
	f.start()
	p.publish(simulator.Activity{Kind: "inbound", Type: "late"})
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
		p.publish(simulator.Activity{Kind: "inbound", Type: "text"}) // returns at once, or the test hangs
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
