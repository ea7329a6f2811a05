package simulator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// errHangUp closes the connection without an answer.
var errHangUp = errors.New("hang up")

// The kinds of fault.
const (
	faultServerError = "http_500"
	faultTimeout     = "timeout"         // never answers; the request is not carried out
	faultDrop        = "drop_connection" // carries the request out, then hangs up
	faultRateLimit   = "rate_limit"
	faultErrorCode   = "error_code"
)

// longestHang ends a timed-out request whose client never gives up.
const longestHang = 2 * time.Minute

// fault is something that goes wrong on purpose.
type fault struct {
	ID          string   `json:"id"`
	Kind        string   `json:"kind"`
	Code        *int     `json:"code,omitempty"`
	Async       bool     `json:"async,omitempty"`
	Endpoint    string   `json:"endpoint"`
	Times       *int     `json:"times"` // how often still; null without end
	Probability *float64 `json:"probability,omitempty"`
	To          string   `json:"to,omitempty"`
	Number      string   `json:"phone_number_id,omitempty"`
}

var faultKinds = []string{faultServerError, faultTimeout, faultDrop, faultRateLimit, faultErrorCode}
var faultTargets = []string{"messages", "media", "templates", "register", "all"}

// complete checks a fault and fills in its defaults: messages, and once only,
// unless a probability says how often.
func (f *fault) complete() error {
	if f.Endpoint == "" {
		f.Endpoint = "messages"
	}
	if f.Times == nil && f.Probability == nil {
		f.Times = new(int)
		*f.Times = 1
	}
	switch {
	case f.Kind == "":
		return missing("kind")
	case !slices.Contains(faultKinds, f.Kind):
		return invalid("kind", "must be one of http_500, timeout, drop_connection, rate_limit, error_code")
	case !slices.Contains(faultTargets, f.Endpoint):
		return invalid("endpoint", "must be one of messages, media, templates, register, all")
	case f.Kind == faultErrorCode && f.Code == nil:
		return missing("code")
	case f.Kind == faultErrorCode && !knownCode(*f.Code):
		return invalid("code", fmt.Sprintf("%d is no code of the provider", *f.Code))
	case f.Times != nil && *f.Times < 0:
		return invalid("times", "must not be negative")
	case f.Probability != nil && (*f.Probability < 0 || *f.Probability > 1):
		return invalid("probability", "must lie between 0 and 1")
	case f.Async && (f.Kind != faultErrorCode || f.Endpoint != "messages"):
		return invalid("async", "is for error_code on messages")
	}
	if f.Times != nil && *f.Times == 0 {
		f.Times = nil
	}
	f.To = asParty(f.To)
	return nil
}

func (f *fault) concerns(endpoint string, c *call) bool {
	if f.Endpoint != "all" && f.Endpoint != endpoint {
		return false
	}
	if f.To != "" && f.To != asParty(firstOf(c.params.text("to"), c.params.text("recipient"))) {
		return false
	}
	return f.Number == "" || c.s.world.touches(c, f.Number)
}

// touches reports whether a call is about a number: the number itself, its
// media, or its account with the templates.
func (w *world) touches(c *call, numberID string) bool {
	if m := w.Media[c.id]; m != nil {
		return m.Number == numberID
	}
	n := w.Numbers[numberID]
	return n != nil && (c.id == n.ID || w.Numbers[c.id] == nil && c.account == n.Account)
}

// takeFault finds the fault that strikes a call and uses it up.
func (s *Server) takeFault(endpoint string, c *call) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.world.Faults {
		if !f.concerns(endpoint, c) || f.Probability != nil && rand.Float64() >= *f.Probability {
			continue
		}
		if f.Times != nil {
			if *f.Times--; *f.Times == 0 {
				s.world.Faults = slices.Delete(s.world.Faults, i, i+1)
			}
		}
		s.touch()
		struck := *f
		return &struck
	}
	return nil
}

// withFaults carries a call out, unless a fault has it otherwise.
func (s *Server) withFaults(c *call, endpoint string, play edge) (any, error) {
	f := s.takeFault(endpoint, c)
	if f == nil {
		return play(s, c)
	}
	switch f.Kind {
	case faultServerError:
		return nil, serverError()
	case faultTimeout:
		select {
		case <-c.r.Context().Done():
		case <-s.ctx.Done():
		case <-time.After(longestHang):
		}
		return nil, errHangUp
	case faultDrop:
		if _, err := play(s, c); err != nil {
			s.log.Debug("dropped request failed", "path", c.path, "error", err)
		}
		return nil, errHangUp
	case faultRateLimit:
		if endpoint == "messages" || endpoint == "media" {
			return nil, refuse(codeThroughput)
		}
		return nil, refuse(codeTooManyCalls)
	}
	if f.Async {
		c.failLater = f.Code
		return play(s, c)
	}
	return nil, refuse(*f.Code)
}

func serverError() *graphError {
	return &graphError{
		status: http.StatusInternalServerError, code: 2,
		message: "An unexpected error has occurred. Please retry your request later.",
	}
}
