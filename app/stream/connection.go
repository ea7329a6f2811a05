package stream

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"syscall"
	"time"
)

type connectionKey struct{}

// WithConnection is the ConnContext of a server: it lets streams reach their connection.
func WithConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// limitSilence makes the system close a connection whose client has not confirmed for
// so long what it was sent. One that has vanished without a word would otherwise keep its
// place for a quarter of an hour: what little an idle stream writes never fills the
// buffers.
func limitSilence(r *http.Request, limit time.Duration) {
	conn, _ := r.Context().Value(connectionKey{}).(net.Conn)
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if socket, ok := conn.(syscall.Conn); ok {
		setUserTimeout(socket, limit)
	}
}
