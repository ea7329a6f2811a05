package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"unicode/utf8"
)

// maxBody is the largest JSON body.
const maxBody = 1 << 20

// readBody reads the body before the handler runs: a multipart body goes to disk,
// where the route takes one, and JSON to memory.
func (s *Server) readBody(x *exchange) error {
	if r := x.request; r.route.has(uploads) && isForm(r.http) {
		return s.readUpload(x)
	}
	return x.request.readJSON(x.ResponseWriter)
}

// readJSON reads the body into memory, unless the method has none. Afterwards body
// is a valid JSON object, which the walk in decode.go relies on; an empty body
// counts as {}.
func (r *request) readJSON(w http.ResponseWriter) error {
	if r.http.Method != http.MethodPost && r.http.Method != http.MethodPatch {
		return nil
	}

	raw, err := io.ReadAll(http.MaxBytesReader(w, r.http.Body, maxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return fail(RequestTooLarge, "The body has more than 1 MiB.")
		}
		return &Error{Code: InvalidJSON, Message: "The body could not be read.", cause: err}
	}

	r.raw, r.body = raw, bytes.Trim(raw, " \t\r\n") // JSON knows no other space
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
func (r *request) decode(in validator) error {
	if err := unmarshal(r.body, in); err != nil {
		return err
	}
	return in.validate()
}
