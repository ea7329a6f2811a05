package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"unicode/utf8"
)

// maxBody is the largest JSON body, and maxTableBody that of a route that takes much.
const (
	maxBody      = 1 << 20
	maxTableBody = 10 << 20
)

// readBody reads the body before the handler runs: a multipart body goes to disk,
// where the route takes one, and JSON to memory.
func (s *Server) readBody(x *exchange) error {
	r := x.request
	switch {
	case r.route.has(uploads) && isForm(r.http):
		return s.readUpload(x)
	case r.route.has(tables) && isForm(r.http):
		return s.readTable(x)
	}
	return s.readJSON(x)
}

// readJSON reads the body into memory, unless the method has none. Afterwards body
// is a valid JSON object, which the walk in decode.go relies on; an empty body
// counts as {}.
func (s *Server) readJSON(x *exchange) error {
	r := x.request
	if r.http.Method != http.MethodPost && r.http.Method != http.MethodPatch {
		return nil
	}

	limit, size := int64(maxBody), "1 MiB"
	if r.route.has(tables) {
		limit, size = maxTableBody, "10 MiB"
	}
	announced := limit
	if n := r.http.ContentLength; n >= smallBody && n < limit {
		announced = n
	}

	raw, err := s.readWhole(r, http.MaxBytesReader(x.ResponseWriter, r.http.Body, limit), announced)
	if err != nil {
		if _, ours := errors.AsType[*Error](err); ours {
			return err
		}
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return fail(RequestTooLarge, "The body has more than "+size+".")
		}
		return &Error{Code: InvalidJSON, Message: "The body could not be read.", cause: err}
	}

	r.raw = raw
	return r.setBody(raw)
}

// setBody makes a text the request's JSON object.
func (r *request) setBody(raw []byte) error {
	r.body = bytes.Trim(raw, " \t\r\n") // JSON knows no other space
	switch {
	case len(r.body) == 0:
		r.body = []byte("{}")
	case !utf8.Valid(r.body) || !json.Valid(r.body) || hasLoneSurrogate(r.body):
		return fail(InvalidJSON, "The body is not valid JSON.")
	case r.body[0] != '{':
		return fail(InvalidJSON, "The body must be a JSON object.")
	}
	return nil
}

// validator is a decoded body that can check its own rules.
type validator interface{ validate() error }

// decode reads the body into in and checks its rules.
func (r *request) decode(in validator) error { return decode(r.body, in) }

func decode(body []byte, in validator) error {
	if err := unmarshal(body, in); err != nil {
		return err
	}
	return in.validate()
}
