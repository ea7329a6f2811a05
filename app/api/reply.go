package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
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

// add renders an item, unless the page would then have more than most bytes with it:
// that it returns as false. A page takes its first item whatever its size. Items are
// encoded one by one, because the encoder would parse the output of items that encode
// themselves again.
func (l *listBody) add(item any, most int) (bool, error) {
	if l.data == nil {
		l.data = []byte(listStart)
	}

	text, err := encode(item)
	first := len(l.data) == len(listStart)
	switch {
	case err != nil:
		return false, err
	case !first && len(l.data)+len(text)+listEndSize > most:
		return false, nil
	case !first:
		l.data = append(l.data, ',')
	}

	l.data = append(l.data, text...)
	return true, nil
}

// listEndSize is more than what follows the items takes.
const listEndSize = 512

// items are the items of the page, as a hash of it needs them.
func (l *listBody) items() []byte { return slices.Clip(l.data) }

// render is the whole body.
func (l *listBody) render(requestID string) ([]byte, error) {
	l.RequestID = requestID
	end, err := encode(l.listEnd)
	if err != nil {
		return nil, err
	}

	if l.data == nil {
		l.data = []byte(listStart)
	}
	return append(append(l.data, `],`...), end[1:]...), nil
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

// wholeList answers with a list that has no further pages, because it is short.
func wholeList[V any](data []V) (reply, error) {
	body := new(listBody)
	for _, view := range data {
		if _, err := body.add(view, math.MaxInt); err != nil {
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

	body := new(listBody)
	for i, row := range rows {
		fits, err := body.add(view(row), q.bytes)
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
func (rep *reply) render(requestID string) (err error) {
	switch {
	case rep.body != nil:
		return nil
	case rep.list != nil:
		rep.body, err = rep.list.render(requestID)
		return err
	}

	data, err := encode(rep.data)
	if err != nil {
		return err
	}

	rep.body = slices.Concat([]byte(`{"data":`), data, []byte(`,"request_id":"`+requestID+`"}`))
	return nil
}

// encode writes JSON without the escapes that are only needed inside of HTML.
func encode(v any) ([]byte, error) {
	if m, ok := v.(json.Marshaler); ok {
		return m.MarshalJSON() // the encoder would go over it once more
	}

	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
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

	if rep.etag != "" {
		h.Set("ETag", rep.etag)
		if matchesETag(x.request.http.Header.Values("If-None-Match"), rep.etag) {
			x.WriteHeader(http.StatusNotModified)
			return
		}
	}
	writeJSON(x, rep.status, rep.body)
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
	if e.status() == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if e.Allow != "" {
		h.Set("Allow", e.Allow)
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", wholeSeconds(e.RetryAfter))
	}

	body, err := encode(errorBody{errorView{
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

// writeJSON writes a body with its length, which HEAD shows too.
func writeJSON(x *exchange, status int, body []byte) {
	h := x.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	x.WriteHeader(status)
	x.Write(body)
}

// wholeSeconds rounds a wait up to whole seconds, at least one.
func wholeSeconds(d time.Duration) string {
	seconds := int64((d + time.Second - 1) / time.Second)
	return strconv.FormatInt(max(seconds, 1), 10)
}
