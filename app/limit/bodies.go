package limit

import (
	"io"
	"net/http"
)

// connectionCost is what each body counts for beside its bytes: the buffers and the
// goroutine of its connection. It bounds how many are read at the same time.
const connectionCost = 16 << 10

// Bodies bounds the memory for the bodies of requests outside of /v1.
//
// Under /v1 the key is checked before a body is read. Elsewhere anybody may send one,
// and who sent it is often known only when all of it is there: the signature of a
// callback is over the whole body.
//
//   - A body counts with the bytes that have arrived, not with those that it announces:
//     a slow sender takes little away from others.
//   - It counts from its first byte until the request is answered.
//   - When there are too many, the oldest of the largest network is ended. It, or a body
//     too large by itself, is not read on: its reader gets ErrExhausted, and the client is
//     asked to come again.
//   - A body that has arrived is not ended any more.
type Bodies struct{ *EvictingSet }

// NewBodies makes room for bodies of so many bytes together.
func NewBodies(size int64) *Bodies {
	return &Bodies{NewEvictingSet(SetOptions{Max: size, Reserve: size / 10})}
}

// Count returns the request with a body that counts as it is read, until release is
// called. The request itself stays as it is: the server looks at its body to decide
// whether what was not read of it is worth waiting for.
func (b *Bodies) Count(r *http.Request) (counted *http.Request, release func()) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, func() {}
	}

	body := &countedBody{ReadCloser: r.Body, set: b.EvictingSet, request: RequestOf(r.Context())}
	counted = new(http.Request)
	*counted = *r
	counted.Body = body
	return counted, body.release
}

type countedBody struct {
	io.ReadCloser
	set     *EvictingSet
	request *Request
	member  *Member // nil before its first byte
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if full := c.count(int64(n)); full != nil {
		return 0, full
	}
	if err == io.EOF {
		c.member.Keep()
	}
	return n, err
}

// count counts bytes that have arrived. The error is ErrExhausted if there is no room for
// them, or if the body was ended.
func (c *countedBody) count(n int64) (err error) {
	if c.member != nil {
		return c.member.Grow(n)
	}
	c.member, err = c.set.Add(c.request.Holder(), connectionCost+n, c.request.EndReading)
	c.request.OnIdentify(c.member.Identify)
	return err
}

func (c *countedBody) release() {
	if c.member != nil {
		c.member.Remove()
	}
}
