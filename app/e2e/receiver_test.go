package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	stripe "github.com/stripe/stripe-go/v82/webhook"

	"confab/app/config"
	"confab/jobs/webhook"
)

// hooked is a delivery as a receiver had it.
type hooked struct {
	at     time.Time
	header http.Header
	body   []byte
}

// receiver is an endpoint of somebody who wants events.
type receiver struct {
	t      testing.TB
	URL    string
	answer func(w http.ResponseWriter, r *http.Request) // after the body was read; nil for 200
	came   chan hooked

	mu  sync.Mutex
	had []hooked
}

func newReceiver(t testing.TB, answer func(http.ResponseWriter, *http.Request)) *receiver {
	t.Helper()
	r := &receiver{t: t, answer: answer, came: make(chan hooked, 100_000)}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the server was killed while it sent
	}
	h := hooked{time.Now(), req.Header, body}
	r.mu.Lock()
	r.had = append(r.had, h)
	r.mu.Unlock()
	r.came <- h
	if r.answer != nil {
		r.answer(w, req)
	}
}

// all lists what came so far.
func (r *receiver) all() []hooked {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]hooked(nil), r.had...)
}

// next waits for the next delivery.
func (r *receiver) next() hooked {
	r.t.Helper()
	select {
	case h := <-r.came:
		return h
	case <-time.After(patience):
		r.t.Fatal("no delivery came")
		return hooked{}
	}
}

// verify checks a delivery with each secret as receivers do: with our own code,
// and with a library that has never heard of us.
func (h hooked) verify(is *is.I, secrets ...string) {
	is.Helper()
	for _, secret := range secrets {
		for _, name := range []string{"X-Svc-Signature", "X-Svc-Signature-256"} {
			is.NoErr(webhook.Verify(h.header.Get(name), h.body, h.at, secret))
			is.NoErr(stripe.ValidatePayload(h.body, h.header.Get(name), secret))
			is.Equal(stripe.ValidatePayload(append(h.body[:len(h.body):len(h.body)], ' '), h.header.Get(name), secret), stripe.ErrNoValidSignature)
		}
	}
}

// reachable lets deliveries go to this machine.
func reachable(c *config.Config) {
	c.Security.AllowInsecureURLs = true
	c.Security.AllowCIDRs = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}
