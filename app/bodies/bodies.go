// Package bodies bounds the memory for the bodies of requests outside of /v1.
//
// Under /v1 the key is checked before a body is read. Elsewhere anybody may send one,
// and who sent it is often known only when all of it is there: the signature of a
// callback is over the whole body. All such bodies together therefore have a Budget.
//
//   - A body counts with the bytes that have arrived, not with those that it announces:
//     a slow sender takes little away from others.
//   - It counts from its first byte until the request is answered.
//   - The last quarter of the budget is for small bodies, which nearly all callbacks
//     have. A few senders of large ones cannot shut them out.
//   - What exceeds the budget is not read: its reader gets ErrExhausted, and the client
//     is asked to come again.
package bodies

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

const (
	// connectionCost is what each body counts for beside its bytes: the buffers and the
	// goroutine of its connection. It bounds how many are read at the same time.
	connectionCost = 16 << 10
	// smallBody is the most that a body may count for to be small.
	smallBody = 64 << 10
)

// ErrExhausted means that there are too many bodies in memory to read another.
var ErrExhausted = errors.New("too many request bodies at once")

// Budget is the number of bytes that all bodies may count for at the same time.
type Budget struct {
	size int64
	used atomic.Int64
}

// NewBudget makes a budget of so many bytes.
func NewBudget(size int64) *Budget { return &Budget{size: size} }

// Used is how many bytes bodies count for now.
func (b *Budget) Used() int64 { return b.used.Load() }

// Count returns the request with a body that counts as it is read, until release is
// called. The request itself stays as it is: the server looks at its body to decide
// whether what was not read of it is worth waiting for.
func (b *Budget) Count(r *http.Request) (counted *http.Request, release func()) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, func() {}
	}

	body := &countedBody{ReadCloser: r.Body, budget: b}
	counted = new(http.Request)
	*counted = *r
	counted.Body = body
	return counted, body.release
}

// take adds n bytes to a body that holds some already, unless the budget is exhausted.
func (b *Budget) take(held, n int64) bool {
	limit := b.size
	if held+n > smallBody {
		limit -= b.size / 4
	}

	if b.used.Add(n) > limit {
		b.used.Add(-n)
		return false
	}
	return true
}

// countedBody counts what is read of a body.
type countedBody struct {
	io.ReadCloser
	budget *Budget
	held   int64
}

// Read implements io.Reader.
func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)

	cost := int64(n)
	if c.held == 0 {
		cost += connectionCost
	}
	if !c.budget.take(c.held, cost) {
		return 0, ErrExhausted
	}

	c.held += cost
	return n, err
}

// release gives back what the body has counted for.
func (c *countedBody) release() {
	c.budget.used.Add(-c.held)
	c.held = 0
}
