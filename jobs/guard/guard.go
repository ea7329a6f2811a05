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
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"sync/atomic"
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
	dialer := &net.Dialer{Timeout: connecting, Resolver: c.resolver, Control: c.policy.checkDial}
	c.base = &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			return conn, dialFailure(err)
		},
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    connecting,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // a small answer could decompress to a very large one
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    256, // deliveries to an endpoint come in bursts
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: headerLimit,
	}

	c.http = &http.Client{
		Transport:     &policyTransport{policy: c.policy, next: c.base},
		Timeout:       cmp.Or(o.Timeout, totalTimeout),
		CheckRedirect: limitRedirects(min(o.Redirects, MaxRedirects)),
	}
	return c
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

	// The types of the errors of package tls do not show that the handshake failed.
	var isInsecure atomic.Bool
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) { isInsecure.Store(err != nil) },
	})
	marked := req.Clone(ctx)
	marked.Header.Set(Header, "1")
	res, err := t.next.RoundTrip(marked)
	if err != nil && isInsecure.Load() {
		err = failureOf(TLSFailure, err)
	}
	return res, err
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
