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

	"confab/jobs/errorcode"
)

// Outcome is what we know about the effect of a call at the provider.
type Outcome string

// The outcomes of a call.
const (
	Done    Outcome = "done"     // the provider did it
	NotSent Outcome = "not_sent" // the provider cannot have seen the call
	Refused Outcome = "refused"  // the provider said that it did not do it
	Unknown Outcome = "unknown"  // it may have taken effect
)

var (
	// ErrTooLarge means that media is larger than the limit of the caller.
	ErrTooLarge = errors.New("media is too large")

	errNoSuccess  = errors.New("the answer says that it was not done")
	errOversized  = errors.New("the answer is too large")
	errExpiredURL = errors.New("the address is no longer valid")
	errUnreadable = errors.New("the answer cannot be read")
	errNoApp      = errors.New("the app's id and secret are not configured")
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
	Answer     string        // the body of the answer, without secrets and not all of a long one
	cause      error
}

// Error implements error. It reads: send message: HTTP 400, code 131047: …
func (e *Error) Error() string {
	text := e.Op
	if e.Status != 0 {
		text += ": HTTP " + strconv.Itoa(e.Status)
	}
	if e.Code != NoCode {
		text += ", code " + strconv.Itoa(e.Code)
	}
	if e.Subcode != 0 {
		text += "/" + strconv.Itoa(e.Subcode)
	}

	for _, s := range []string{e.Message, e.Details} {
		if s != "" {
			text += ": " + s
		}
	}
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the cause on our side, such as a lost connection.
func (e *Error) Unwrap() error { return e.cause }

// ClassOf says how to treat an error. An error that is not the provider's,
// such as a full disk, is final and without effect.
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return Class{Code: errorcode.UpstreamError}
}

// IsTransient reports whether the same call may succeed later.
func IsTransient(err error) bool { return err != nil && ClassOf(err).Transient }

// OutcomeOf returns what is known about the effect of a call. An error that is
// not the provider's leaves that open.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Done
	}

	if e, ok := errors.AsType[*Error](err); ok {
		return e.Outcome
	}
	return Unknown
}

// RetryAfter returns the shortest wait before another try: what the provider
// asked for or what its code is known to need, whichever is longer.
func RetryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return max(e.RetryAfter, e.Class.Wait)
	}
	return 0
}

// IsMissing reports whether the addressed object does not exist for us.
func IsMissing(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.missing() || e.cause == errExpiredURL)
}

// notSentError is a call that we did not make, because it could not succeed.
func notSentError(op string, cause error) *Error {
	class := Class{Code: errorcode.UpstreamError}
	if cause == errNoToken {
		class = Class{Code: errorcode.AuthExpired, Effect: Degraded}
	}
	return ownError(op, 0, class, NotSent, cause)
}

// ownError is an error without a code of the provider.
func ownError(op string, status int, class Class, outcome Outcome, cause error) *Error {
	return &Error{Op: op, Status: status, Fault: Fault{Code: NoCode}, Class: class, Outcome: outcome, cause: cause}
}

// noAnswerError is a call without an answer; if not sent, the provider cannot have seen it.
func noAnswerError(op string, cause error, sent bool) *Error {
	_, unresolved := errors.AsType[*net.DNSError](cause)
	broken, ok := errors.AsType[*net.OpError](cause)
	outcome := Unknown
	if !sent || unresolved || ok && broken.Op == "dial" { // it ended before a connection was made
		outcome = NotSent
	}
	return ownError(op, 0, Class{Code: errorcode.UpstreamError, Transient: true}, outcome, cause)
}

// classOfStatus is the class of an answer without a code that we know.
func classOfStatus(status int) Class {
	switch {
	case status == http.StatusTooManyRequests:
		return Class{Code: errorcode.AppRateLimited, Transient: true}
	case status >= 500:
		return Class{Code: errorcode.UpstreamError, Transient: true}
	default:
		return Class{Code: errorcode.UpstreamError}
	}
}

// unreadableError is an answer that we cannot understand. It is never a success
// and always transient. After a status of success, or of a gateway that timed
// out, the call may have taken effect.
func unreadableError(op string, status int, cause error) *Error {
	class, outcome := classOfStatus(status), Refused
	class.Transient = true
	if status < 300 || status >= 500 {
		outcome = Unknown
	}
	return ownError(op, status, class, outcome, cause)
}

// secrets are the texts that no error of a call may show.
type secrets []string

// redact replaces each secret, also in the form that it has inside a URL.
func (s secrets) redact(text string) string {
	for _, secret := range s {
		for _, written := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			if secret != "" {
				text = strings.ReplaceAll(text, written, redacted)
			}
		}
	}
	return text
}

// redactError removes secrets from an error of the transport.
func (s secrets) redactError(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // drop the address with its query
	}

	// Only the redacted text is kept: the errors within would show the secret too.
	if text := err.Error(); s.redact(text) != text {
		return errors.New(s.redact(text))
	}
	return err
}

// IsTemplateUnusable reports whether a template is paused, disabled or gone.
func (f Fault) IsTemplateUnusable() bool {
	return f.Code == codeTemplateGone || f.Code == codeTemplatePaused || f.Code == codeTemplateDisabled
}
