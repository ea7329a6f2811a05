package app

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"

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
//   - Requests that are being answered. Whoever does not send the body that it announced,
//     or does not take its answer, holds one until the server's time limits end it. That
//     the request was refused long ago makes no difference: the server waits for the rest
//     of the body all the same.
//
// Streams are not counted. They last, and have bounds of their own.
type connections struct{ waiting, busy *crowd }

func newConnections() *connections {
	return &connections{waiting: newCrowd(maxWaitingConnections), busy: newCrowd(maxBusyRequests)}
}

// observe is the ConnState of a server. A connection has one request at a time, unless it
// is of HTTP/2: see track.
func (c *connections) observe(conn net.Conn, state http.ConnState) {
	end := func() { closeAtOnce(conn) }

	switch {
	case state == http.StateNew || state == http.StateIdle:
		c.busy.leave(conn)
		c.waiting.enter(conn, end)
	case state == http.StateActive && !isHTTP2(conn):
		c.waiting.leave(conn)
		c.busy.enter(conn, end)
	default:
		c.waiting.leave(conn)
		c.busy.leave(conn)
	}
}

// withConnection is the ConnContext of a server.
func (c *connections) withConnection(ctx context.Context, conn net.Conn) context.Context {
	return stream.OnBegin(stream.WithConnection(ctx, conn), func() { c.busy.leave(conn) })
}

// track counts the requests of HTTP/2, which share their connections.
func (c *connections) track(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			h.ServeHTTP(w, r)
			return
		}

		request := &sharingRequest{control: http.NewResponseController(w)}
		c.busy.enter(request, request.cutOff)
		defer func() {
			c.busy.leave(request)
			request.finish()
		}()
		h.ServeHTTP(w, r.WithContext(stream.OnBegin(r.Context(), func() { c.busy.leave(request) })))
	})
}

// sharingRequest is a request that shares its connection with others.
type sharingRequest struct {
	mu      sync.Mutex
	control *http.ResponseController // nil when the request is done: then it must not be used
}

// cutOff ends the request, and leaves the others alone.
func (s *sharingRequest) cutOff() {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.control != nil {
		past := time.Unix(1, 0)
		_ = s.control.SetReadDeadline(past) // they fail only if the client is gone
		_ = s.control.SetWriteDeadline(past)
	}
}

func (s *sharingRequest) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.control = nil
}

// isHTTP2 tells whether a connection with a request is one of HTTP/2.
func isHTTP2(conn net.Conn) bool {
	secure, ok := conn.(*tls.Conn)
	return ok && secure.ConnectionState().NegotiatedProtocol == "h2"
}

// closeAtOnce closes a connection without the farewell of TLS: the peer may not read
// it, and the server waits for us before it accepts another connection.
func closeAtOnce(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	conn.Close()
}
