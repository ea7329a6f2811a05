package cli

import (
	"log/slog"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/matryer/is"

	"confab/app/simulator"
)

// TestThePhoneOfASimulatorIsForThisMachine: another name that leads here opens neither the
// page nor what it calls, and where a token is demanded there is no page.
func TestThePhoneOfASimulatorIsForThisMachine(t *testing.T) {
	is := is.New(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	defer listener.Close()
	h, err := newSimulatorHost(listener, t.TempDir(), slog.New(slog.DiscardHandler), simulator.Options{})
	is.NoErr(err)
	defer h.Server.Close()

	status := func(target, host string) int {
		r, w := httptest.NewRequest("GET", target, nil), httptest.NewRecorder()
		r.Host = host
		h.http.Handler.ServeHTTP(w, r)
		return w.Code
	}
	is.True(status("/_phone/", "localhost") >= 400) // it is the provider's, who knows of no such object
	h.offerPhone()
	for _, path := range []string{"/_phone/", "/_phone/phone/15550001111", "/_phone/api/sim/people"} {
		is.Equal(status(path, listener.Addr().String()), 200)
		is.Equal(status(path, "localhost:8081"), 200)
		is.Equal(status(path, "evil.test"), 403)
		is.Equal(status(path, "127.0.0.1.evil.test"), 403)
	}
}
