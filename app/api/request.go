package api

import (
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

// request is one call under /v1 or /console/api. The checks in pipeline.go fill it step by step, in their
// order.
type request struct {
	http   *http.Request
	id     string
	prefix string // "/v1", or what stands in its place in the console
	path   string // behind it
	table  *table
	began  time.Time
	route  *route
	params httprouter.Params
	raw    []byte // the body as it came
	body   []byte // the JSON object in it

	visitor *Visitor // who calls in the console; nil for a call with a key

	operator *storage.Organization // in whose name a command of the operator calls; nil for a call with a key

	key  storage.Key
	user *storage.User // nil for a key
	org  storage.Organization
	plan Plan

	account storage.AccountKey // of the number in the path, if there is one

	form *form           // a multipart body; nil when it is JSON
	csv  *storage.Upload // the file of a multipart body that has one beside JSON

	idempotency *idempotency // nil without a key

	action string // for the audit log, where it depends on the body; "" for the route's
	target string // likewise, what it was done to

	holdsLargePage bool          // of Server.largePages
	bodyRoom       *limit.Permit // of Server.bodies; nil for none
}

// param is a path parameter.
func (r *request) param(name string) string { return r.params.ByName(name) }

// query reads the query string. Unlike url.ParseQuery it drops no parameter: a value
// that cannot be unescaped stays as it is, so that a filter with a broken value is
// refused and not ignored.
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

// listQuery is the position and length of a page.
type listQuery struct {
	limit int
	after storage.After
	scope string // what the cursor is bound to
	// bytes is how large the page may become, and budget what may be read for it.
	bytes  int
	budget *storage.Budget
	// reached is where a search stopped that ran out of time before it filled its
	// page. The next page begins there.
	reached storage.After
}

// fetch is how many rows to read: one more than the page shows, to know whether there
// are more.
func (q listQuery) fetch() int { return q.limit + 1 }

// parseListQuery reads limit and cursor. scope names the list with its filters; the
// organization is added here.
func (s *Server) parseListQuery(r *request, scope string) (listQuery, error) {
	q := listQuery{limit: 25, after: storage.First, scope: scope + "\x00" + r.org.PublicID, bytes: s.pageBytes(r)}
	q.budget = storage.NewBudget(q.bytes)

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

const (
	// maxLoggedPath bounds what a caller can write into the logs with one request.
	maxLoggedPath = 512
	// maxStrangerPath is the same for a caller without a key: enough to see what was
	// meant.
	maxStrangerPath = 128
)

// isAuthenticated tells whether the caller has a valid key or session.
func (r *request) isAuthenticated() bool { return r.org.ID != 0 }

// loggedPath is the path for the logs: without the query, which may contain secrets,
// and escaped, because it may be shown in a terminal.
func (r *request) loggedPath() string {
	limit := maxStrangerPath
	if r.isAuthenticated() {
		limit = maxLoggedPath
	}

	path := r.http.URL.EscapedPath()
	return path[:min(len(path), limit)]
}

// logAttrs are the attributes of the request's log line.
func (r *request) logAttrs(status int, took time.Duration, ip string) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("request_id", r.id),
		slog.String("method", LoggedMethod(r.http.Method)),
		slog.String("path", r.loggedPath()),
		slog.Int("status", status),
		slog.Duration("took", took),
		slog.String("ip", ip),
	}

	switch {
	case r.user != nil:
		attrs = append(attrs, slog.String("org", r.org.PublicID), slog.String("user", r.user.ID))
	case r.isAuthenticated():
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
