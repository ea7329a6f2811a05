package provider

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"confab/jobs/timeout"
)

// maxWait is the longest wait that the provider may ask for.
const maxWait = 24 * time.Hour

// answer is what a successful call decodes into. The same pass finds an error
// object, because the provider sometimes answers 200 with one.
type answer interface {
	fault() json.RawMessage // the error object, nil if there is none
}

// envelope is part of every answer: the error object that it may hold.
type envelope struct {
	Err json.RawMessage `json:"error"`
}

func (e *envelope) fault() json.RawMessage {
	if string(e.Err) == "null" {
		return nil
	}
	return e.Err
}

// requireKey is the error of an answer without a key that it should have.
func requireKey(key string, isThere bool) error {
	if isThere {
		return nil
	}
	return fmt.Errorf("%w: no %s", errUnreadable, key)
}

// parse reads an answer. It returns nil only for a complete success.
func parse(rq call, status int, body []byte, out answer) *Error {
	if status < 200 || status > 299 {
		return parseFailure(rq, status, body)
	}

	// From here on the status says yes, and the body may still say no.
	if err := json.Unmarshal(body, out); err != nil {
		return unreadableError(rq.op, status, errUnreadable)
	}
	if raw := out.fault(); raw != nil {
		return rq.refusedError(status, raw)
	}

	if rq.check == nil {
		return nil
	}
	err := rq.check()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNoSuccess):
		return ownError(rq.op, status, classOfStatus(status), Refused, err)
	}
	return unreadableError(rq.op, status, err)
}

func parseFailure(rq call, status int, body []byte) *Error {
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil || e.fault() == nil {
		return unreadableError(rq.op, status, errUnreadable)
	}
	return rq.refusedError(status, e.fault())
}

// refusedError reads the error object of an answer. If its code is not in the table, the HTTP
// status and the provider's own hint decide how to treat it.
func (rq call) refusedError(status int, raw json.RawMessage) *Error {
	var f Fault
	f.read(raw)

	class := f.Class()
	if _, known := Lookup(f.Code, f.Subcode); !known {
		class = classOfStatus(status)
		class.Transient = class.Transient || f.IsTransient
	}
	if rq.reclassify != nil {
		class = rq.reclassify(f, class)
	}
	return &Error{Op: rq.op, Status: status, Fault: f, Class: class, Outcome: Refused}
}

// requestedWait is how long the provider asks us to wait: in Retry-After, which
// it does not always send, or in its report of used-up limits.
func requestedWait(h http.Header, now time.Time) time.Duration {
	wait := cmp.Or(timeout.RetryAfter(h.Get("Retry-After"), now), usageWait(h.Get("X-Business-Use-Case-Usage")))
	return min(max(wait, 0), maxWait)
}

// usageWait reads from the usage report, in minutes, until when access is regained.
func usageWait(header string) time.Duration {
	var usage map[string][]struct {
		Minutes float64 `json:"estimated_time_to_regain_access"`
	}
	if json.Unmarshal([]byte(header), &usage) != nil {
		return 0
	}

	var longest float64
	for _, uses := range usage {
		for _, use := range uses {
			longest = max(longest, use.Minutes)
		}
	}

	return time.Duration(min(longest, maxWait.Minutes()) * float64(time.Minute))
}
