package simulator

import (
	"fmt"
	"net/http"
	"strings"
)

// graphError is an error of the Graph API, with all that its JSON form needs.
type graphError struct {
	status  int
	code    int
	subcode int
	message string
	kind    string     // "type" on the wire; OAuthException when empty
	details string     // error_data of messaging errors
	title   string     // error_user_title
	advice  string     // error_user_msg
	blame   [][]string // error_data of template errors
	invalid bool       // a validation error, which says is_transient
}

func (e *graphError) Error() string {
	return fmt.Sprintf("%d: %s", e.code, e.message)
}

const firstMessagingCode = 130000

// refuse makes the provider's answer to one of its codes. Details, when given,
// replace the general explanation.
func refuse(code int, details ...string) *graphError {
	o, ok := lookupCode(code)
	if !ok {
		o = outcome{http.StatusBadRequest, false, "Unknown error", "Unknown error."}
	}

	// These are subcodes of error 100.
	if code >= firstSubcode {
		return templateError(code, o.title, o.details)
	}

	e := &graphError{status: o.status, code: code, message: fmt.Sprintf("(#%d) %s", code, o.title)}
	if code >= firstMessagingCode {
		e.details = o.details
	}
	if len(details) > 0 {
		e.details = strings.Join(details, " ")
	}

	// These two codes have a wording of their own.
	switch code {
	case codeTokenInvalid:
		return expiredToken()
	case 104:
		return missingToken()
	}
	return e
}

// badRequest is a refusal with status 400 and a message of its own.
func badRequest(code, subcode int, message string) *graphError {
	return &graphError{status: http.StatusBadRequest, code: code, subcode: subcode, message: message}
}

// unauthorized is a refusal of a token.
func unauthorized(subcode int, message string) *graphError {
	return &graphError{status: http.StatusUnauthorized, code: codeTokenInvalid, subcode: subcode, message: message}
}

// badParameter is error 100 with a message of its own.
func badParameter(format string, args ...any) *graphError {
	return badRequest(codeInvalidParameter, 0, "(#100) "+fmt.Sprintf(format, args...))
}

func requiredParameter(name string) *graphError {
	return badParameter("The parameter %s is required.", name)
}

// noObject is the answer to an id that does not exist or that the token may
// not access.
func noObject(method, id string) *graphError {
	return &graphError{
		status: http.StatusBadRequest, code: codeInvalidParameter, subcode: 33, kind: "GraphMethodException",
		message: fmt.Sprintf("Unsupported %s request. Object with ID '%s' does not exist, cannot be loaded "+
			"due to missing permissions, or does not support this operation. "+
			"Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api",
			strings.ToLower(method), id),
	}
}

// notImplemented is the answer to an edge that the simulator does not have.
func notImplemented(method, path string) *graphError {
	return &graphError{
		status: http.StatusNotImplemented, code: 1, kind: "GraphMethodException",
		message: fmt.Sprintf("The simulator does not play %s %s.", method, path),
	}
}

func unknownPath(path string) *graphError {
	return badRequest(2500, 0, "Unknown path components: "+path)
}

func missingToken() *graphError {
	return badRequest(104, 0, "An access token is required to request this resource.")
}

func expiredToken() *graphError {
	return unauthorized(463, "Error validating access token: Session has expired on Thursday, 01-Jan-26 00:00:00 PST.")
}

func invalidToken() *graphError {
	return unauthorized(0, "Invalid OAuth access token - Cannot parse access token")
}

func revokedToken() *graphError {
	return unauthorized(467, "Error validating access token: The session is invalid because the user logged out.")
}

// wireError is the envelope's content.
type wireError struct {
	Message   string `json:"message"`
	Type      string `json:"type"`
	Code      int    `json:"code"`
	Data      any    `json:"error_data,omitempty"`
	Subcode   int    `json:"error_subcode,omitempty"`
	Transient *bool  `json:"is_transient,omitempty"`
	UserTitle string `json:"error_user_title,omitempty"`
	UserMsg   string `json:"error_user_msg,omitempty"`
	Trace     string `json:"fbtrace_id"`
}

// wire returns the error's JSON form, with a trace id.
func (e *graphError) wire(trace string) any {
	w := wireError{
		Message: e.message, Type: firstOf(e.kind, "OAuthException"), Code: e.code, Subcode: e.subcode,
		UserTitle: e.title, UserMsg: e.advice, Trace: trace,
	}

	if e.details != "" {
		w.Data = object{"messaging_product": "whatsapp", "details": e.details}
	}
	if e.blame != nil {
		w.Data = object{"blame_field_specs": e.blame}
	}
	if e.invalid {
		w.Transient = new(bool)
	}

	return map[string]wireError{"error": w}
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
	o, ok := lookupCode(code)
	if !ok {
		o = outcome{title: "Unknown error", details: "Unknown error."}
	}

	return statusError{
		Code: code, Title: o.title, Message: o.title,
		Data: map[string]string{"details": o.details}, Href: errorPage,
	}
}
