package simulator

import "time"

// Activity is one thing that happened in the simulator.
type Activity struct {
	Time time.Time
	// Kind is "message" (accepted from the app), "inbound", "echo",
	// "template" or "callback" (posted to the app).
	Kind      string
	Party     string // the user's number or BSUID
	MessageID string // or the name of the template
	Type      string // of the message, the field of the callback, or the status of the template
	Status    int    // HTTP status that a callback's receiver answered
	Count     int    // updates in a callback
	Code      *int   // provider error to come
	Err       error  // why a callback failed
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

func (s *Server) notifyMessage(m *message, code *int) {
	kind := map[direction]string{outbound: "message", inbound: "inbound", echoed: "echo"}
	s.notify(func() Activity {
		return Activity{Kind: kind[m.Dir], Party: m.party(), MessageID: m.ID, Type: m.Type, Code: code}
	})
}

func (s *Server) notifyCallback(field string, count, status int, err error) {
	s.notify(func() Activity {
		return Activity{Kind: "callback", Type: field, Count: count, Status: status, Err: err}
	})
}
