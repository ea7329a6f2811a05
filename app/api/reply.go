package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"confab/storage"
)

// reply is a successful answer: one resource, a page, or a raw document.
type reply struct {
	status   int
	data     any       // a single resource
	list     *listBody // or a page
	body     []byte    // or, and once rendered, the exact bytes
	etag     string
	location string          // of a redirect
	secret   bool            // shows something once: sealed where it is remembered
	stream   func(*exchange) // or writes an answer that has no end

	unchanged bool // nothing was done: not recorded in the audit log

	replayed  bool   // the answer of an earlier request
	requestID string // of that request
}

// listBody is a page: its items, rendered, and what follows them.
type listBody struct {
	listEnd
	data []byte // the document so far, beginning with listStart
}

// listStart begins the document of a list. The items follow, and then listEnd.
const listStart = `{"data":[`

// listEnd is what follows the items.
type listEnd struct {
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
	RequestID  string  `json:"request_id"`
}

func (e listEnd) appendJSON(b []byte) []byte {
	b = strconv.AppendBool(append(b, `{"has_more":`...), e.HasMore)
	b = appendOptional(append(b, `,"next_cursor":`...), e.NextCursor)
	b = appendText(append(b, `,"request_id":`...), e.RequestID)
	return append(b, '}')
}

// newList begins a page of some items.
func newList(items int) *listBody {
	return &listBody{data: append(make([]byte, 0, len(listStart)+items*usualItem+listEndSize), listStart...)}
}

// usualItem is about how many bytes an item has. It only saves the page from being
// copied as it grows.
const usualItem = 640

// add renders an item, unless the page would then have more than most bytes with it:
// that it returns as false. A page takes its first item whatever its size. Items are
// encoded one by one, because the encoder would parse the output of items that encode
// themselves again.
func (l *listBody) add(item any, most int) (bool, error) {
	before := len(l.data)
	first := before == len(listStart)
	if !first {
		l.data = append(l.data, ',')
	}

	var err error
	start := len(l.data)
	l.data, err = appendView(l.data, item)
	size := len(l.data) - start
	if err != nil || !first && before+size+listEndSize > most {
		l.data = l.data[:before]
		return false, err
	}
	return true, nil
}

// listEndSize is more than what follows the items takes.
const listEndSize = 512

// render is the whole body.
func (l *listBody) render(requestID string) []byte {
	l.RequestID = requestID
	l.data = append(l.data, ']')
	comma := len(l.data) // in the place of a bracket
	l.data = l.listEnd.appendJSON(l.data)
	l.data[comma] = ','
	return l.data
}

// deletedView is what a DELETE answers.
type deletedView struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

// ok answers with a resource.
func ok(data any) reply { return reply{status: http.StatusOK, data: data} }

// created answers a POST that made a resource.
func created(data any) reply { return reply{status: http.StatusCreated, data: data} }

// accepted answers a POST whose work is done later.
func accepted(data any) reply { return reply{status: http.StatusAccepted, data: data} }

// noContent answers a request that has nothing to show.
func noContent() reply { return reply{status: http.StatusNoContent} }

// wholeList answers with a list that has no further pages, because it is short.
func wholeList[V any](data []V) (reply, error) {
	body := newList(len(data))
	for i := range data {
		if _, err := body.add(&data[i], math.MaxInt); err != nil {
			return reply{}, err
		}
	}
	return reply{status: http.StatusOK, list: body}, nil
}

// deleted answers a DELETE.
func deleted(object, id string) reply {
	return ok(deletedView{ID: id, Object: object, Deleted: true})
}

// page makes the reply of a list. rows has one row more than the page when there are
// more. The page is shorter if its items would have more bytes than it may: the next
// one begins behind its last item.
func page[T, V any](s *Server, q listQuery, rows []T, key func(T) storage.After, view func(T) V) (reply, error) {
	next := q.reached
	switch {
	case len(rows) > q.limit:
		rows = rows[:q.limit]
		next = key(rows[q.limit-1])
	case q.budget.Cut():
		next = key(rows[len(rows)-1])
	}

	body := newList(len(rows))
	item := new(V)
	for i, row := range rows {
		*item = view(row)
		fits, err := body.add(item, q.bytes)
		if err != nil {
			return reply{}, err
		}
		if !fits {
			next = key(rows[i-1])
			break
		}
	}

	if body.HasMore = next != storage.Last; body.HasMore {
		cursor := s.cursors.encode(q.scope, next)
		body.NextCursor = &cursor
	}
	return reply{status: http.StatusOK, list: body}, nil
}

// orEmpty turns nil into an empty list: JSON writes nil as null.
func orEmpty[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// render encodes the body, unless that was done before.
func (rep *reply) render(requestID string) error {
	switch {
	case rep.body != nil:
		return nil
	case rep.list != nil:
		rep.body = rep.list.render(requestID)
		return nil
	}

	body, err := appendView(append(make([]byte, 0, usualBody), `{"data":`...), rep.data)
	if err != nil {
		return err
	}

	body = appendText(append(body, `,"request_id":`...), requestID)
	rep.body = append(body, '}')
	return nil
}

// firstID is the id of the resource in a rendered body: views begin with it. "" if there
// is none.
func (rep *reply) firstID() string {
	rest, ok := bytes.CutPrefix(rep.body, []byte(`{"data":{"id":"`))
	if !ok {
		return ""
	}
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(id)
}

// usualBody is more than most bodies have.
const usualBody = 1024

// appendView writes a view as JSON, without the escapes that are only needed inside of
// HTML.
func appendView(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case appender:
		return v.appendJSON(b), nil
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
func (rep reply) send(x *exchange) {
	if rep.stream != nil {
		rep.stream(x)
		return
	}

	h := x.Header()
	if rep.replayed {
		h.Set("Idempotent-Replayed", "true")
		h.Set("X-Request-Id", rep.requestID)
	}

	if rep.location != "" {
		h.Set("Location", asciiURL(rep.location))
	}

	if rep.status == http.StatusNoContent {
		x.WriteHeader(rep.status)
		return
	}
	if rep.etag != "" {
		h.Set("ETag", rep.etag)
	}
	if rep.isKnown(x.request.http) {
		x.WriteHeader(http.StatusNotModified)
		return
	}
	writeJSON(x, rep.status, rep.body)
}

// isKnown tells whether the client has the answer already, so that it need not be
// rendered.
func (rep reply) isKnown(hr *http.Request) bool {
	return rep.etag != "" && matchesETag(hr.Header.Values("If-None-Match"), rep.etag)
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

type errorBody struct {
	Error errorView `json:"error"`
}

type errorView struct {
	Type      errorType `json:"type"`
	Code      string    `json:"code"`
	Message   string    `json:"message"`
	Param     string    `json:"param,omitempty"`
	RequestID string    `json:"request_id"`
}

// sendError writes the error envelope.
func sendError(x *exchange, e *Error) {
	h := x.Header()
	if e.status() == http.StatusUnauthorized && e.Code != SessionRequired {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if e.Allow != "" {
		h.Set("Allow", e.Allow)
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", wholeSeconds(e.RetryAfter))
	}

	body, err := appendView(nil, errorBody{errorView{
		Type:      e.code().errorType,
		Code:      e.code().name,
		Message:   e.Message,
		Param:     e.Param,
		RequestID: x.request.id,
	}})
	if err != nil {
		body = nil // strings always encode
	}
	writeJSON(x, e.status(), body)
}

// Headers of every answer. They are shared, and nobody changes the value of a header.
var contentJSON, noSniff = []string{"application/json"}, []string{"nosniff"}

// writeJSON writes a body with its length, which HEAD shows too.
func writeJSON(x *exchange, status int, body []byte) {
	h := x.Header()
	h["Content-Type"], h["X-Content-Type-Options"] = contentJSON, noSniff
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.WriteHeader(status)
	x.Write(body)
}

// wholeSeconds rounds a wait up to whole seconds, at least one.
func wholeSeconds(d time.Duration) string {
	seconds := int64((d + time.Second - 1) / time.Second)
	return strconv.FormatInt(max(seconds, 1), 10)
}
