package rest

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"

	"confab/app/limit"
	"confab/storage"
)

// Request is one call under /v1 or /console/api. The checks in pipeline.go fill it step by step, in their
// order.
type Request struct {
	HTTP   *http.Request
	ID     string
	Prefix string // "/v1", or what stands in its place in the console
	path   string // behind it
	Table  *Table
	Began  time.Time
	route  *Route
	params httprouter.Params
	Raw    []byte // the body as it came
	Body   []byte // the JSON object in it

	Visitor *Visitor // who calls in the console; nil for a call with a key

	Operator *storage.Organization // in whose name a command of the operator calls; nil for a call with a key

	Key  storage.Key
	User *storage.User // nil for a key
	Org  storage.Organization
	Plan Plan

	Account storage.AccountKey // of the number in the path, if there is one

	Form *form           // a multipart body; nil when it is JSON
	CSV  *storage.Upload // the file of a multipart body that has one beside JSON

	Idempotency *idempotency // nil without a key

	Action string // for the audit log, where it depends on the body; "" for the route's
	Target string // likewise, what it was done to

	holdsLargePage bool          // of Server.LargePages
	bodyRoom       *limit.Permit // of Server.bodies; nil for none
}

// Param is a path parameter.
func (r *Request) Param(name string) string { return r.params.ByName(name) }

// Query reads the query string. Unlike url.ParseQuery it drops no parameter: a value
// that cannot be unescaped stays as it is, so that a filter with a broken value is
// refused and not ignored.
func (r *Request) Query() url.Values {
	values := make(url.Values)
	for pair := range strings.SplitSeq(r.HTTP.URL.RawQuery, "&") {
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

// ListQuery is the position and length of a page.
type ListQuery struct {
	Limit int
	After storage.After
	scope string // what the cursor is bound to
	// bytes is how large the page may become, and budget what may be read for it.
	bytes  int
	Budget *storage.Budget
	// reached is where a search stopped that ran out of time before it filled its
	// page. The next page begins there.
	Reached storage.After
}

// Fetch is how many rows to read: one more than the page shows, to know whether there
// are more.
func (q ListQuery) Fetch() int { return q.Limit + 1 }

// ParseListQuery reads limit and cursor. scope names the list with its filters; the
// organization is added here.
func (s *Server) ParseListQuery(r *Request, scope string) (ListQuery, error) {
	q := ListQuery{Limit: 25, After: storage.First, scope: scope + "\x00" + r.Org.PublicID, bytes: s.pageBytes(r)}
	q.Budget = storage.NewBudget(q.bytes)

	values := r.Query()
	if values.Has("limit") {
		n, err := strconv.Atoi(values.Get("limit"))
		if err != nil || n < 1 || n > 100 {
			return q, &Error{Code: InvalidLimit, Param: "limit", Message: "limit must be a number from 1 to 100."}
		}
		q.Limit = n
	}

	if values.Has("cursor") {
		after, ok := s.Cursors.decode(q.scope, values.Get("cursor"))
		if !ok {
			return q, &Error{Code: InvalidCursor, Param: "cursor", Message: "cursor does not come from this list with these filters."}
		}
		q.After = after
	}

	return q, nil
}

const (
	// MaxLoggedPath bounds what a caller can write into the logs with one request.
	MaxLoggedPath = 512
	// maxStrangerPath is the same for a caller without a key: enough to see what was
	// meant.
	maxStrangerPath = 128
)

// isAuthenticated tells whether the caller has a valid key or session.
func (r *Request) isAuthenticated() bool { return r.Org.ID != 0 }

// loggedPath is the path for the logs: without the query, which may contain secrets,
// and escaped, because it may be shown in a terminal.
func (r *Request) loggedPath() string {
	limit := maxStrangerPath
	if r.isAuthenticated() {
		limit = MaxLoggedPath
	}

	path := r.HTTP.URL.EscapedPath()
	return path[:min(len(path), limit)]
}

// logAttrs are the attributes of the request's log line.
func (r *Request) logAttrs(status int, took time.Duration, ip string) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("request_id", r.ID),
		slog.String("method", LoggedMethod(r.HTTP.Method)),
		slog.String("path", r.loggedPath()),
		slog.Int("status", status),
		slog.Duration("took", took),
		slog.String("ip", ip),
	}

	switch {
	case r.User != nil:
		attrs = append(attrs, slog.String("org", r.Org.PublicID), slog.String("user", r.User.ID))
	case r.isAuthenticated():
		attrs = append(attrs, slog.String("org", r.Org.PublicID), slog.String("key", r.Key.ID))
	}
	return attrs
}

func levelOf(status int) slog.Level {
	if status >= 500 {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// DetachContext lets a request continue when its client disconnects: what was started
// must be finished and stored.
func (r *Request) DetachContext() {
	r.HTTP = r.HTTP.WithContext(context.WithoutCancel(r.HTTP.Context()))
}
