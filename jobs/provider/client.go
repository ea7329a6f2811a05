// Package provider is the client of the upstream messaging network, and the one
// place that knows its dialect: its calls, its JSON shapes, its error codes and
// the words for which we have others.
//
// It never invents success: an answer that it cannot read is a transient
// failure, and where a call may have taken effect its outcome is Unknown. It
// keeps tokens out of every error and log.
package provider

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	callTimeout   = 10 * time.Second
	stallTimeout  = 30 * time.Second
	transferLimit = 10 * time.Minute

	answerLimit = 1 << 20
	pageLimit   = 16 << 20
)

// Options configures a Client.
type Options struct {
	BaseURL   string // https://graph.facebook.com
	Version   string // v23.0; empty leaves the segment out
	AppID     string
	AppSecret string            // when set, calls carry appsecret_proof
	Timeout   time.Duration     // for one call; 10 s when 0. Transfers are bounded by their progress instead
	Transport http.RoundTripper // one tuned for this host when nil
	UserAgent string
}

// Client calls the provider. It is safe for concurrent use.
type Client struct {
	http    *http.Client
	base    *url.URL
	root    string // base and version, without a slash at the end
	appID   string
	secret  Token
	timeout time.Duration
	agent   string
}

// New makes a client.
func New(o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(o.BaseURL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.User != nil || base.RawQuery != "" {
		return nil, errors.New("provider: the base URL must be an http or https address without query")
	}
	c := &Client{
		base: base, root: base.String(),
		appID: o.AppID, secret: NewToken(o.AppSecret),
		timeout: o.Timeout, agent: o.UserAgent,
	}
	if v := strings.Trim(o.Version, "/"); v != "" {
		c.root += "/" + url.PathEscape(v)
	}
	if c.timeout <= 0 {
		c.timeout = callTimeout
	}
	if c.agent == "" {
		c.agent = "confab"
	}
	if o.Transport == nil {
		o.Transport = newTransport()
	}
	c.http = &http.Client{Transport: o.Transport, CheckRedirect: ignoreRedirect}
	return c, nil
}

// newTransport keeps enough connections for the whole send rate, and asks for
// no compression of answers of two hundred bytes.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout:    5 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// ignoreRedirect makes a redirect the answer: a token goes nowhere but where we sent it.
func ignoreRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close closes connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// do makes one call within the client's time limit.
func (c *Client) do(ctx context.Context, tok Token, rq call, out answer) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.exchange(ctx, tok, rq, out)
}

// exchange makes one call and reads its answer into out.
func (c *Client) exchange(ctx context.Context, tok Token, rq call, out answer) error {
	ctx, probe := traceWrites(ctx)
	req, err := c.request(ctx, tok, rq)
	if err != nil {
		return notSentError(rq.op, c.secretsOf(tok, rq).redactError(err))
	}
	if ctx.Err() != nil {
		return noAnswerError(rq.op, context.Cause(ctx), false)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return noAnswerError(rq.op, c.secretsOf(tok, rq).redactError(contextCause(ctx, err)), probe.maybeSent())
	}
	defer res.Body.Close()

	body, err := readBody(res, rq.limit)
	if err != nil && res.StatusCode < 300 {
		return unreadableError(rq.op, res.StatusCode, c.secretsOf(tok, rq).redactError(contextCause(ctx, err)))
	}
	if failed := parse(rq, res.StatusCode, body, out); failed != nil {
		failed.RetryAfter = requestedWait(res.Header, time.Now())
		failed.sanitize(c.secretsOf(tok, rq))
		return failed
	}
	return nil
}

// secretsOf are the secrets that a call's errors must not show.
func (c *Client) secretsOf(tok Token, rq call) secrets {
	return append(secrets{tok.Reveal(), c.secret.Reveal()}, rq.secrets...)
}

// contextCause prefers the reason why a call was given up over what the
// transport says about it.
func contextCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// writeTrace learns from the transport whether a request left us.
type writeTrace struct{ started, wrote atomic.Bool }

func traceWrites(ctx context.Context) (context.Context, *writeTrace) {
	p := new(writeTrace)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { p.started.Store(true) },
		WroteHeaders: func() { p.wrote.Store(true) },
	}), p
}

// maybeSent reports whether anything may have been written. A transport that does
// not trace proves nothing.
func (p *writeTrace) maybeSent() bool { return p.wrote.Load() || !p.started.Load() }

// proof ties a token to our app, so that a stolen one alone is of no use.
func (c *Client) proof(tok Token) string {
	mac := hmac.New(sha256.New, []byte(c.secret.Reveal()))
	mac.Write([]byte(tok.Reveal()))
	return hex.EncodeToString(mac.Sum(nil))
}

// appToken is the token of our app itself.
func (c *Client) appToken() (Token, error) {
	if c.appID == "" || c.secret.IsZero() {
		return Token{}, errNoApp
	}
	return NewToken(c.appID + "|" + c.secret.Reveal()), nil
}
