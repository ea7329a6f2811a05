package simulator

import (
	"errors"
	"net/http"
	"slices"
	"time"
)

// The kinds of fault that other packages name.
const (
	FaultServerError = "http_500"
	FaultErrorCode   = "error_code"
)

// errHangUp closes the connection without an answer.
var errHangUp = errors.New("hang up")

// longestHang ends a timed-out request whose client never stops waiting.
const longestHang = 2 * time.Minute

// FaultKind is one way in which a call can be made to fail.
type FaultKind struct {
	Name        string `json:"name"`
	Description string `json:"description"` // what happens to the call, for help texts

	// apply answers a call instead of the edge, which it may call itself.
	apply func(s *Server, c *call, f *fault, e edge) (any, error)
}

// faultKinds holds every kind of fault. All that knows kinds reads this table:
// the check of a new fault, withFaults, and the command line.
var faultKinds = []FaultKind{
	{FaultServerError, "answers HTTP 500 and does nothing", answerServerError},
	{"timeout", "never answers and does nothing", hangUntilGivenUp},
	{"drop_connection", "does what was asked, then hangs up without an answer", hangUpAfterwards},
	{"rate_limit", "answers that there were too many calls and does nothing", answerRateLimit},
	{FaultErrorCode, "answers with an error code of the provider", answerErrorCode},
}

// faultEndpoints are the groups of calls that a fault can be limited to.
var faultEndpoints = []string{"messages", "media", "templates", "register", "all"}

// FaultKinds lists the kinds of fault that the control surface takes.
func FaultKinds() []FaultKind { return slices.Clone(faultKinds) }

// FaultEndpoints lists the groups of calls that a fault can be limited to.
func FaultEndpoints() []string { return slices.Clone(faultEndpoints) }

func faultKindNames() []string {
	names := make([]string, len(faultKinds))
	for i, kind := range faultKinds {
		names[i] = kind.Name
	}
	return names
}

func findFaultKind(name string) (FaultKind, bool) {
	i := slices.IndexFunc(faultKinds, func(kind FaultKind) bool { return kind.Name == name })
	if i < 0 {
		return FaultKind{}, false
	}
	return faultKinds[i], true
}

func answerServerError(*Server, *call, *fault, edge) (any, error) {
	return nil, &graphError{
		status: http.StatusInternalServerError, code: 2,
		message: "An unexpected error has occurred. Please retry your request later.",
	}
}

func hangUntilGivenUp(s *Server, c *call, _ *fault, _ edge) (any, error) {
	select {
	case <-c.r.Context().Done():
	case <-s.ctx.Done():
	case <-time.After(longestHang):
	}
	return nil, errHangUp
}

func hangUpAfterwards(s *Server, c *call, _ *fault, e edge) (any, error) {
	if _, err := e(s, c); err != nil {
		s.log.Debug("dropped request failed", "route", c.route, "error", err)
	}
	return nil, errHangUp
}

// answerRateLimit answers with the limit of a number, or with that of its
// account where the call is about no message or file.
func answerRateLimit(_ *Server, c *call, _ *fault, _ edge) (any, error) {
	if c.endpoint == "messages" || c.endpoint == "media" {
		return nil, refuse(codeThroughput)
	}
	return nil, refuse(codeTooManyCalls)
}

// answerErrorCode answers with the fault's code, or accepts the message and
// reports the code by callback.
func answerErrorCode(s *Server, c *call, f *fault, e edge) (any, error) {
	if f.Async {
		c.failLater = f.Code
		return e(s, c)
	}
	return nil, refuse(*f.Code)
}
