// Package provider is the client of the upstream messaging network, and the one
// place that knows its dialect: its calls, its JSON shapes, its error codes and
// the words for which we have others.
//
// Every call goes the same way. A method of Client builds a call (call.go), do
// sends it within the time limit (client.go), parse reads the answer
// (answer.go), and anything that goes wrong becomes an *Error (errors.go). A call is
// never repeated here: the caller decides that, by two things in the error.
//
//   - Class (codes.go): our error code, whether the same call may succeed later,
//     and what the code means for the account or the contact.
//   - Outcome: whether the call took effect. Refused means that the provider said
//     no, NotSent that it cannot have seen the call, Unknown that it may have
//     acted on it.
//
// An answer that cannot be read is never a success: it is a transient failure,
// and Unknown where the call may have taken effect.
//
// Callbacks come the other way: ParseCallback (callback.go) splits one into
// changes, Read decodes their values (callback_types.go, message_types.go), and
// WithOneItem writes a part of the callback again in our own words (dialect.go).
//
// Tokens and secrets stay out of every error and log: Token hides itself, and
// the texts of errors are redacted, because the provider repeats malformed
// tokens in its explanations.
package provider

import (
	"cmp"
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

	"confab/jobs/timeout"
)

const (
	callTimeout   = 10 * time.Second // for a whole call, unless Options say otherwise
	stallTimeout  = 30 * time.Second // for a transfer of a file without progress
	transferLimit = 2 * time.Hour    // for the whole transfer of a file

	answerLimit = 1 << 20  // bytes of an answer
	pageLimit   = 16 << 20 // bytes of one page of a list
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
	if err != nil || base.Scheme != "https" && base.Scheme != "http" ||
		base.Host == "" || base.User != nil || base.RawQuery != "" {
		return nil, errors.New("provider: the base URL must be an http or https address without query")
	}

	c := &Client{
		base:    base,
		root:    base.String(),
		appID:   o.AppID,
		secret:  NewToken(o.AppSecret),
		timeout: cmp.Or(o.Timeout, callTimeout),
		agent:   cmp.Or(o.UserAgent, "confab"),
	}
	if v := strings.Trim(o.Version, "/"); v != "" {
		c.root += "/" + url.PathEscape(v)
	}

	if o.Transport == nil {
		o.Transport = newTransport()
	}
	c.http = &http.Client{
		Transport: o.Transport,
		// A redirect is the answer: somebody else chose the address, and it must not get the token.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// newTransport keeps enough idle connections for the full send rate. It asks for
// no compression, because most answers have about two hundred bytes.
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

// Close closes connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// do makes one call within the client's time limit.
func (c *Client) do(ctx context.Context, tok Token, rq call, out answer) error {
	ctx, cancel := timeout.Context(ctx, c.timeout, context.DeadlineExceeded)
	defer cancel()
	return c.exchange(ctx, tok, rq, out)
}

// order makes a call whose answer only says whether it was done.
func (c *Client) order(ctx context.Context, tok Token, rq call) error {
	var a struct {
		envelope
		Success *bool `json:"success"`
	}
	rq.check = func() error {
		if a.Success != nil && !*a.Success {
			return errNoSuccess
		}
		return requireKey("success", a.Success != nil)
	}
	return c.do(ctx, tok, rq, &a)
}

// exchange makes one call and reads its answer into out.
func (c *Client) exchange(ctx context.Context, tok Token, rq call, out answer) error {
	// Whether the request was written decides between the outcomes NotSent and Unknown after an error.
	var started, wrote atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { started.Store(true) },
		WroteHeaders: func() { wrote.Store(true) },
	})

	hidden := c.secretsOf(tok, rq)
	req, err := c.request(ctx, tok, rq)
	if err != nil {
		return notSentError(rq.op, hidden.redactError(err))
	}
	if ctx.Err() != nil {
		return noAnswerError(rq.op, context.Cause(ctx), false)
	}

	res, err := c.http.Do(req)
	if err != nil {
		// A transport that never reported a connection does not trace, and so proves nothing.
		sent := wrote.Load() || !started.Load()
		return noAnswerError(rq.op, hidden.redactError(contextCause(ctx, err)), sent)
	}
	defer res.Body.Close()

	// A refusal whose body breaks off is still a refusal; a success is not.
	body, err := readBody(res, rq.limit)
	if err != nil && res.StatusCode < 300 {
		return unreadableError(rq.op, res.StatusCode, hidden.redactError(contextCause(ctx, err)))
	}

	if err == nil && rq.keep != nil {
		*rq.keep = Answer{res.StatusCode, res.Header.Get("Content-Type"), []byte(hidden.redact(string(body)))}
	}

	if failed := parse(rq, res.StatusCode, body, out); failed != nil {
		failed.RetryAfter = requestedWait(res.Header, time.Now())
		failed.Answer = truncate(hidden.redact(strings.ToValidUTF8(string(body), "\uFFFD")))
		failed.sanitize(hidden)
		return failed
	}
	return nil
}

// secretsOf are the secrets that a call's errors must not show.
func (c *Client) secretsOf(tok Token, rq call) secrets {
	return append(secrets{tok.Reveal(), c.secret.Reveal()}, rq.secrets...)
}

// contextCause returns why the context ended, if it did, and else err: the
// transport only says that the call was cancelled.
func contextCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// proof is the appsecret_proof of a token. It shows that the caller knows the
// app's secret too, so that a stolen token alone is of no use.
func (c *Client) proof(tok Token) string {
	mac := hmac.New(sha256.New, []byte(c.secret.Reveal()))
	mac.Write([]byte(tok.Reveal()))
	return hex.EncodeToString(mac.Sum(nil))
}

func (c *Client) appToken() (Token, error) {
	if c.appID == "" || c.secret.IsZero() {
		return Token{}, errNoApp
	}
	return NewToken(c.appID + "|" + c.secret.Reveal()), nil
}

// NewestVersion is the newest version of the provider's API that we know, and the one that is
// used unless the settings say otherwise.
const NewestVersion = "v26.0"

// VersionEnd returns when the provider ends a version of its API, as far as it has said so.
// The time is zero for one without an end; known is false for a version that we do not know.
func VersionEnd(version string) (end time.Time, known bool) {
	date, known := map[string]string{
		"v20.0": "2026-09-24", "v21.0": "2027-01-21", "v22.0": "2027-05-20",
		"v23.0": "2027-10-08", "v24.0": "2028-02-18", "v25.0": "2028-07-29",
		NewestVersion: "",
	}[version]
	end, _ = time.Parse(time.DateOnly, date) // "" is no date, and the time stays zero
	return end, known
}
