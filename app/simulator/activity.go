package simulator

import (
	"fmt"
	"net/url"
	"time"
)

// Activity is one thing that happened in the simulator, in words.
type Activity struct {
	Time  time.Time
	Arrow string // ← from a person, → to a person, ⇢ a callback to the app, · anything else
	Who   string // the person's number or BSUID, or what it is
	What  string
}

// Subscribe calls fn for each activity, on the goroutine that caused it, until cancel is
// called. It must be quick and must not call the server. There is one subscriber at a time.
func (s *Server) Subscribe(fn func(Activity)) (cancel func()) {
	s.subscriber.Store(&fn)
	return func() { s.subscriber.Store(nil) }
}

// notify calls the subscriber. The activity is built by a function, so that it costs
// nothing without one.
func (s *Server) notify(make func() Activity) {
	if fn := s.subscriber.Load(); fn != nil {
		a := make()
		a.Time = s.now()
		(*fn)(a)
	}
}

// notifyMessage tells of a message, and of the code that it will fail with, if it will.
func (s *Server) notifyMessage(m *message, code *int) {
	s.notify(func() Activity {
		a := Activity{Arrow: "→", Who: m.BSUID, What: m.Type}
		if m.Phone != "" {
			a.Who = "+" + m.Phone
		}

		switch {
		case m.Dir == inbound:
			a.Arrow = "←"
		case m.Dir == echoed:
			a.What += ", from the phone"
		case code != nil:
			a.What += fmt.Sprintf(", will fail with %d", *code)
		}
		return a
	})
}

// notifyCallback tells of a callback with a number of updates, and of what its receiver answered.
func (s *Server) notifyCallback(field string, count, status int, err error) {
	s.notify(func() Activity {
		a := Activity{Arrow: "⇢", Who: "callback", What: field}
		if count > 1 {
			a.What += fmt.Sprintf(" ×%d", count)
		}

		if u, ok := err.(*url.Error); ok {
			err = u.Err // without the URL, which the reader knows
		}
		if err != nil {
			a.What += " not delivered: " + err.Error()
		} else {
			a.What += fmt.Sprintf(": %d", status)
		}
		return a
	})
}
