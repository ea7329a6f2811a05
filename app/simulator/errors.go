package simulator

import (
	"fmt"
	"net/http"
	"strings"
)

// graphError is an error of the Graph API, as it is written in its envelope.
type graphError struct {
	status int

	Message   string `json:"message"`
	Type      string `json:"type"`
	Code      int    `json:"code"`
	Data      any    `json:"error_data,omitempty"`
	Subcode   int    `json:"error_subcode,omitempty"`
	Transient *bool  `json:"is_transient,omitempty"` // false for a template that is refused
	UserTitle string `json:"error_user_title,omitempty"`
	UserMsg   string `json:"error_user_msg,omitempty"`
	Trace     string `json:"fbtrace_id"`
}

func (e *graphError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

func newGraphError(status, code, subcode int, message string) *graphError {
	return &graphError{status: status, Code: code, Subcode: subcode, Message: message, Type: "OAuthException"}
}

const firstMessagingCode = 130000

// refuse makes the provider's answer to one of its codes.
func refuse(code int) *graphError {
	o, _ := lookupCode(code)
	message := fmt.Sprintf("(#%d) %s", code, o.title)

	switch {
	case code == codeTokenInvalid:
		return unauthorized(463, "Error validating access token: Session has expired on Thursday, 01-Jan-26 00:00:00 PST.")
	case code == codeTokenMissing:
		message = o.title
	case code >= firstSubcode: // they are subcodes of error 100
		return templateError(code, o.title, "%s", o.details)
	case code >= firstMessagingCode:
		return refuseWith(code, "%s", o.details)
	}
	return newGraphError(o.status, code, 0, message)
}

// refuseWith is refuse with an explanation of its own.
func refuseWith(code int, format string, args ...any) *graphError {
	o, _ := lookupCode(code)
	e := newGraphError(o.status, code, 0, fmt.Sprintf("(#%d) %s", code, o.title))
	e.Data = object{"messaging_product": "whatsapp", "details": fmt.Sprintf(format, args...)}
	return e
}

func notValid(format string, args ...any) *graphError {
	return refuseWith(codeInvalidValue, format, args...)
}

func badRequest(code, subcode int, message string) *graphError {
	return newGraphError(http.StatusBadRequest, code, subcode, message)
}

func unauthorized(subcode int, message string) *graphError {
	return newGraphError(http.StatusUnauthorized, codeTokenInvalid, subcode, message)
}

func invalidToken() *graphError {
	return unauthorized(0, "Invalid OAuth access token - Cannot parse access token")
}

// badParameter is error 100 with a message of its own.
func badParameter(format string, args ...any) *graphError {
	return badRequest(codeInvalidParameter, 0, "(#100) "+fmt.Sprintf(format, args...))
}

func requiredParameter(name string) *graphError {
	return badParameter("The parameter %s is required.", name)
}

func tooLong(name string, limit int) *graphError {
	return badParameter("Param %s must be at most %d characters long.", name, limit)
}

// templateError is how the provider refuses a template.
func templateError(subcode int, title, format string, args ...any) *graphError {
	e := badRequest(codeInvalidParameter, subcode, "Invalid parameter")
	e.UserTitle, e.UserMsg, e.Transient = title, fmt.Sprintf(format, args...), new(bool)
	return e
}

// noObject is the answer to an id that does not exist or that the token may
// not access.
func noObject(method, id string) *graphError {
	e := badRequest(codeInvalidParameter, 33, fmt.Sprintf("Unsupported %s request. Object with ID '%s' does not exist, "+
		"cannot be loaded due to missing permissions, or does not support this operation. "+
		"Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api", strings.ToLower(method), id))
	e.Type = "GraphMethodException"
	return e
}

// notImplemented is the answer to an edge that the simulator does not have.
func notImplemented(method, path string) *graphError {
	e := newGraphError(http.StatusNotImplemented, 1, 0, fmt.Sprintf("The simulator does not play %s %s.", method, path))
	e.Type = "GraphMethodException"
	return e
}

// statusError is the error object of a failed status or an unsupported message.
type statusError struct {
	Code    int               `json:"code"`
	Title   string            `json:"title"`
	Message string            `json:"message"`
	Data    map[string]string `json:"error_data"`
	Href    string            `json:"href,omitempty"`
}

const errorPage = "https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/"

// asStatusError makes the error object that callbacks carry for a code.
func asStatusError(code int) statusError {
	o, _ := lookupCode(code)
	return statusError{code, o.title, o.title, map[string]string{"details": o.details}, errorPage}
}
