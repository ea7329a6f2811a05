package provider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Outcome is what we know of a call's effect at the provider.
type Outcome string

// The outcomes of a call.
const (
	Done    Outcome = "done"     // the provider answered yes
	NotSent Outcome = "not_sent" // nothing reached the provider, for sure
	Refused Outcome = "refused"  // the provider answered no
	Unknown Outcome = "unknown"  // it may have taken effect
)

var (
	// ErrTooLarge means that media goes on past the limit that the caller set.
	ErrTooLarge = errors.New("media is too large")

	errNoSuccess  = errors.New("the answer says that it was not done")
	errOversized  = errors.New("the answer is too large")
	errExpiredURL = errors.New("the address is no longer valid")
	errUnreadable = errors.New("the answer cannot be read")
	errNoApp      = errors.New("the app's id and secret are not configured")
	errNoLookup   = errors.New("the media was not looked up")
	errNoToken    = errors.New("no access token")
	errStalled    = fmt.Errorf("no progress: %w", context.DeadlineExceeded)
)

// Error is a call that failed. Its texts never hold a token.
type Error struct {
	Op         string // what was being done: "send message"
	Status     int    // of the answer; 0 when there was none
	Fault             // what the provider said; Code is NoCode when it said nothing
	Class      Class
	Outcome    Outcome
	RetryAfter time.Duration // as the provider asked; 0 when it did not
	cause      error
}

// Error implements error. It reads: send message: HTTP 400, code 131047: …
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Status != 0 {
		b.WriteString(": HTTP " + strconv.Itoa(e.Status))
	}
	if e.Code != NoCode {
		b.WriteString(", code " + strconv.Itoa(e.Code))
	}
	if e.Subcode != 0 {
		b.WriteString("/" + strconv.Itoa(e.Subcode))
	}
	for _, s := range []string{e.Message, e.Details} {
		if s != "" {
			b.WriteString(": " + s)
		}
	}
	if e.cause != nil {
		b.WriteString(": " + e.cause.Error())
	}
	return b.String()
}

// Unwrap returns the cause where it was on our side: a lost connection, a
// cancelled context.
func (e *Error) Unwrap() error { return e.cause }

// ClassOf tells how to treat an error. An error that is not the provider's,
// such as a full disk, is final and without effect.
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return Class{Code: upstreamError}
}

// Code returns our error.code.
func Code(err error) string { return ClassOf(err).Code }

// Transient reports whether the same call may succeed later.
func Transient(err error) bool { return err != nil && ClassOf(err).Transient }

// EffectOf returns what the error means for the account or the contact.
func EffectOf(err error) Effect { return ClassOf(err).Effect }

// OutcomeOf tells what is known of the call's effect. Only Unknown may have
// taken effect without our knowledge.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Done
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Outcome
	}
	return Unknown
}

// RetryAfter returns the pause to keep before another try: what the provider
// asked for, or what its code is known to need, or 0.
func RetryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return max(e.RetryAfter, e.Class.Wait)
	}
	return 0
}

// Missing reports whether the addressed object is not there, or not ours.
func Missing(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.missing() || e.cause == errExpiredURL)
}

// notSentError is a call that we did not make because it could not be right.
func notSentError(op string, cause error) *Error {
	class := Class{Code: upstreamError}
	if cause == errNoToken {
		class = Class{Code: authExpired, Effect: Degraded}
	}
	return &Error{Op: op, Fault: Fault{Code: NoCode}, Class: class, Outcome: NotSent, cause: cause}
}

// noAnswerError is a call that got no answer.
func noAnswerError(op string, cause error, sent bool) *Error {
	e := &Error{
		Op: op, Fault: Fault{Code: NoCode}, cause: cause,
		Class:   Class{Code: upstreamError, Transient: true},
		Outcome: Unknown,
	}
	if !sent || isDialError(cause) {
		e.Outcome = NotSent
	}
	return e
}

// isDialError reports whether an error came before there was a connection.
func isDialError(err error) bool {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// refusedError is an answer that says no.
func refusedError(op string, status int, f Fault) *Error {
	class := f.Class()
	if _, known := Lookup(f.Code, f.Subcode); !known {
		class = classOfStatus(status)
		class.Transient = class.Transient || f.IsTransient
	}
	return &Error{Op: op, Status: status, Fault: f, Class: class, Outcome: Refused}
}

// classOfStatus is the class of an answer whose code says nothing to us.
func classOfStatus(status int) Class {
	switch {
	case status == http.StatusTooManyRequests:
		return Class{Code: appLimited, Transient: true}
	case status >= 500:
		return Class{Code: upstreamError, Transient: true}
	default:
		return Class{Code: upstreamError}
	}
}

// unreadableError is an answer that we cannot make sense of. It is never a success
// and never final; a gateway that gave up, and a yes without the rest, may hide
// a call that took effect.
func unreadableError(op string, status int, cause error) *Error {
	e := &Error{Op: op, Status: status, Fault: Fault{Code: NoCode}, Class: classOfStatus(status), Outcome: Refused, cause: cause}
	e.Class.Transient = true
	if status < 300 || status >= 500 {
		e.Outcome = Unknown
	}
	return e
}

// secrets are texts that must not leave a call.
type secrets []string

// redact replaces each secret, also in the form that it has inside a URL.
func (s secrets) redact(text string) string {
	for _, secret := range s {
		if secret == "" || text == "" {
			continue
		}
		text = strings.ReplaceAll(text, secret, redacted)
		text = strings.ReplaceAll(text, url.QueryEscape(secret), redacted)
		text = strings.ReplaceAll(text, url.PathEscape(secret), redacted)
	}
	return text
}

// redactError removes secrets from an error of the transport. An error whose text
// holds one is replaced, since its parts would show it too.
func (s secrets) redactError(err error) error {
	if err == nil {
		return nil
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // drop the address with its query
	}
	if text := err.Error(); s.redact(text) != text {
		return errors.New(s.redact(text))
	}
	return err
}
