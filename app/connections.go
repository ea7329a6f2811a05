package app

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"confab/app/limit"
	"confab/app/stream"
)

// These are far more than clients and proxies need. With the longest headers that are
// taken, all of them together have about a hundred megabytes.
const (
	maxWaitingConnections = 1000
	maxBusyRequests       = 1500
)

// connections bounds what strangers can hold of a server, each of which takes memory:
//
//   - Connections that wait for a request: new ones, whose header is not complete, and
//     those between two requests.
//   - Requests that are being answered. A client that does not send the body it announced,
//     or does not take its answer, holds one until the server's time limits end it. That
//     the request was refused long ago makes no difference: the server waits for the rest
//     of the body all the same.
//
// Each is counted for the network of its peer until a handler has found out who calls; a
// connection that waits between two requests belongs to the caller of the last one. A tenth
// is kept for those who have not shown yet who they are.
//
// Streams are not counted. They last, and have bounds of their own.
type connections struct {
	waiting, requests *limit.EvictingSet

	mu   sync.Mutex
	open map[net.Conn]*connection
}

// connection is what a connection holds: one request at a time, unless it is of HTTP/2.
type connection struct {
	net.Conn
	peer limit.Holder
	// waiting and request are its places; it has one of them at a time, or none.
	waiting, request *limit.Member
	last             atomic.Pointer[limit.Request] // nil when its head is not complete
}

func newConnections() *connections {
	return &connections{
		waiting:  limit.NewEvictingSet(limit.SetOptions{Max: maxWaitingConnections, Reserve: maxWaitingConnections / 10}),
		requests: limit.NewEvictingSet(limit.SetOptions{Max: maxBusyRequests, Reserve: maxBusyRequests / 10}),
		open:     make(map[net.Conn]*connection),
	}
}

type connectionKey struct{}

// withConnection is the ConnContext of a server.
func (c *connections) withConnection(ctx context.Context, conn net.Conn) context.Context {
	peer := conn.RemoteAddr().String()
	if host, _, err := net.SplitHostPort(peer); err == nil {
		peer = host
	}
	opened := &connection{Conn: conn, peer: limit.Stranger(peer)}
	opened.waiting, opened.request = c.waiting.NewMember(opened.closeAtOnce), c.requests.NewMember(opened.closeAtOnce)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = opened
	ctx = limit.WithCurrent(stream.WithConnection(ctx, conn), &opened.last)
	return context.WithValue(ctx, connectionKey{}, opened)
}

// observe is the ConnState of a server.
func (c *connections) observe(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	opened := c.open[conn]
	if state == http.StateClosed || state == http.StateHijacked {
		delete(c.open, conn)
	}
	c.mu.Unlock()

	opened.waiting.Remove()
	opened.request.Remove()
	switch {
	case state == http.StateNew || state == http.StateIdle:
		opened.occupy(opened.waiting, opened.holder())
	case state == http.StateActive && !isHTTP2(conn):
		opened.last.Store(nil)
		opened.occupy(opened.request, opened.peer)
	}
}

// occupy takes one of the places of the connection.
func (c *connection) occupy(place *limit.Member, holder limit.Holder) {
	if err := place.Add(holder, 1); err != nil {
		c.closeAtOnce()
	}
}

// holder is who made the last request, as far as it is known.
func (c *connection) holder() limit.Holder {
	if last := c.last.Load(); last != nil {
		return last.Holder()
	}
	return c.peer
}

// closeAtOnce closes the connection without the last message of TLS: the peer may not read
// it, and the server waits for us before it accepts another connection.
func (c *connection) closeAtOnce() {
	if secure, ok := c.Conn.(*tls.Conn); ok {
		secure.NetConn().Close()
		return
	}
	c.Conn.Close()
}

// track lets the handler reach the limits of its request: see limit.RequestOf. Requests of
// HTTP/2 share their connections, and are counted here.
func (c *connections) track(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := r.Context().Value(connectionKey{}).(*connection)
		request := limit.Track(w, conn.peer)
		defer request.Done()
		conn.last.Store(request)

		if r.ProtoMajor != 2 {
			request.Place = conn.request
			h.ServeHTTP(w, r)
			return
		}

		place, err := c.requests.Add(conn.peer, 1, request.CutOff)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer place.Remove()
		request.Place = place

		var current atomic.Pointer[limit.Request]
		current.Store(request)
		h.ServeHTTP(w, r.WithContext(limit.WithCurrent(r.Context(), &current)))
	})
}

// isHTTP2 reports whether a connection with a request is one of HTTP/2.
func isHTTP2(conn net.Conn) bool {
	secure, ok := conn.(*tls.Conn)
	return ok && secure.ConnectionState().NegotiatedProtocol == "h2"
}
