package simulator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The kinds of fault.
const (
	FaultServerError    = "http_500"
	faultTimeout        = "timeout"
	faultDropConnection = "drop_connection"
	faultRateLimit      = "rate_limit"
	FaultErrorCode      = "error_code"
)

// FaultKind is one way in which a call can be made to fail.
type FaultKind struct {
	Name        string `json:"name"`
	Description string `json:"description"` // what happens to the call, for help texts
}

// FaultKinds lists the kinds of fault that the control surface takes and withFaults plays.
func FaultKinds() []FaultKind {
	return []FaultKind{
		{FaultServerError, "answers HTTP 500 and does nothing"},
		{faultTimeout, "never answers and does nothing"},
		{faultDropConnection, "does what was asked, then hangs up without an answer"},
		{faultRateLimit, "answers that there were too many calls and does nothing"},
		{FaultErrorCode, "answers with an error code of the provider"},
	}
}

func faultKindNames() []string {
	return viewsOf(FaultKinds(), func(kind FaultKind) string { return kind.Name })
}

// FaultEndpoints lists the groups of calls that a fault can be limited to.
func FaultEndpoints() []string { return []string{"messages", "media", "templates", "register", "all"} }

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
	f.Endpoint = firstOf(f.Endpoint, "messages")
	if f.Times == nil && f.Probability == nil {
		f.Times = new(1)
	}

	switch {
	case f.Kind == "":
		return missing("kind")
	case !slices.Contains(faultKindNames(), f.Kind):
		return invalid("kind", "must be one of "+strings.Join(faultKindNames(), ", "))
	case !slices.Contains(FaultEndpoints(), f.Endpoint):
		return invalid("endpoint", "must be one of "+strings.Join(FaultEndpoints(), ", "))
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
	case f.Times != nil && *f.Times == 0:
		f.Times = nil
	}

	f.To = normalizeParty(f.To)
	return nil
}

func (f *fault) matches(endpoint string, c *call) bool {
	switch {
	case f.Endpoint != "all" && f.Endpoint != endpoint:
		return false
	case f.Kind == FaultErrorCode && f.Endpoint == "messages" && c.params.has("status"):
		return false // the codes are those of messages; a receipt or a typing indicator is none
	case f.To != "" && f.To != normalizeParty(firstOf(c.params.text("to"), c.params.text("recipient"))):
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
		return f
	}
	return nil
}

// errHangUp closes the connection without an answer.
var errHangUp = errors.New("hang up")

// longestHang ends a timed-out request whose client never stops waiting.
const longestHang = 2 * time.Minute

// withFaults calls the handler of an edge, or plays the fault that applies to the call.
func (s *Server) withFaults(c *call, endpoint string, e edge) (any, error) {
	f := s.takeFault(endpoint, c)
	if f == nil {
		return e(s, c)
	}

	switch f.Kind {
	case FaultServerError:
		const message = "An unexpected error has occurred. Please retry your request later."
		return nil, newGraphError(http.StatusInternalServerError, 2, 0, message)
	case faultTimeout:
		select {
		case <-c.r.Context().Done():
		case <-s.ctx.Done():
		case <-time.After(longestHang):
		}
		return nil, errHangUp
	case faultDropConnection:
		if _, err := e(s, c); err != nil {
			s.log.Debug("dropped request failed", "route", c.route, "error", err)
		}
		return nil, errHangUp
	case faultRateLimit:
		if endpoint == "messages" || endpoint == "media" {
			return nil, refuse(codeThroughput)
		}
		return nil, refuse(codeTooManyCalls) // of the account
	case FaultErrorCode:
		if !f.Async {
			return nil, refuse(*f.Code)
		}
		c.failLater = f.Code
		return e(s, c)
	}
	return nil, fmt.Errorf("fault %s has the unknown kind %q", f.ID, f.Kind)
}

// controlFaults handles GET /_sim/faults.
func (s *Server) controlFaults(*controlCall) (any, error) {
	shown := viewsOf(s.world.Faults, func(f *fault) fault { return *f })
	return object{"data": shown, "kinds": FaultKinds(), "endpoints": FaultEndpoints()}, nil
}

const maxFaults = 1000

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
		return nil, refused(http.StatusConflict, fmt.Sprintf("There are %d faults, which is the most.", maxFaults))
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
	return object{"success": true}, nil
}
