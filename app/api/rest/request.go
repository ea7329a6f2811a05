package rest

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
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
	Prefix string // "/v1", or its counterpart in the console
	path   string // after it
	Table  *Table
	began  time.Time
	Now    storage.Time // what the clock of the database said then
	route  *Route
	params httprouter.Params
	Raw    []byte // the body as it came
	Body   []byte // the JSON object in it

	Visitor *Visitor // who calls in the console; nil for a call with a key

	// Refuse writes an error in another form than the API's envelope; nil for that.
	Refuse func(*Exchange, *Error)

	Operator *storage.Organization // in whose name a command of the operator calls; nil for a call with a key

	Key  storage.Key
	User *storage.User // nil for a key
	// refused is whose key was refused because it was revoked or has expired; nil for others.
	refused *storage.Principal
	Org     storage.Organization
	Plan    Plan

	Account storage.AccountKey // of the number in the path, if there is one

	Form *form // a multipart body; nil when it is JSON

	Idempotency *idempotency // nil without a key

	Action string // for the audit log, where it depends on the body; "" for the route's
	Target string // likewise, what it was done to

	holdsLargePage bool          // of Server.largePages
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

const (
	// MaxLoggedPath bounds what a caller can write into the logs with one request.
	MaxLoggedPath = 512
	// maxStrangerPath is the same for a caller without a key: enough to see what was
	// meant.
	maxStrangerPath = 128
)

// isAuthenticated reports whether the caller has a valid key or session.
func (r *Request) isAuthenticated() bool { return r.Org.ID != 0 }

// caller is the organization and the key of who calls, though the call may be refused; zero if they
// are not known. A person has no key.
func (r *Request) caller() (storage.Organization, storage.Key) {
	if r.refused != nil {
		return r.refused.Organization, r.refused.Key
	}
	return r.Org, r.Key
}

// isKnown reports whether it is known who calls, though the call may be refused.
func (r *Request) isKnown() bool { return r.isAuthenticated() || r.refused != nil }

// loggedPath is the path for the logs: without the query, which may contain secrets, with
// everything masked that may be one in the path itself, and escaped, because it may be shown
// in a terminal.
func (r *Request) loggedPath(status int) string {
	limit := maxStrangerPath
	if r.isKnown() {
		limit = MaxLoggedPath
	}

	mask := pathMask{prefix: r.Prefix, words: r.Table.words}
	if status < 400 {
		mask.name = r.params.ByName("name")
	}
	return mask.apply(r.HTTP.URL.EscapedPath(), limit)
}

// logAttrs are the attributes of the request's log line.
func (r *Request) logAttrs(status int, took time.Duration, ip, path string) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("request_id", r.ID),
		slog.String("method", LoggedMethod(r.HTTP.Method)),
		slog.String("path", path),
		slog.Int("status", status),
		slog.Duration("took", took),
		slog.String("ip", ip),
	}

	organization, key := r.caller()
	switch {
	case r.User != nil:
		attrs = append(attrs, slog.String("org", organization.PublicID), slog.String("user", r.User.ID))
	case organization.ID != 0:
		attrs = append(attrs, slog.String("org", organization.PublicID), slog.String("key", key.ID))
	}
	return attrs
}

// DropBody forgets the body of a request that goes on to wait for something else.
func (r *Request) DropBody() {
	r.releaseBody()
	r.Raw, r.Body, r.bodyRoom = nil, nil, nil
}

// DetachContext lets a request continue when its client disconnects: what was started
// must be finished and stored.
func (r *Request) DetachContext() {
	r.HTTP = r.HTTP.WithContext(context.WithoutCancel(r.HTTP.Context()))
}
