package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

func TestAClientNeedsAUsableBaseURL(t *testing.T) {
	for _, base := range []string{"", "graph.facebook.com", "ftp://graph.facebook.com", "https://", "https://a:b@graph.facebook.com", "https://graph.facebook.com?x=1", "https://\x7f"} {
		t.Run(base, func(t *testing.T) {
			is := is.New(t)
			_, err := New(Options{BaseURL: base})
			is.True(err != nil)
		})
	}
}

func TestTheVersionSegmentIsOptional(t *testing.T) {
	for version, path := range map[string]string{"v23.0": "/v23.0/1/messages", "/v24.0/": "/v24.0/1/messages", "": "/1/messages"} {
		t.Run(version, func(t *testing.T) {
			is := is.New(t)
			var got seen
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = record(r)
				io.WriteString(w, accepted)
			}))
			defer server.Close()
			c := dial(t, Options{BaseURL: server.URL + "/", Version: version})
			_, err := c.Send(t.Context(), token, "1", []byte(`{}`), nil)
			is.NoErr(err)
			is.Equal(got.Path, path)
			is.Equal(got.Query, "") // no secret, no proof
			is.Equal(got.Header.Get("User-Agent"), "confab")
			is.Equal(got.Header.Get("Accept-Encoding"), "") // no compression
		})
	}
}

func TestCallsCarryTheProofWhenTheSecretIsKnown(t *testing.T) {
	is := is.New(t)
	var got seen
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = record(r)
		io.WriteString(w, `{"id":"1"}`)
	}))
	defer server.Close()
	c := dial(t, Options{BaseURL: server.URL, AppSecret: "secret", UserAgent: "tester/1"})

	_, err := c.Number(t.Context(), NewToken("token"), "1")
	is.NoErr(err)
	// echo -n token | openssl dgst -sha256 -hmac secret
	is.True(strings.HasSuffix(got.Query, "&appsecret_proof=e941110e3d2bfe82621f0e3e1434730d7305d106c5f68c87165d0b27a4611a4a"))
	is.Equal(got.Header.Get("User-Agent"), "tester/1")
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var elsewhere int
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhere++
		io.WriteString(w, accepted)
	}))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			c := play(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, status) })
			_, err := c.Send(t.Context(), token, "1", []byte(`{}`), nil)
			failure(t, err, "upstream_error", true, Refused)
		})
	}
	is.New(t).Equal(elsewhere, 0)
}

func TestATokenThatCannotBeSentIsRefusedHere(t *testing.T) {
	c := through(t, func(*http.Request) (*http.Response, error) { panic("nothing may be sent") })
	for name, tok := range map[string]Token{"zero": {}, "empty": NewToken(""), "line break": NewToken("a\r\nb"), "accent": NewToken("é")} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Send(t.Context(), tok, "1", []byte(`{}`), nil)
			failure(t, err, "auth_expired", false, NotSent)
			is.New(t).Equal(ClassOf(err).Effect, Degraded)
		})
	}
}

func TestAnIDIsOnePathSegmentWhateverIsInIt(t *testing.T) {
	is := is.New(t)
	c, got := says(t, 200, accepted)
	_, err := c.Send(t.Context(), token, "../oauth?x#y", []byte(`{}`), nil)
	is.NoErr(err)
	is.Equal(got.Path, "/v23.0/..%2Foauth%3Fx%23y/messages")
	for _, id := range []string{"", ".", "..", strings.Repeat("1", 5000)} {
		_, err := c.Send(t.Context(), token, id, []byte(`{}`), nil)
		failure(t, err, "upstream_error", false, NotSent)
	}
}

func TestOutcomesOfBrokenConnections(t *testing.T) {
	dead := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for _, test := range []struct {
		name    string
		err     error
		outcome Outcome
	}{
		{"connection refused", dead, NotSent},
		{"wrapped refusal", fmt.Errorf("proxy: %w", dead), NotSent},
		{"no such name", &net.DNSError{Err: "no such host", Name: "provider.test"}, NotSent},
		{"reset while reading", &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, Unknown},
		{"closed early", io.ErrUnexpectedEOF, Unknown},
		{"anything else", errors.New("strange"), Unknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := through(t, func(*http.Request) (*http.Response, error) { return nil, test.err })
			_, err := c.Send(t.Context(), token, "1", []byte(`{}`), nil)
			failure(t, err, "upstream_error", true, test.outcome)
			is.New(t).True(errors.Is(err, test.err))
		})
	}
}

func TestOutcomesOnRealSockets(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, accepted) }))
	defer plain.Close()
	hangup := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	}))
	defer hangup.Close()
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, accepted)
		panic(http.ErrAbortHandler)
	}))
	defer cut.Close()

	for _, test := range []struct {
		name, base string
		outcome    Outcome
	}{
		{"nobody listens", "http://" + closed.Addr().String(), NotSent},
		{"the handshake fails", strings.Replace(plain.URL, "http:", "https:", 1), NotSent},
		{"hangs up after the request", hangup.URL, Unknown},
		{"hangs up within the answer", cut.URL, Unknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := dial(t, Options{BaseURL: test.base})
			_, err := c.Send(t.Context(), token, "1", []byte(`{}`), nil)
			failure(t, err, "upstream_error", true, test.outcome)
		})
	}
}

func TestACallThatIsNotAnsweredInTimeHasAnUnknownOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := through(t, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		start := time.Now()
		_, err := c.Send(t.Context(), token, "1", []byte(`{}`), nil)
		is.Equal(time.Since(start), callTimeout)
		is.True(errors.Is(err, context.DeadlineExceeded))
		failure(t, err, "upstream_error", true, Unknown)
	})
}

func TestACallThatNeverGetsAConnectionIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := newTransport()
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		transport.Proxy = nil
		c := dial(t, Options{BaseURL: "http://provider.test", Transport: transport})
		_, err := c.Send(t.Context(), token, "1", []byte(`{}`), nil)
		failure(t, err, "upstream_error", true, NotSent)
		synctest.Wait()
	})
}

func TestACallCancelledByTheCallerSaysSo(t *testing.T) {
	is := is.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := dial(t, Options{BaseURL: "http://127.0.0.1:9"})
	_, err := c.Send(ctx, token, "1", []byte(`{}`), nil)
	is.True(errors.Is(err, context.Canceled))
	failure(t, err, "upstream_error", true, NotSent)
}

func TestACallIsMadeOnceAndNeverRepeatedByTheTransport(t *testing.T) {
	is := is.New(t)
	var calls atomic.Int32
	c := play(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			io.WriteString(w, accepted)
			return
		}
		panic(http.ErrAbortHandler) // on a connection that has been used before
	})
	_, err := c.Send(t.Context(), token, "1", []byte(`{}`), nil)
	is.NoErr(err)
	_, err = c.Send(t.Context(), token, "1", []byte(`{}`), nil)
	failure(t, err, "upstream_error", true, Unknown)
	is.Equal(calls.Load(), int32(2))
}
