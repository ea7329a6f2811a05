// Package guard makes HTTP requests to URLs that customers gave us: webhook
// endpoints, media links, template headers. It prevents server-side request
// forgery: only public addresses are reached, unless the options allow others.
//
// A request is checked three times.
//
//   - CheckURL, before a URL is stored, refuses what can be seen then: a scheme,
//     a port, an address, a name that leads to an internal address.
//   - policyTransport checks the URL again before each request and each redirect,
//     without a DNS query.
//   - policy.checkDial checks the address that the connection is made to, after
//     the DNS lookup. This check is the one that counts: a name that resolves to
//     another address a moment later (DNS rebinding) does not pass it.
//
// Every request carries Header, also after a redirect: a service that must not be reached by a URL
// that a customer chose, and trusts its callers for being on this machine, refuses such
// requests (IsFetch). An address does not show that: names, redirects and proxies hide which
// server is asked in the end, but all of them pass the header on.
//
// Errors say in which stage a request failed (Reason), but never show an internal
// address to the customer.
package guard

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Header marks the requests of a Client. It is no secret: who knows it can only be refused.
const Header = "X-Svc-Fetch"

// IsFetch reports whether a request comes from a Client, of this process or another.
func IsFetch(r *http.Request) bool { return r.Header.Get(Header) != "" }

const (
	// MaxRedirects is the upper limit of Options.Redirects.
	MaxRedirects = 3

	connectTimeout = 3 * time.Second
	totalTimeout   = 10 * time.Second
	lookupTimeout  = time.Second
	headerLimit    = 16 << 10
)

// Options says what a client may reach and for how long it may try.
type Options struct {
	// Allow admits addresses that are not public, as security.allow_cidrs.
	Allow []netip.Prefix
	// AllowInsecure admits http beside https.
	AllowInsecure bool
	// AllowLocal admits http to this machine, by name or address.
	AllowLocal bool
	// Redirects is how many are followed, at most MaxRedirects; with 0 one is the answer.
	Redirects int
	// Timeout is for the whole exchange with its body; 10 s when 0.
	Timeout time.Duration
	// ConnectTimeout is for lookup and connection, and again for TLS; 3 s when 0.
	ConnectTimeout time.Duration
	// Resolver looks names up; the system's when nil.
	Resolver *net.Resolver
	// RootCAs are the trusted authorities; the system's when nil.
	RootCAs *x509.CertPool
}

// Client is an HTTP client for untrusted URLs. It is safe for concurrent use.
type Client struct {
	http     *http.Client
	base     *http.Transport
	resolver *net.Resolver
	policy   policy
}

// New makes a client. Proxies named in the environment are never used: they
// would connect on our behalf to addresses that we cannot check.
func New(o Options) *Client {
	c := &Client{resolver: cmp.Or(o.Resolver, net.DefaultResolver), policy: newPolicy(o)}
	connecting := cmp.Or(o.ConnectTimeout, connectTimeout)
	c.base = newTransport(&dialer{
		net:              net.Dialer{Timeout: connecting, Resolver: c.resolver, Control: c.policy.checkDial},
		tls:              &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs, NextProtos: []string{"h2", "http/1.1"}},
		handshakeTimeout: connecting,
	})

	c.http = &http.Client{
		Transport:     &policyTransport{policy: c.policy, next: c.base},
		Timeout:       cmp.Or(o.Timeout, totalTimeout),
		CheckRedirect: limitRedirects(min(o.Redirects, MaxRedirects)),
	}
	return c
}

// newTransport keeps many idle connections to one host, because deliveries to an
// endpoint come in bursts. It asks for no compression, because a small answer
// could decompress to a very large one.
func newTransport(d *dialer) *http.Transport {
	return &http.Transport{
		DialContext:            d.dial,
		DialTLSContext:         d.dialTLS,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: headerLimit,
	}
}

// limitRedirects follows at most limit redirects. The transport checks each new URL.
func limitRedirects(limit int) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		if limit <= 0 {
			return http.ErrUseLastResponse
		}
		if len(via) > limit {
			return ErrTooManyRedirects
		}
		req.Header.Del("Referer") // a signed link is a secret of the host that made it
		return nil
	}
}

// Do sends a request as http.Client.Do does. Use Reason to learn from the error
// what went wrong, and read no more of the answer than it is worth: it may be endless.
func (c *Client) Do(req *http.Request) (*http.Response, error) { return c.http.Do(req) }

// Get requests a URL.
func (c *Client) Get(ctx context.Context, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, &failure{reason: AddressBlocked, err: ErrURL}
	}
	return c.Do(req)
}

// Transport makes single requests with the same checks as Do, for a caller with
// its own time limits. It does not follow redirects.
func (c *Client) Transport() http.RoundTripper { return c.http.Transport }

// Close closes connections that are not in use.
func (c *Client) Close() { c.base.CloseIdleConnections() }

// policyTransport refuses a URL before anything is sent, also after a redirect, and marks requests.
type policyTransport struct {
	policy policy
	next   http.RoundTripper
}

func (t *policyTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.policy.checkURL(req.URL); err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, &failure{reason: AddressBlocked, err: err}
	}

	marked := req.Clone(req.Context())
	marked.Header.Set(Header, "1")
	return t.next.RoundTrip(marked)
}

// ParseURL reads a URL and checks its scheme, host and port. It refuses
// credentials, and an IP address that may not be reached. It makes no DNS query.
// The error is ErrURL or a *BlockedError.
func (c *Client) ParseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: cannot be read", ErrURL) // url.Error would repeat a password
	}

	if err := c.policy.checkURL(u); err != nil {
		return nil, err
	}
	return u, nil
}

// CheckURL does what ParseURL does, then looks the name up for at most a second
// and refuses it if any of its addresses may not be reached. A name without an
// address is accepted: it may have one later, and every connection is checked
// again.
func (c *Client) CheckURL(ctx context.Context, raw string) error {
	u, err := c.ParseURL(raw)
	if err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := c.resolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil
	}

	for _, addr := range addrs {
		if err := c.policy.checkAddr(addr); err != nil {
			return err
		}
	}
	return nil
}

// dialer makes connections that the policy allows. It records in which stage a
// connection failed, because the types of the errors of package tls do not show
// that.
type dialer struct {
	net              net.Dialer // its Control is policy.checkDial
	tls              *tls.Config
	handshakeTimeout time.Duration
}

func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.net.DialContext(ctx, network, addr)
	if err != nil {
		return nil, dialFailure(err)
	}
	return conn, nil
}

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
		return nil, failureOf(TLSFailure, err)
	}
	return secure, nil
}
