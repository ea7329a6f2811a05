package rest

import (
	"context"
	"errors"
	"time"

	"confab/storage"
)

// Error is a failure as the client reads it. The cause only goes to the log.
type Error struct {
	Code       Code
	Message    string
	Param      string        // the offending field, if there is one
	RetryAfter time.Duration // 0 for none
	Allow      string        // the methods of a path, with MethodNotAllowed
	Cause      error
}

// Error is for the log, so it includes the cause.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.code().Name + ": " + e.Message + " " + e.Cause.Error()
	}
	return e.code().Name + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.Cause }

// code is the code that is sent. An Error that was made without one is a fault of
// our own: it must not become an answer without a status.
func (e *Error) code() Code {
	if e.Code == (Code{}) {
		return InternalError
	}
	return e.Code
}

func (e *Error) Status() int { return e.code().Status }

// Fail is an error that concerns no single field.
func Fail(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Missing reports a required field that is absent.
func Missing(param string) *Error {
	return &Error{Code: MissingRequiredField, Param: param, Message: param + " is required."}
}

// NoneGiven reports that of several fields none is given. The message names them.
func NoneGiven(param, message string) *Error {
	return &Error{Code: MissingRequiredField, Param: param, Message: message}
}

// Invalid reports a field that breaks a rule. The rule completes a sentence that
// begins with the field's name.
func Invalid(param, rule string) *Error {
	return &Error{Code: InvalidFieldValue, Param: param, Message: param + " " + rule + "."}
}

// NotFound reports a resource that does not exist or belongs to another organization.
// The client cannot tell which.
func NotFound() *Error { return Fail(ResourceNotFound, "No such resource.") }

// StatusClientGone is logged for a request whose client disconnected before the
// answer.
const StatusClientGone = 499

// mediaStoreRetry is when a client is to try again while the storage of media is away.
const mediaStoreRetry = 10 * time.Second

// AsError makes the client's error of any error. One that it does not know is
// internal, and its text is not shown.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}

	switch {
	case errors.Is(err, storage.ErrNotFound):
		return NotFound()
	case errors.Is(err, storage.ErrTooManyWaiting):
		return &Error{
			Code:       RateLimitExceeded,
			Message:    "Too many searches are waiting in this organization. Please retry.",
			RetryAfter: time.Second,
		}
	case errors.Is(err, storage.ErrMediaStore):
		return &Error{
			Code:       ServiceUnavailable,
			Message:    "The storage of media files cannot be reached right now. Please retry.",
			RetryAfter: mediaStoreRetry,
			Cause:      err,
		}
	case errors.Is(err, storage.ErrUnavailable), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{
			Code:       ServiceUnavailable,
			Message:    "The service cannot handle this request right now. Please retry.",
			RetryAfter: time.Second,
			Cause:      err,
		}
	default:
		return &Error{Code: InternalError, Message: "Something went wrong on our side.", Cause: err}
	}
}

// Name is the name of the code that is sent.
func (e *Error) Name() string { return e.code().Name }
