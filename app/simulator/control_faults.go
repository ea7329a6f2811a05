package simulator

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

// controlFaults handles GET /_sim/faults.
func (s *Server) controlFaults(*controlCall) (any, error) {
	shown := []fault{}
	for _, f := range s.world.Faults {
		shown = append(shown, *f)
	}

	return object{"data": shown, "kinds": FaultKinds(), "endpoints": FaultEndpoints()}, nil
}

// maxFaults is how many faults may wait at the same time.
const maxFaults = 1000

// publishFaults publishes that faults were added, used up or removed.
func (s *Server) publishFaults() {
	s.publish("faults", func() any { return object{"count": len(s.world.Faults)} })
}

// controlAddFault handles POST /_sim/faults.
func (s *Server) controlAddFault(c *controlCall) (any, error) {
	f := &fault{}
	if err := c.decode(f); err != nil {
		return nil, err
	}
	if err := f.complete(); err != nil {
		return nil, err
	}

	if len(s.world.Faults) >= maxFaults {
		return nil, &controlError{http.StatusConflict, fmt.Sprintf("There are %d faults, which is the most.", maxFaults), ""}
	}
	f.ID = "fault_" + randomHex(6)
	s.world.Faults = append(s.world.Faults, f)
	s.publishFaults()
	return object{"id": f.ID}, nil
}

// controlClearFaults handles DELETE /_sim/faults: all of them, or the one that
// the path or the parameter id names.
func (s *Server) controlClearFaults(c *controlCall) (any, error) {
	id := firstOf(c.key(), c.r.URL.Query().Get("id"))

	before := len(s.world.Faults)
	s.world.Faults = slices.DeleteFunc(s.world.Faults, func(f *fault) bool { return id == "" || f.ID == id })
	if id != "" && len(s.world.Faults) == before {
		return nil, notFound("There is no fault " + id + ".")
	}

	s.publishFaults()
	return success{true}, nil
}

// controlSettings handles GET /_sim/settings.
func (s *Server) controlSettings(*controlCall) (any, error) { return s.Settings(), nil }

// controlCallback handles POST /_sim/callbacks: any payload, posted once and
// at once, in the provider's spelling and signed.
func (s *Server) controlCallback(c *controlCall) (any, error) {
	if len(c.in) == 0 {
		return nil, badBody(errNotObject)
	}

	s.mu.Lock()
	target := s.world.Hook.URL
	s.mu.Unlock()
	if target == "" {
		return nil, &controlError{400, "The app has no callback URL.", ""}
	}

	// It does not go through the outbox: there is no order and no second attempt.
	ctx, cancel := context.WithTimeout(c.r.Context(), callbackTimeout)
	defer cancel()
	status, err := s.deliver(ctx, target, appendASCII(nil, c.body))
	s.notifyCallback("custom", 1, status, err)
	if err != nil {
		return nil, &controlError{400, "The callback could not be posted: " + err.Error(), ""}
	}
	return object{"status": status}, nil
}

// controlReset handles POST /_sim/reset: messages, people, faults, limits and
// pending callbacks are deleted and the settings are the defaults. Numbers,
// templates, media and credentials stay, since clients hold their ids.
func (s *Server) controlReset(*controlCall) (any, error) {
	s.dropMessages(func(*message) bool { return true })
	s.keepEvents(func(e *event) bool { return e.retry == nil })

	// A batch that is being posted cannot be stopped, but it is not tried again.
	for _, q := range s.outbox.queues {
		q.waiting, q.inFlight = nil, nil
	}

	s.outbox.pending = 0
	s.world.People = newPeople(s.nowMS)
	s.world.Faults = nil
	s.calls.clear()
	s.applySettings(defaultSettings())
	s.publish("reset", func() any { return object{} })
	return success{true}, nil
}
