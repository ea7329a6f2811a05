package simulator

import (
	"fmt"
	"time"
)

// Activity is one thing that happened in the simulator.
type Activity struct {
	Time time.Time
	// Kind is "message" (accepted from the app), "inbound", "echo",
	// "template" or "callback" (posted to the app).
	Kind          string
	PhoneNumberID string
	Party         string // the user's number or BSUID
	MessageID     string
	Type          string // of the message, or the field of the callback
	Status        int    // HTTP status that a callback's receiver answered
	Count         int    // updates in a callback
	Code          *int   // provider error to come
	Err           error  // why a callback failed
	URL           string
}

// String puts the activity in one line.
func (a Activity) String() string {
	switch a.Kind {
	case "callback":
		if a.Err != nil {
			return fmt.Sprintf("callback %s ×%d to %s failed: %v", a.Type, a.Count, a.URL, a.Err)
		}
		return fmt.Sprintf("callback %s ×%d to %s: %d", a.Type, a.Count, a.URL, a.Status)
	case "inbound":
		return fmt.Sprintf("inbound %s from %s: %s", a.Type, a.Party, a.MessageID)
	case "template":
		return fmt.Sprintf("template %s: %s", a.MessageID, a.Type)
	}

	line := fmt.Sprintf("%s %s to %s: %s", a.Kind, a.Type, a.Party, a.MessageID)
	if a.Code != nil {
		line += fmt.Sprintf(" (will fail with %d)", *a.Code)
	}
	return line
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
		a.Time = time.Now()
		(*fn)(a)
	}
}

func (s *Server) notifyMessage(m *message, code *int) {
	kind := map[direction]string{outbound: "message", inbound: "inbound", echoed: "echo"}
	s.notify(func() Activity {
		return Activity{Kind: kind[m.Dir], PhoneNumberID: m.Number, Party: m.party(), MessageID: m.ID, Type: m.Type, Code: code}
	})
}

func (s *Server) notifyCallback(target string, batch []*change, status int, err error) {
	s.notify(func() Activity {
		return Activity{Kind: "callback", Type: batch[0].Field, Count: len(batch), URL: target, Status: status, Err: err}
	})
}
