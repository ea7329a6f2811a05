package webhook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"confab/jobs/guard"
	"confab/jobs/timeout"
)

const (
	userAgent = "Svc-Webhook/1.0"
	// answerLimit is how much of an answer is read; snippetLimit how much is kept.
	answerLimit  = 64 << 10
	snippetLimit = 1024
	// messageLimit bounds what others may add to an error message.
	messageLimit = 255

	defaultTimeout = 10 * time.Second
)

// Error codes of attempts. The others, of endpoints that gave no answer, are those
// of guard.Reason.
const (
	HTTPError = "http_error"        // an answer outside 2xx
	NoSecret  = "no_signing_secret" // no attempt was made: nothing goes out unsigned
)

// Client makes deliveries.
type Client struct {
	// Transport reaches the endpoint: that of a guard.Client, which connects
	// to public addresses only. It never follows a redirect.
	Transport http.RoundTripper
	// Timeout is for the whole exchange with its body; 10 s when 0.
	Timeout time.Duration
}

// Delivery is one event on its way to one endpoint.
type Delivery struct {
	ID      string // wbd_…
	Attempt int    // from 1
	Event   string // evt_…, the stored event
	EventID string // what X-Svc-Event-Id carries
	Type    string
	Source  string
	Body    []byte

	URL     *url.URL
	Headers map[string]string // what the subscription adds
	Secrets []string
	// Native says that the body is the provider's own, and is signed as the provider signs, too.
	Native bool
}

// Outcome is what came of an attempt.
type Outcome struct {
	At         time.Time
	Took       time.Duration
	Status     int    // of the answer; 0 without one
	Snippet    string // the beginning of the answer's body, valid UTF-8
	Code       string // why the attempt failed; "" for a success
	Message    string // the same for people
	RetryAfter time.Duration
}

// Succeeded reports whether the endpoint took the delivery.
func (o Outcome) Succeeded() bool { return o.Code == "" }

// TimeLimit is how long an attempt takes at most.
func (c *Client) TimeLimit() time.Duration { return cmp.Or(c.Timeout, defaultTimeout) }

// Deliver makes one attempt. A failure is reported in the outcome. Without a secret
// the attempt fails before it begins: a receiver must be able to rely on every
// delivery being signed.
func (c *Client) Deliver(ctx context.Context, d Delivery) Outcome {
	if len(d.Secrets) == 0 {
		return Outcome{At: time.Now(), Code: NoSecret, Message: "the subscription has no active signing secret: create one"}
	}

	limit := c.TimeLimit()
	ctx, cancel := timeout.Context(ctx, limit, context.DeadlineExceeded)
	defer cancel()

	out := Outcome{At: time.Now()}
	res, err := c.Transport.RoundTrip(d.request(ctx, out.At))
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		out.Took = time.Since(out.At)
		out.Code, out.Message = guard.Reason(err), explain(err, limit)
		return out
	}
	defer res.Body.Close()

	if res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable {
		out.RetryAfter = timeout.RetryAfter(res.Header.Get("Retry-After"), time.Now())
	}
	res.Header = nil // a slow body may take long, and thousands of attempts may be under way

	out.Snippet = readSnippet(res.Body)
	out.Took, out.Status = time.Since(out.At), res.StatusCode
	if res.StatusCode/100 != 2 {
		name := strings.TrimSpace(strconv.Itoa(res.StatusCode) + " " + http.StatusText(res.StatusCode))
		out.Code, out.Message = HTTPError, "the endpoint answered "+name
	}
	return out
}

// Header is what a delivery carries, signed at a time.
func (d Delivery) Header(at time.Time) http.Header {
	signature := Sign(at, d.Body, d.Secrets...)

	header := make(http.Header, 16+len(d.Headers))
	for name, value := range d.Headers {
		header.Set(name, value)
	}

	// Last, so that those of the subscription cannot replace ours; names are canonical.
	for _, h := range [...]struct{ name, value string }{
		{"User-Agent", userAgent},
		{"Content-Type", "application/json"},
		{"X-Svc-Source", d.Source},
		{"X-Svc-Event", d.Type},
		{"X-Svc-Event-Id", d.EventID},
		{"X-Svc-Delivery-Id", d.ID},
		{"X-Svc-Attempt", strconv.Itoa(d.Attempt)},
		{"X-Svc-Signature", signature},
		{"X-Svc-Signature-256", signature},
		{"Webhook-Id", d.Event},
		{"Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10)},
		{"Webhook-Signature", SignStandard(d.Event, at, d.Body, d.Secrets...)},
	} {
		if h.value != "" { // no Standard Webhooks signature is made with a secret that is none of ours
			header[h.name] = []string{h.value}
		}
	}
	if d.Native && len(d.Secrets) > 0 {
		header["X-Hub-Signature-256"] = []string{SignNative(d.Body, d.Secrets[0])}
	}
	return header
}

func (d Delivery) request(ctx context.Context, at time.Time) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(d.Body))
	if err != nil {
		panic(err) // the URL is put in its place here, which was parsed before
	}
	r.URL, r.Host, r.Header = d.URL, d.URL.Host, d.Header(at)

	// This header lets the transport repeat the request on another
	// connection when the endpoint has closed the one that was kept alive. With
	// nil it is not sent. A key that the subscription adds has the same effect.
	if _, own := r.Header["Idempotency-Key"]; !own {
		r.Header["Idempotency-Key"] = nil
	}
	return r
}

// explain says what went wrong in words that show nothing of our own network.
func explain(err error, limit time.Duration) string {
	switch guard.Reason(err) {
	case guard.Timeout:
		return fmt.Sprintf("the endpoint did not answer within %s", limit)
	case guard.ConnectionRefused:
		return "the endpoint refused the connection"
	case guard.DNSFailure:
		return "the endpoint's name could not be resolved"
	case guard.AddressBlocked:
		return "the endpoint's address is not public"
	case guard.TLSFailure:
		if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
			err = op.Err // without the addresses that package net puts before it
		}
		return cut("no secure connection: "+err.Error(), messageLimit)
	default:
		return "the connection to the endpoint broke"
	}
}

// readSnippet reads an answer as far as its connection is worth being kept for, and keeps
// only the beginning, as valid UTF-8. A 2xx says that the event was taken, even if its body cannot be read.
func readSnippet(answer io.Reader) string {
	beginning := make([]byte, snippetLimit+utf8.UTFMax)
	n, err := io.ReadFull(answer, beginning)
	if err == nil {
		_, _ = io.CopyN(io.Discard, answer, answerLimit-int64(n)+1)
	}
	return cut(strings.ToValidUTF8(string(beginning[:n]), "\uFFFD"), snippetLimit)
}

// cut shortens valid UTF-8 to at most limit bytes, never within a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
