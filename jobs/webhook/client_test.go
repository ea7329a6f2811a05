package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/matryer/is"
	"github.com/stripe/stripe-go/v82/webhook"
	"go.uber.org/goleak"

	"confab/jobs/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// open makes a client, by default one that may reach this machine.
func open(t *testing.T, o guard.Options) *Client {
	t.Helper()
	network := guard.New(o)
	t.Cleanup(network.Close)
	return &Client{Transport: network.Transport()}
}

// here reaches this machine over http.
func here(t *testing.T) *Client {
	return open(t, guard.Options{Allow: loopback, AllowInsecure: true})
}

// serve starts an endpoint.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// hang answers nothing until the caller has gone, which is noticed only by a
// server that has read the request.
func hang(_ http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// sample is a delivery to an address.
func sample(t *testing.T, to string) Delivery {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	return Delivery{
		ID: "wbd_01", Attempt: 3, Event: "evt_01", EventID: "wamid.1", Type: "message.received", Source: "provider",
		Body: []byte(`{"object":"chat_business_account","text":"<&>é"}`), URL: u, Secrets: []string{secret, newer},
		Headers: map[string]string{"X-Tenant": "acme", "authorization": "Bearer theirs"},
	}
}

// received is a request as an endpoint had it.
type received struct {
	method, proto, host string
	header              http.Header
	body                []byte
}

// recorder answers 200 and hands on what it got.
func recorder(t *testing.T) (http.HandlerFunc, <-chan received) {
	had := make(chan received, 100)
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		had <- received{r.Method, r.Proto, r.Host, r.Header, body}
		io.WriteString(w, "thanks")
	}, had
}

func TestADeliveryCarriesEveryHeaderAndTheExactBytes(t *testing.T) {
	is := is.New(t)
	handler, had := recorder(t)
	d := sample(t, serve(t, handler)+"/hook?x=1")
	out := here(t).Deliver(t.Context(), d)
	is.True(out.Succeeded())
	is.Equal(out.Status, 200)
	is.Equal(out.Snippet, "thanks")
	is.True(out.Took > 0)

	got := <-had
	is.Equal(got.method, "POST")
	is.Equal(got.host, d.URL.Host)
	is.Equal(got.body, d.Body)
	stamp := strconv.FormatInt(out.At.Unix(), 10)
	want := map[string]string{
		"User-Agent": "Svc-Webhook/1.0", "Content-Type": "application/json", "Content-Length": strconv.Itoa(len(d.Body)),
		"X-Svc-Source": "provider", "X-Svc-Event": "message.received", "X-Svc-Event-Id": "wamid.1", "X-Svc-Delivery-Id": "wbd_01", "X-Svc-Attempt": "3",
		"X-Svc-Signature": Sign(out.At, d.Body, secret, newer), "X-Svc-Signature-256": Sign(out.At, d.Body, secret, newer),
		"Webhook-Id": "evt_01", "Webhook-Timestamp": stamp, "Webhook-Signature": SignStandard("evt_01", out.At, d.Body, secret, newer),
		"X-Tenant": "acme", "Authorization": "Bearer theirs", guard.Header: "1",
	}
	for name, value := range want {
		is.Equal(got.header.Values(name), []string{value}) // exactly once
	}
	is.Equal(len(got.header), len(want)) // and nothing else: no Accept-Encoding, no Idempotency-Key
}

func TestCustomHeadersNeverReplaceOurs(t *testing.T) {
	is := is.New(t)
	handler, had := recorder(t)
	d := sample(t, serve(t, handler))
	d.Headers = map[string]string{"x-svc-signature": "forged", "webhook-id": "forged", "user-agent": "forged"}
	is.True(here(t).Deliver(t.Context(), d).Succeeded())
	got := <-had
	is.True(got.header.Get("X-Svc-Signature") != "forged")
	is.Equal(got.header.Get("Webhook-Id"), "evt_01")
	is.Equal(got.header.Get("User-Agent"), userAgent)
}

func TestAnIdempotencyKeyOfTheSubscriptionsOwnIsSent(t *testing.T) {
	is := is.New(t)
	handler, had := recorder(t)
	d := sample(t, serve(t, handler))
	d.Headers = map[string]string{"idempotency-key": "theirs"}
	is.True(here(t).Deliver(t.Context(), d).Succeeded())
	got := <-had
	is.Equal(got.header.Get("Idempotency-Key"), "theirs")
}

func TestStripesVerifierAcceptsEveryDeliveryAndRefusesTamperedOnes(t *testing.T) {
	is := is.New(t)
	handler, had := recorder(t)
	d, client := sample(t, serve(t, handler)), here(t)
	const tolerance = 300 * time.Second
	for _, rotation := range []struct {
		signs, knows, refuses []string
	}{
		{[]string{secret}, []string{secret}, []string{newer}},
		{[]string{secret, newer}, []string{secret, newer}, []string{"whsec_other"}}, // while one replaces the other
		{[]string{newer}, []string{newer}, []string{secret}},
	} {
		d.Secrets = rotation.signs
		is.True(client.Deliver(t.Context(), d).Succeeded())
		got := <-had
		for _, name := range []string{"X-Svc-Signature", "X-Svc-Signature-256"} {
			header := got.header.Get(name)
			for _, s := range rotation.knows {
				is.NoErr(webhook.ValidatePayloadWithTolerance(got.body, header, s, tolerance))
				is.Equal(webhook.ValidatePayloadWithTolerance(append(got.body, ' '), header, s, tolerance), webhook.ErrNoValidSignature)
				is.Equal(webhook.ValidatePayloadWithTolerance(got.body, "t=1,"+header[strings.Index(header, "v1="):], s, tolerance), webhook.ErrTooOld)
			}
			for _, s := range rotation.refuses {
				is.Equal(webhook.ValidatePayloadWithTolerance(got.body, header, s, tolerance), webhook.ErrNoValidSignature)
			}
		}
	}
}

func TestTheAnswerDecides(t *testing.T) {
	for _, test := range []struct {
		status        int
		code, message string
	}{
		{200, "", ""}, {201, "", ""}, {204, "", ""}, {299, "", ""},
		{301, HTTPError, "the endpoint answered 301 Moved Permanently"},
		{307, HTTPError, "the endpoint answered 307 Temporary Redirect"},
		{400, HTTPError, "the endpoint answered 400 Bad Request"},
		{410, HTTPError, "the endpoint answered 410 Gone"},
		{500, HTTPError, "the endpoint answered 500 Internal Server Error"},
		{599, HTTPError, "the endpoint answered 599"},
	} {
		t.Run(strconv.Itoa(test.status), func(t *testing.T) {
			is := is.New(t)
			var calls atomic.Int64
			var to string
			to = serve(t, func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				w.Header().Set("Location", to+"/elsewhere")
				w.WriteHeader(test.status)
			})
			out := here(t).Deliver(t.Context(), sample(t, to))
			is.Equal(out.Status, test.status)
			is.Equal(out.Code, test.code)
			is.Equal(out.Message, test.message)
			is.Equal(out.Succeeded(), test.code == "")
			is.Equal(calls.Load(), int64(1)) // a redirect is not followed
		})
	}
}

func TestRetryAfterIsReadWhereItMeansSomething(t *testing.T) {
	for _, test := range []struct {
		status int
		value  string
		least  time.Duration
		most   time.Duration
	}{
		{429, "120", 2 * time.Minute, 2 * time.Minute},
		{503, "0", 0, 0},
		{503, "-5", 0, 0},
		{503, "soon", 0, 0},
		{503, "", 0, 0},
		{503, time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), 59 * time.Minute, time.Hour},
		{503, time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat), 0, 0},
		{429, "99999999999999999999", 24 * time.Hour, math.MaxInt64},
		{500, "120", 0, 0},
		{200, "120", 0, 0},
	} {
		t.Run(fmt.Sprint(test.status, " ", test.value), func(t *testing.T) {
			is := is.New(t)
			out := here(t).Deliver(t.Context(), sample(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", test.value)
				w.WriteHeader(test.status)
			})))
			is.True(out.RetryAfter >= test.least && out.RetryAfter <= test.most)
		})
	}
}

func TestTheSnippetIsTheBeginningAsValidText(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"empty":            {"", ""},
		"short":            {"no such tenant", "no such tenant"},
		"as long as kept":  {strings.Repeat("x", 1024), strings.Repeat("x", 1024)},
		"longer":           {strings.Repeat("x", 1025), strings.Repeat("x", 1024)},
		"cut in a letter":  {strings.Repeat("x", 1023) + "é", strings.Repeat("x", 1023)},
		"not text":         {"a\xff\xfeb", "a\uFFFDb"},
		"nothing but junk": {strings.Repeat("\xffa", 1024), strings.Repeat("\uFFFDa", 257)[:1024]},
		"far too long":     {strings.Repeat("y", 1<<20), strings.Repeat("y", 1024)},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			out := here(t).Deliver(t.Context(), sample(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(500)
				io.WriteString(w, test.body)
			})))
			is.Equal(out.Status, 500)
			is.True(utf8.ValidString(out.Snippet) && len(out.Snippet) <= 1024)
			is.Equal(out.Snippet, test.want)
		})
	}
}

// Of a long answer only the beginning is in memory: thousands may come at once, and slowly.
func TestALongAnswerIsNotHeld(t *testing.T) {
	is := is.New(t)
	answer := strings.Repeat("a", 2*answerLimit)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		rest := strings.NewReader(answer)
		is.Equal(len(readSnippet(struct{ io.Reader }{rest})), snippetLimit)
		is.Equal(rest.Len(), answerLimit-1) // the byte after the limit shows that there is more
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 100; each > answerLimit/4 {
		t.Errorf("an answer takes %d bytes", each)
	}
}

// An endpoint that says 200 and then never ends its answer has taken the event.
func TestAnEndlessAnswerIsCutOffAndStillCounts(t *testing.T) {
	is := is.New(t)
	client := here(t)
	out := client.Deliver(t.Context(), sample(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	})))
	is.True(out.Succeeded())

	hanging := sample(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "so far")
		w.(http.Flusher).Flush()
		hang(w, r)
	}))
	for client.Timeout = 50 * time.Millisecond; client.Timeout < 10*time.Second; client.Timeout *= 2 { // until it is enough for a busy machine to begin
		if out = client.Deliver(t.Context(), hanging); out.Succeeded() {
			break
		}
	}
	is.True(out.Succeeded())
	is.Equal(out.Snippet, "so far")
}

func TestConnectionsAreKeptAlive(t *testing.T) {
	is := is.New(t)
	var peers []string
	to := serve(t, func(w http.ResponseWriter, r *http.Request) {
		peers = append(peers, r.RemoteAddr)
		w.WriteHeader([]int{200, 500, 200, 302}[len(peers)-1])
		io.WriteString(w, strings.Repeat("z", 30_000)) // read to its end, although little is kept
	})
	client := here(t)
	for range 4 {
		client.Deliver(t.Context(), sample(t, to))
	}
	is.Equal(len(peers), 4)
	is.Equal(len(slices.Compact(peers)), 1)
}

// An endpoint closes idle connections after a while, and we learn of it only
// when we use one: that is no failure of the delivery.
func TestAConnectionThatWasHungUpMeanwhileIsReplaced(t *testing.T) {
	is := is.New(t)
	var calls atomic.Int64
	to := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 2 { // the second one on the same connection
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.Close()
		}
	})
	client := here(t)
	is.True(client.Deliver(t.Context(), sample(t, to)).Succeeded())
	is.True(client.Deliver(t.Context(), sample(t, to)).Succeeded())
	is.Equal(calls.Load(), int64(3))
}

func TestHTTP2IsSpokenWhereTheEndpointDoes(t *testing.T) {
	is := is.New(t)
	handler, had := recorder(t)
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	client := open(t, guard.Options{Allow: loopback, RootCAs: roots})
	d := sample(t, server.URL)
	is.True(client.Deliver(t.Context(), d).Succeeded())
	got := <-had
	is.Equal(got.proto, "HTTP/2.0")
	is.Equal(got.body, d.Body)
	is.NoErr(Verify(got.header.Get("X-Svc-Signature"), got.body, time.Now(), secret))
	var any map[string]any
	is.NoErr(json.Unmarshal(got.body, &any))
}

// closedAddress is one that nothing listens on.
func closedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestACancelledAttemptEndsAtOnce(t *testing.T) {
	is := is.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	out := here(t).Deliver(ctx, sample(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		hang(w, r)
	})))
	is.True(!out.Succeeded())
	is.True(out.Took < defaultTimeout)
}
