package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/julienschmidt/httprouter"

	"confab/storage"
)

// maxBody is the largest JSON body.
const maxBody = 1 << 20

// request is one call under /v1 with what the checks found out about it.
type request struct {
	http   *http.Request
	id     string
	path   string // relative to /v1
	began  time.Time
	route  *route
	params httprouter.Params
	raw    []byte // the body as it came
	body   []byte // the JSON object in it

	key  storage.Key
	org  storage.Organization
	plan Plan

	account storage.AccountKey // of the number in the path, if there is one

	form *form // a multipart body; nil when it is JSON

	idempotency *idempotency // nil without a key
}

// param is a path parameter.
func (r *request) param(name string) string { return r.params.ByName(name) }

// readJSON takes the body in, unless the method has none.
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

// validator is a body that knows its rules.
type validator interface{ validate() error }

// decode reads the body into in and checks its rules.
func (r *request) decode(in validator) error {
	if err := unmarshal(r.body, in); err != nil {
		return err
	}
	return in.validate()
}

// query reads the parameters behind the question mark. Unlike url.ParseQuery it
// drops none: one that cannot be unescaped stays as it is, so that a known
// parameter with a broken value is refused instead of overlooked.
func (r *request) query() url.Values {
	values := make(url.Values)
	for pair := range strings.SplitSeq(r.http.URL.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if plain, err := url.QueryUnescape(value); err == nil {
			value = plain
		}
		values.Add(name, value)
	}
	return values
}

// listQuery is where a page begins and how long it is.
type listQuery struct {
	limit int
	after storage.After
	scope string // what the cursor is bound to
	// reached is how far a list came whose page is not full: it looked at so many
	// rows in vain that its time was up. The next page begins there.
	reached storage.After
}

// fetch is how many rows to ask for: one more than the page shows if there are more.
func (q listQuery) fetch() int { return q.limit + 1 }

// parseListQuery reads limit and cursor. scope names the list and holds its filters; the
// organization is added here.
func (s *Server) parseListQuery(r *request, scope string) (listQuery, error) {
	q := listQuery{limit: 25, after: storage.First, scope: scope + "\x00" + r.org.PublicID}

	values := r.query()
	if values.Has("limit") {
		n, err := strconv.Atoi(values.Get("limit"))
		if err != nil || n < 1 || n > 100 {
			return q, &Error{Code: InvalidLimit, Param: "limit", Message: "limit must be a number from 1 to 100."}
		}
		q.limit = n
	}

	if values.Has("cursor") {
		after, ok := s.cursors.decode(q.scope, values.Get("cursor"))
		if !ok {
			return q, &Error{Code: InvalidCursor, Param: "cursor", Message: "cursor does not come from this list with these filters."}
		}
		q.after = after
	}

	return q, nil
}

// maxLoggedPath bounds what a stranger can write into the logs with one call.
const maxLoggedPath = 512

// loggedPath is the path for the logs: without the query, which may hold
// anything, and escaped, because a terminal will show it.
func (r *request) loggedPath() string {
	path := r.http.URL.EscapedPath()
	return path[:min(len(path), maxLoggedPath)]
}

// logAttrs are the wide log line of the request.
func (r *request) logAttrs(status int, took time.Duration, ip string) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("request_id", r.id),
		slog.String("method", r.http.Method),
		slog.String("path", r.loggedPath()),
		slog.Int("status", status),
		slog.Duration("took", took),
		slog.String("ip", ip),
	}

	if r.org.ID != 0 {
		attrs = append(attrs, slog.String("org", r.org.PublicID), slog.String("key", r.key.ID))
	}
	return attrs
}

func levelOf(status int) slog.Level {
	if status >= 500 {
		return slog.LevelError
	}
	return slog.LevelInfo
}
