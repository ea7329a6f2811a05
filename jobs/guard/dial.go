package guard

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// dialer connects where the policy allows it and names the stage that failed,
// because the errors of package tls cannot be told from others by their types.
type dialer struct {
	net              net.Dialer
	tls              *tls.Config
	handshakeTimeout time.Duration
}

// dial connects for http.
func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.net.DialContext(ctx, network, addr)
	if err != nil {
		return nil, dialFailure(err)
	}
	return conn, nil
}

// dialTLS connects for https.
func (d *dialer) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		conn.Close()
		return nil, &failure{reason: TLSFailure, err: err}
	}

	config := d.tls.Clone()
	config.ServerName = host
	secure := tls.Client(conn, config)
	ctx, cancel := context.WithTimeout(ctx, d.handshakeTimeout)
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, tlsFailure(err)
	}
	return secure, nil
}
