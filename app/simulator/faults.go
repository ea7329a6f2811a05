package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// fault makes calls fail on purpose.
type fault struct {
	ID          string   `json:"id"`
	Kind        string   `json:"kind"`
	Code        *int     `json:"code,omitempty"`
	Async       bool     `json:"async,omitempty"`
	Endpoint    string   `json:"endpoint"`
	Times       *int     `json:"times"` // how often it will still apply; null is without end
	Probability *float64 `json:"probability,omitempty"`
	To          string   `json:"to,omitempty"`
	Number      string   `json:"phone_number_id,omitempty"`
}

// complete checks a new fault and fills in its defaults: messages, and once
// only, unless a probability says how often.
func (f *fault) complete() error {
	if f.Endpoint == "" {
		f.Endpoint = "messages"
	}
	if f.Times == nil && f.Probability == nil {
		f.Times = new(1)
	}

	if err := f.check(); err != nil {
		return err
	}

	if f.Times != nil && *f.Times == 0 {
		f.Times = nil
	}
	f.To = normalizeParty(f.To)
	return nil
}

// check refuses a fault that means nothing.
func (f *fault) check() error {
	_, known := findFaultKind(f.Kind)

	switch {
	case f.Kind == "":
		return missing("kind")
	case !known:
		return invalid("kind", "must be one of "+strings.Join(faultKindNames(), ", "))
	case !slices.Contains(faultEndpoints, f.Endpoint):
		return invalid("endpoint", "must be one of "+strings.Join(faultEndpoints, ", "))
	case f.Kind == FaultErrorCode && f.Code == nil:
		return missing("code")
	case f.Kind == FaultErrorCode && !knownCode(*f.Code):
		return invalid("code", fmt.Sprintf("%d is no code of the provider", *f.Code))
	case f.Times != nil && *f.Times < 0:
		return invalid("times", "must not be negative")
	case f.Probability != nil && (*f.Probability < 0 || *f.Probability > 1):
		return invalid("probability", "must lie between 0 and 1")
	case f.Async && (f.Kind != FaultErrorCode || f.Endpoint != "messages"):
		return invalid("async", "is for error_code on messages")
	}
	return nil
}

func (f *fault) matches(endpoint string, c *call) bool {
	if f.Endpoint != "all" && f.Endpoint != endpoint {
		return false
	}
	if f.Kind == FaultErrorCode && f.Endpoint == "messages" && c.params.has("status") {
		return false // the codes are those of messages; a receipt or a typing indicator is none
	}
	if f.To != "" && f.To != normalizeParty(firstOf(c.params.text("to"), c.params.text("recipient"))) {
		return false
	}
	return f.Number == "" || c.s.world.concernsNumber(c, f.Number)
}

// concernsNumber reports whether a call is about a number: the number itself, its
// media, or its account with the templates.
func (w *world) concernsNumber(c *call, numberID string) bool {
	if m := w.Media[c.id]; m != nil {
		return m.Number == numberID
	}
	n := w.Numbers[numberID]
	return n != nil && (c.id == n.ID || w.Numbers[c.id] == nil && c.account == n.Account)
}

// takeFault finds the first fault that applies to a call and counts it down.
func (s *Server) takeFault(endpoint string, c *call) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()

	for i, f := range s.world.Faults {
		if !f.matches(endpoint, c) || f.Probability != nil && rand.Float64() >= *f.Probability {
			continue
		}

		if f.Times != nil {
			// A new one, because answers that are being encoded may hold the old.
			if f.Times = new(*f.Times - 1); *f.Times == 0 {
				s.world.Faults = slices.Delete(s.world.Faults, i, i+1)
			}
		}
		s.markDirty()
		s.publishFaults()
		taken := *f
		return &taken
	}
	return nil
}

// withFaults calls the handler of an edge, or the fault that applies to the call.
func (s *Server) withFaults(c *call, endpoint string, e edge) (any, error) {
	c.endpoint = endpoint
	f := s.takeFault(endpoint, c)
	if f == nil {
		return e(s, c)
	}

	kind, known := findFaultKind(f.Kind)
	if !known {
		return nil, fmt.Errorf("fault %s has the unknown kind %q", f.ID, f.Kind)
	}
	return kind.apply(s, c, f, e)
}
