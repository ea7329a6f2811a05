package limit

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Request is a request as the limits of its server see it: it has a place among the open
// requests, it can be ended from outside, and who makes it may become known while it is
// served. That of a server without limits holds nothing.
type Request struct {
	Place *Member // among the open requests; nil if it has none

	mu         sync.Mutex
	response   http.ResponseWriter // nil when the request is done: then it must not be used
	holder     Holder
	onIdentify []func(Holder)
}

type requestKey struct{}

// WithCurrent makes a context in which RequestOf finds the request that current points to. A
// connection with one request at a time has one for all of them, so that none is copied.
func WithCurrent(ctx context.Context, current *atomic.Pointer[Request]) context.Context {
	return context.WithValue(ctx, requestKey{}, current)
}

// Track makes a Request. Done must be called when it was served.
func Track(w http.ResponseWriter, h Holder) *Request { return &Request{response: w, holder: h} }

// RequestOf is the Request of a context.
func RequestOf(ctx context.Context) *Request {
	if current, ok := ctx.Value(requestKey{}).(*atomic.Pointer[Request]); ok && current.Load() != nil {
		return current.Load()
	}
	return new(Request)
}

// LeavePlace takes the request out of the open requests: it lasts, and is counted elsewhere.
func (q *Request) LeavePlace() {
	if q.Place != nil {
		q.Place.Remove()
	}
}

// Holder is who makes the request, as far as it is known.
func (q *Request) Holder() Holder {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.holder
}

// Identify says who makes the request. What it holds is then that holder's.
func (q *Request) Identify(h Holder) {
	if q.Place != nil {
		q.Place.Identify(h)
	}

	q.mu.Lock()
	q.holder = h
	all := q.onIdentify
	q.mu.Unlock()
	for _, identify := range all {
		identify(h)
	}
}

// OnIdentify has fn called when it becomes known who makes the request.
func (q *Request) OnIdentify(fn func(Holder)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.onIdentify = append(q.onIdentify, fn)
}

// EndReading makes reading the body fail, so that the request can be answered.
func (q *Request) EndReading() { q.end((*http.ResponseController).SetReadDeadline) }

// CutOff ends the request, and leaves others of its connection alone.
func (q *Request) CutOff() {
	q.end((*http.ResponseController).SetReadDeadline, (*http.ResponseController).SetWriteDeadline)
}

// end sets deadlines, which fails only if the client is gone.
func (q *Request) end(deadlines ...func(*http.ResponseController, time.Time) error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, set := range deadlines {
		if q.response != nil {
			_ = set(http.NewResponseController(q.response), time.Unix(1, 0))
		}
	}
}

// Done says that the request was served: it cannot be ended any more.
func (q *Request) Done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.response = nil
}
