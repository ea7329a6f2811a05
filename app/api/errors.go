package api

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
	cause      error
}

// Error is for the log, so it includes the cause.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.code().name + ": " + e.Message + " " + e.cause.Error()
	}
	return e.code().name + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.cause }

// code is the code that is sent. An Error that was made without one is a fault of
// our own: it must not become an answer without a status.
func (e *Error) code() Code {
	if e.Code == (Code{}) {
		return InternalError
	}
	return e.Code
}

func (e *Error) status() int { return e.code().status }

// fail is an error that concerns no single field.
func fail(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// missing reports a required field that is absent.
func missing(param string) *Error {
	return &Error{Code: MissingRequiredField, Param: param, Message: param + " is required."}
}

// invalid reports a field that breaks a rule. The rule completes a sentence that
// begins with the field's name.
func invalid(param, rule string) *Error {
	return &Error{Code: InvalidFieldValue, Param: param, Message: param + " " + rule + "."}
}

// notFound reports a resource that does not exist or belongs to another organization.
// The client cannot tell which.
func notFound() *Error { return fail(ResourceNotFound, "No such resource.") }

// statusClientGone is logged for a request whose client disconnected before the
// answer.
const statusClientGone = 499

// asError makes the client's error of any error. One that it does not know is
// internal, and its text is not shown.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}

	switch {
	case errors.Is(err, storage.ErrNotFound):
		return notFound()
	case errors.Is(err, storage.ErrTooManyWaiting):
		return &Error{
			Code:       RateLimitExceeded,
			Message:    "Too many searches of this organization are waiting. Please retry.",
			RetryAfter: time.Second,
		}
	case errors.Is(err, storage.ErrUnavailable), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{
			Code:       ServiceUnavailable,
			Message:    "The service cannot take this request just now. Please retry.",
			RetryAfter: time.Second,
			cause:      err,
		}
	default:
		return &Error{Code: InternalError, Message: "Something went wrong on our side.", cause: err}
	}
}
