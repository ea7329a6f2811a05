package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"unicode/utf8"

	"confab/storage"
)

// MaxBody is the largest JSON body, and maxTableBody that of a route that takes much.
const (
	MaxBody      = 1 << 20
	maxTableBody = 10 << 20
)

// readBody reads the body before the handler runs: a multipart body goes to disk,
// where the route takes one, and JSON to memory.
func (s *Server) readBody(x *Exchange) error {
	r := x.Request
	if isForm(r.HTTP) && (r.route.Has(Uploads) || r.route.takesTable()) {
		return s.readUpload(x)
	}
	return s.readJSON(x)
}

// readJSON reads the body into memory, unless the method has none. Afterwards body
// is a valid JSON object, which the walk in decode.go relies on; an empty body
// counts as {}.
func (s *Server) readJSON(x *Exchange) error {
	r := x.Request
	switch r.HTTP.Method {
	case http.MethodPost, http.MethodPatch, http.MethodPut:
	default:
		if !r.route.Has(NamedInBody) {
			return nil
		}
	}

	limit, size := int64(MaxBody), "1 MiB"
	if r.route.takesTable() {
		limit, size = maxTableBody, "10 MiB"
	}
	announced := limit
	if n := r.HTTP.ContentLength; n >= smallBody && n < limit {
		announced = n
	}

	raw, err := s.readWhole(r, http.MaxBytesReader(x.ResponseWriter, r.HTTP.Body, limit), announced)
	if err != nil {
		if _, ours := errors.AsType[*Error](err); ours {
			return err
		}
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return Fail(RequestTooLarge, "The body is larger than "+size+".")
		}
		return &Error{Code: InvalidJSON, Message: "The body could not be read.", Cause: err}
	}

	r.Raw = raw
	if r.route.Convert != nil {
		raw = r.route.Convert(r.HTTP, raw)
	}
	return r.setBody(raw)
}

// setBody makes a text the request's JSON object.
func (r *Request) setBody(raw []byte) error {
	r.Body = bytes.Trim(raw, " \t\r\n") // JSON knows no other space
	switch {
	case len(r.Body) == 0:
		r.Body = []byte("{}")
	case !utf8.Valid(r.Body) || !json.Valid(r.Body) || hasLoneSurrogate(r.Body):
		return Fail(InvalidJSON, "The body is not valid JSON.")
	case r.Body[0] != '{':
		return Fail(InvalidJSON, "The body must be a JSON object.")
	}
	return nil
}

// validator is a decoded body that can check its own rules.
type validator interface{ Validate() error }

// Decode reads the body into in and checks its rules.
func (r *Request) Decode(in validator) error { return Decode(r.Body, r.Now, in) }

// Decode reads a body at a time, and checks its rules.
func Decode(body []byte, now storage.Time, in validator) error {
	if err := Unmarshal(body, in); err != nil {
		return err
	}
	if t, ok := in.(interface{ setNow(storage.Time) }); ok {
		t.setNow(now)
	}
	return in.Validate()
}

// WithBody makes the handler of a route whose body has the form and the rules of T.
func WithBody[T any, P interface {
	*T
	validator
}](handle func(*Request, T) (Reply, error)) Handler {
	return func(r *Request) (Reply, error) {
		var in T
		if err := r.Decode(P(&in)); err != nil {
			return Reply{}, err
		}
		return handle(r, in)
	}
}
