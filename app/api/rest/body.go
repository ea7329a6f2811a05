package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"confab/app/limit"
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
	var empty T
	return WithBodyInto[T, P](empty, handle)
}

// WithBodyInto is WithBody for a body whose rules depend on what into says. It is read into a copy.
func WithBodyInto[T any, P interface {
	*T
	validator
}](into T, handle func(*Request, T) (Reply, error)) Handler {
	return func(r *Request) (Reply, error) {
		in := into
		if err := r.Decode(P(&in)); err != nil {
			return Reply{}, err
		}
		return handle(r, in)
	}
}

// The bodies that are in memory at the same time are bounded together, because any key can
// send many, and need not finish them. The first smallBody of each is free, which is more
// than nearly all requests have. A longer one waits until there is room for all of it, and
// keeps that until it was answered. One organization can have a part of the room only,
// which the largest body fits into: one that fills it keeps no other from theirs. When a
// few have filled all of the room, the slowest body of the largest holder is ended for an
// organization that has less.
const (
	smallBody      = 16 << 10
	maxBodies      = 64 << 20
	maxBodiesOfOne = 12 << 20
	bodyPatience   = 10 * time.Second
	// bodyGrace is how long a body may take, at least, while others wait for its room.
	bodyGrace = 2 * time.Second
)

// readWhole reads a body, or the one part of it that is kept in memory. It has at most size
// bytes.
func (s *Server) readWhole(r *Request, from io.Reader, size int64) ([]byte, error) {
	read := bytes.NewBuffer(make([]byte, 0, 2*bytes.MinRead))
	if _, err := io.CopyN(read, from, smallBody); err == io.EOF {
		return read.Bytes(), nil
	} else if err != nil {
		return nil, err
	}

	room, err := s.bodies.Acquire(r.HTTP.Context(), r.Holder(), size, limit.RequestOf(r.HTTP.Context()).EndReading)
	if err != nil {
		return nil, tooManyBodies(err)
	}
	r.bodyRoom = room

	read.Grow(int(size))
	_, err = read.ReadFrom(from)
	if room.Keep() {
		return nil, tooManyBodies(err)
	}
	return read.Bytes(), err
}

// tooManyBodies refuses a body for which there is no room.
func tooManyBodies(cause error) error {
	const busy = "Too many large requests at once. Please retry."
	return &Error{Code: ServiceUnavailable, Message: busy, RetryAfter: time.Second, Cause: cause}
}

// releaseBody returns the room of a body that was answered.
func (r *Request) releaseBody() {
	if r.bodyRoom != nil {
		r.bodyRoom.Release()
	}
}
