package guard

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// dialer makes connections that the policy allows. It records in which stage a
// connection failed, because the types of the errors of package tls do not show
// that.
type dialer struct {
	net              net.Dialer // its Control is policy.checkDial
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

	// net/http sets no limit on the handshake of a DialTLSContext.
	ctx, cancel := context.WithTimeout(ctx, d.handshakeTimeout)
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, tlsFailure(err)
	}
	return secure, nil
}
