package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// WeakETag is a tag of what it covers.
func WeakETag(covers []byte) string {
	sum := sha256.Sum256(covers)
	return `W/"` + hex.EncodeToString(sum[:16]) + `"`
}

// Reply is a successful answer: one resource, a page, or a raw document.
type Reply struct {
	Status   int
	Data     any       // a single resource
	List     *listBody // or a page
	Body     []byte    // or, and once rendered, the exact bytes
	Type     string    // of those bytes; "" for JSON
	Made     string    // the id of what was made, where the bytes are not of our own
	ETag     string
	Location string          // of a redirect
	Secret   bool            // shows something once: sealed where it is remembered
	Stream   func(*Exchange) // or writes an answer that has no end

	Unchanged bool // nothing was done: not recorded in the audit log

	replayed  bool   // the answer of an earlier request
	requestID string // of that request
}

// deletedView is what a DELETE answers.
type deletedView struct {
	ID      any    `json:"id"` // a text, or the number of a job
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

// OK answers with a resource.
func OK(data any) Reply { return Reply{Status: http.StatusOK, Data: data} }

// Created answers a POST that made a resource.
func Created(data any) Reply { return Reply{Status: http.StatusCreated, Data: data} }

// Accepted answers a POST whose work is done later.
func Accepted(data any) Reply { return Reply{Status: http.StatusAccepted, Data: data} }

// WithSecret marks a reply that shows something once.
func (rep Reply) WithSecret() Reply {
	rep.Secret = true
	return rep
}

// NoContent answers a request that has nothing to show.
func NoContent() Reply { return Reply{Status: http.StatusNoContent} }

// Deleted answers a DELETE.
func Deleted(object string, id any) Reply {
	return OK(deletedView{ID: id, Object: object, Deleted: true})
}

// OrEmpty turns nil into an empty list: JSON writes nil as null.
func OrEmpty[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// Render encodes the body, unless that was done before.
func (rep *Reply) Render(requestID string) error {
	switch {
	case rep.Body != nil:
		return nil
	case rep.List != nil:
		rep.Body = rep.List.Render(requestID)
		return nil
	}

	body, err := AppendView(append(make([]byte, 0, usualBody), `{"data":`...), rep.Data)
	if err != nil {
		return err
	}

	body = AppendText(append(body, `,"request_id":`...), requestID)
	rep.Body = append(body, '}')
	return nil
}

// FirstID is the id of the resource in a rendered body: views begin with it. "" if there
// is none.
func (rep *Reply) FirstID() string {
	if rep.Made != "" {
		return rep.Made
	}
	rest, ok := bytes.CutPrefix(rep.Body, []byte(`{"data":{"id":"`))
	if !ok {
		return ""
	}
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(id)
}

// usualBody is more than most bodies have.
const usualBody = 1024

// AppendView writes a view as JSON, without the escapes that are only needed inside of
// HTML.
func AppendView(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case appender:
		return v.AppendJSON(b), nil
	case json.Marshaler: // the encoder would go over it once more, and change its bytes
		text, err := v.MarshalJSON()
		return append(b, text...), err
	}

	w := bytes.NewBuffer(b)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return b, err
	}
	return bytes.TrimSuffix(w.Bytes(), []byte("\n")), nil
}

// send writes the reply; if If-None-Match matches, only 304 and the ETag.
func (rep Reply) send(x *Exchange) {
	if rep.Stream != nil {
		rep.Stream(x)
		return
	}

	h := x.Header()
	if rep.replayed {
		h.Set("Idempotent-Replayed", "true")
		h.Set("X-Request-Id", rep.requestID)
	}

	if rep.Location != "" {
		h.Set("Location", asciiURL(rep.Location))
	}

	if rep.Status == http.StatusNoContent {
		x.WriteHeader(rep.Status)
		return
	}
	if rep.ETag != "" {
		h.Set("ETag", rep.ETag)
	}
	if rep.IsKnown(x.Request.HTTP) {
		x.WriteHeader(http.StatusNotModified)
		return
	}
	writeBody(x, rep.Status, rep.Type, rep.Body)
}

// IsKnown reports whether the client has the answer already, so that it need not be
// rendered.
func (rep Reply) IsKnown(hr *http.Request) bool {
	return rep.ETag != "" && matchesETag(hr.Header["If-None-Match"], rep.ETag)
}

// asciiURL escapes a URL for a header, which takes only ASCII.
func asciiURL(url string) string {
	var b strings.Builder
	for _, c := range []byte(url) {
		if c < utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// matchesETag compares a weak tag with the lists of If-None-Match.
func matchesETag(headers []string, etag string) bool {
	want := strings.TrimPrefix(etag, "W/")
	for _, header := range headers {
		for candidate := range strings.SplitSeq(header, ",") {
			candidate = strings.TrimSpace(candidate)
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == want {
				return true
			}
		}
	}
	return false
}

type errorView struct {
	Type      errorType `json:"type"`
	Code      string    `json:"code"`
	Message   string    `json:"message"`
	Param     string    `json:"param,omitempty"`
	RequestID string    `json:"request_id"`
}

// sendError writes the error envelope.
func sendError(x *Exchange, e *Error) {
	h := x.Header()
	if e.Status() == http.StatusUnauthorized && e.Code != SessionRequired {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if e.Allow != "" {
		h.Set("Allow", e.Allow)
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", wholeSeconds(e.RetryAfter))
	}

	body, _ := AppendView(nil, map[string]errorView{"error": { // strings always encode
		Type:      e.code().ErrorType,
		Code:      e.code().Name,
		Message:   e.Message,
		Param:     e.Param,
		RequestID: x.Request.ID,
	}})
	writeBody(x, e.Status(), "", body)
}

// Headers of every answer. They are shared, and no one changes the value of a header.
var contentJSON, NoSniff = []string{"application/json"}, []string{"nosniff"}

// writeBody writes a body of a type, "" for JSON, with its length, which HEAD shows too.
func writeBody(x *Exchange, status int, kind string, body []byte) {
	h := x.Header()
	h["Content-Type"], h["X-Content-Type-Options"] = contentJSON, NoSniff
	if kind != "" {
		h["Content-Type"] = []string{kind}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.body = body
	x.WriteHeader(status)
	x.Write(body)
}

// wholeSeconds rounds a wait up to whole seconds, at least one.
func wholeSeconds(d time.Duration) string {
	seconds := int64((d + time.Second - 1) / time.Second)
	return strconv.FormatInt(max(seconds, 1), 10)
}
