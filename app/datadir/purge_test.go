package datadir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

// TestAPurgeWaitsForAServerBetweenTimes has a command meet a server that has the
// directory already, but hangs up on it: one that is starting answers later, one
// that is stopping goes away, and the command does the work itself.
func TestAPurgeWaitsForAServerBetweenTimes(t *testing.T) {
	for name, want := range map[string]storage.PurgeCounts{"starting": {Messages: 1}, "stopping": {Calls: 1}} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			dir := Dir(t.TempDir())
			lock, err := dir.Lock()
			is.NoErr(err)
			defer lock.Close()
			half, err := net.Listen("unix", dir.File(socketFile))
			is.NoErr(err)

			var deleted storage.PurgeCounts
			ended := make(chan error, 1)
			report := func(p storage.PurgeCounts) { deleted = p }
			go func() {
				ended <- dir.Purge(context.Background(), storage.PurgeScope{Before: 1}, report, func(context.Context) error {
					report(storage.PurgeCounts{Calls: 1})
					return nil
				})
			}()
			conn, err := half.Accept()
			is.NoErr(err)
			conn.Close()
			half.Close()

			if name == "starting" {
				serve(t, dir, func(w http.ResponseWriter, r *http.Request) {
					json.NewEncoder(w).Encode(PurgeProgress{Purged: storage.PurgeCounts{Messages: 1}, Ended: true})
				})
			} else {
				lock.Close()
			}
			is.NoErr(<-ended)
			is.Equal(deleted, want)
		})
	}
}

// serve answers the commands of a directory until the test ends.
func serve(t *testing.T, dir Dir, handle http.HandlerFunc) {
	t.Helper()
	listener, err := dir.ListenControl()
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handle}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Serve(listener)
	}()
	t.Cleanup(func() {
		server.Close()
		<-ended
	})
}

func TestAPurgeThatIsBrokenOffIsNoFaultOfTheServer(t *testing.T) {
	is := is.New(t)
	dir := Dir(t.TempDir())
	lock, err := dir.Lock()
	is.NoErr(err)
	defer lock.Close()
	serve(t, dir, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		fmt.Fprintln(w, `{"purged":{"calls":1}}`)
		http.NewResponseController(w).Flush()
		<-r.Context().Done() // it goes on and on
	})
	ctx, breakOff := context.WithCancel(t.Context())
	defer breakOff()
	err = dir.Purge(ctx, storage.PurgeScope{Before: 1}, func(storage.PurgeCounts) { breakOff() }, nil)
	is.True(errors.Is(err, context.Canceled))
}
