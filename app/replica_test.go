package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"
)

// TestWhatWasUnderWayIsNotAcknowledgedAfterATakeover: the process was stopped while it was
// working on a request, and another server has taken over before it went on.
func TestWhatWasUnderWayIsNotAcknowledgedAfterATakeover(t *testing.T) {
	is := is.New(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	var superseded atomic.Bool
	fenced := fencedListener{listener, func(context.Context) error {
		if superseded.Load() {
			return errors.New("another server has taken over")
		}
		return nil
	}}
	server := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		superseded.Store(r.URL.Path == "/under-way")
		w.WriteHeader(http.StatusOK)
	}), slog.New(slog.DiscardHandler))
	go server.Serve(fenced)
	defer server.Close()

	res, err := http.Get("http://" + listener.Addr().String() + "/")
	is.NoErr(err)
	is.NoErr(res.Body.Close())
	is.Equal(res.StatusCode, http.StatusOK)
	_, err = http.Get("http://" + listener.Addr().String() + "/under-way")
	is.True(err != nil)
}
