package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

// TestAPurgeMayTakeLongerThanARequest has a command that listens slowly: the
// server's limits for requests must not end its purge.
func TestAPurgeMayTakeLongerThanARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		dir := t.TempDir()
		a := &App{Options: Options{Log: slog.New(slog.DiscardHandler)}, DB: storagetest.OpenDir(t, dir), draining: make(chan struct{})}
		a.work = jobs.New(jobs.Options{DB: a.DB, Files: storagetest.Files(t, dir), Log: a.Log})
		storagetest.Update(t, a.DB, func(tx *storage.Tx) error {
			calls := make([]storage.APICall, 1000)
			for i := range calls {
				calls[i] = storage.APICall{Method: "GET", Path: "/v1/me", Status: 200, RequestID: "r", CreatedAt: tx.Now}
			}
			return tx.InsertAPICalls(calls)
		})
		time.Sleep(time.Hour)

		p := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
		server := newHTTPServer(http.HandlerFunc(a.servePurge), a.Log)
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(p) }()
		ours, theirs := net.Pipe()
		p.accepted <- theirs
		body := fmt.Sprintf(`{"before":%q}`, storage.Now())
		fmt.Fprintf(ours, "POST /purge HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		time.Sleep(10 * time.Minute) // a pipe holds nothing: the server waits to be heard
		res, err := http.ReadResponse(bufio.NewReader(ours), nil)
		is.NoErr(err)
		var last purgeLine
		for lines := json.NewDecoder(res.Body); ; {
			var line purgeLine
			if err := lines.Decode(&line); err == io.EOF {
				break
			} else {
				is.NoErr(err)
			}
			last = line
		}
		is.True(last.Ended)
		is.Equal(last.Error, "")
		is.Equal(last.Purged, storage.PurgeCounts{Calls: 1000})
		ours.Close()
		server.Close()
		<-ended
		time.Sleep(time.Second) // connections linger
	})
}

// TestAPurgeWaitsForAServerBetweenTimes has a command meet a server that has the
// directory already, but hangs up on it: one that is starting answers later, one
// that is stopping goes away, and the command does the work itself.
func TestAPurgeWaitsForAServerBetweenTimes(t *testing.T) {
	for _, name := range []string{"starting", "stopping"} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			path := t.TempDir()
			a := &App{Options: Options{Log: slog.New(slog.DiscardHandler)}, dir: DataDir(path), DB: storagetest.OpenDir(t, path), draining: make(chan struct{})}
			a.work = jobs.New(jobs.Options{DB: a.DB, Files: storagetest.Files(t, path), Log: a.Log})
			storagetest.Update(t, a.DB, func(tx *storage.Tx) error {
				return tx.InsertAPICalls([]storage.APICall{{Method: "GET", Path: "/v1/me", Status: 200, RequestID: "r", CreatedAt: tx.Now}})
			})
			lock, err := a.dir.lock()
			is.NoErr(err)
			defer lock.Close()
			half, err := net.Listen("unix", a.dir.file(socketFile))
			is.NoErr(err)

			var deleted storage.PurgeCounts
			ended := make(chan error, 1)
			go func() {
				what := storage.PurgeScope{Before: storage.Now().Add(time.Hour)}
				ended <- a.dir.Purge(context.Background(), a.DB, what, a.Log, func(p storage.PurgeCounts) { deleted = p })
			}()
			conn, err := half.Accept()
			is.NoErr(err)
			conn.Close()
			half.Close()
			ctx, stop := context.WithCancel(context.Background())
			served := make(chan error, 1)
			if name == "starting" {
				go func() { served <- a.serveControl(ctx) }()
			} else {
				lock.Close()
				served <- nil
			}
			is.NoErr(<-ended)
			is.Equal(deleted, storage.PurgeCounts{Calls: 1})
			stop()
			is.NoErr(<-served)
		})
	}
}

func TestAPurgeThatIsBrokenOffIsNoFaultOfTheServer(t *testing.T) {
	is := is.New(t)
	dir := DataDir(t.TempDir())
	lock, err := dir.lock()
	is.NoErr(err)
	defer lock.Close()
	listener, err := net.Listen("unix", dir.file(socketFile))
	is.NoErr(err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		fmt.Fprintln(w, `{"purged":{"calls":1}}`)
		http.NewResponseController(w).Flush()
		<-r.Context().Done() // it goes on and on
	})}
	go server.Serve(listener)
	defer server.Close()
	ctx, breakOff := context.WithCancel(t.Context())
	defer breakOff()
	err = dir.Purge(ctx, nil, storage.PurgeScope{Before: 1}, slog.New(slog.DiscardHandler), func(storage.PurgeCounts) { breakOff() })
	is.True(errors.Is(err, context.Canceled))
}
