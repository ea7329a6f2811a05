package app

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// maxWaitingConnections is far more than clients and proxies keep open.
const maxWaitingConnections = 1000

// waitingConnections bounds the connections of a server that wait for a request: new
// ones, whose header is not complete, and those between two requests. Each takes
// memory, a long header that never ends the most, and strangers can open thousands.
//
// If there are too many, the one that has waited longest is closed. Thus nobody is
// turned away: whoever sends a request at once is answered, also while others only
// hold connections open. One whose request is being answered does not wait; it ends
// by itself, or by the server's time limits.
type waitingConnections struct {
	max int

	mu    sync.Mutex
	order *list.List // of net.Conn, the longest waiting first
	found map[net.Conn]*list.Element
}

func newWaitingConnections(max int) *waitingConnections {
	return &waitingConnections{max: max, order: list.New(), found: make(map[net.Conn]*list.Element)}
}

// observe is the ConnState of a server.
func (w *waitingConnections) observe(conn net.Conn, state http.ConnState) {
	waits := state == http.StateNew || state == http.StateIdle
	if longest := w.update(conn, waits); longest != nil {
		closeAtOnce(longest)
	}
}

// update notes whether a connection waits. It returns the one to be closed, nil for
// none.
func (w *waitingConnections) update(conn net.Conn, waits bool) (longest net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.remove(conn)
	if !waits {
		return nil
	}
	w.found[conn] = w.order.PushBack(conn)

	if w.order.Len() <= w.max {
		return nil
	}
	longest = w.order.Front().Value.(net.Conn)
	w.remove(longest)
	return longest
}

// remove forgets a connection, if it is known. mu is held.
func (w *waitingConnections) remove(conn net.Conn) {
	if e := w.found[conn]; e != nil {
		w.order.Remove(e)
		delete(w.found, conn)
	}
}

// closeAtOnce closes a connection without the farewell of TLS: the peer may not read
// it, and the server waits for us before it accepts another connection.
func closeAtOnce(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	conn.Close()
}
