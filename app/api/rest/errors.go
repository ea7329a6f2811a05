package rest

import (
	"context"
	"errors"
	"net/http"
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

// FailAt is an error that concerns a field.
func FailAt(code Code, param, message string) *Error {
	return &Error{Code: code, Param: param, Message: message}
}

// Because adds the cause.
func (e *Error) Because(cause error) *Error {
	e.Cause = cause
	return e
}

// RetryIn adds when the client may try again.
func (e *Error) RetryIn(wait time.Duration) *Error {
	e.RetryAfter = wait
	return e
}

// Missing reports a required field that is absent.
func Missing(param string) *Error {
	return FailAt(MissingRequiredField, param, param+" is required.")
}

// NoneGiven reports that of several fields none is given. The message names them.
func NoneGiven(param, message string) *Error { return FailAt(MissingRequiredField, param, message) }

// Invalid reports a field that breaks a rule. The rule completes a sentence that
// begins with the field's name.
func Invalid(param, rule string) *Error {
	return FailAt(InvalidFieldValue, param, param+" "+rule+".")
}

// InvalidIf reports a field that breaks a rule, as an error of storage tells. Any other stays as it is.
func InvalidIf(err, is error, param, rule string) error {
	if errors.Is(err, is) {
		return Invalid(param, rule)
	}
	return err
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
		return Fail(RateLimitExceeded, "Too many searches are waiting in this organization. Please retry.").RetryIn(time.Second)
	case errors.Is(err, storage.ErrMediaStore):
		const away = "The storage of media files cannot be reached right now. Please retry."
		return Fail(ServiceUnavailable, away).RetryIn(mediaStoreRetry).Because(err)
	case errors.Is(err, storage.ErrUnavailable), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		const busy = "The service cannot handle this request right now. Please retry."
		return Fail(ServiceUnavailable, busy).RetryIn(time.Second).Because(err)
	}
	return Fail(InternalError, "Something went wrong on our side.").Because(err)
}

// Name is the name of the code that is sent.
func (e *Error) Name() string { return e.code().Name }

// EnsureRequestID gives a response outside of /v1 a request id, if it has none, and returns
// it.
func (s *Server) EnsureRequestID(w http.ResponseWriter) string {
	id := w.Header().Get("X-Request-Id")
	if id == "" {
		id = s.DB.NewID(storage.PrefixRequest)
		w.Header().Set("X-Request-Id", id)
	}
	return id
}

// FailureRecorder is a ResponseWriter whose owner logs the request and wants to know why it
// failed.
type FailureRecorder interface{ RecordFailure(failure error) }

// WriteError answers a request outside of /v1 with the API's error envelope. The error
// goes to the writer's owner if it is a FailureRecorder; otherwise it is logged here if the
// fault is our own.
func (s *Server) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	x := &Exchange{ResponseWriter: w, Request: &Request{HTTP: r, ID: s.EnsureRequestID(w)}}

	e := AsError(err)
	if owner, ok := w.(FailureRecorder); ok {
		owner.RecordFailure(err)
	} else if e.Status() >= 500 {
		s.Log.Error("request refused", "request_id", x.Request.ID, "method", LoggedMethod(r.Method), "error", err)
	}

	sendError(x, e)
}

// ClientIP is the address of the client, also behind trusted proxies.
func (s *Server) ClientIP(r *http.Request) string { return clientIP(r, s.TrustedProxies) }

// ClientNetwork is what counts as one client where clients are counted.
func (s *Server) ClientNetwork(r *http.Request) string { return networkOf(s.ClientIP(r)) }
