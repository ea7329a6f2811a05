package app

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/app/datadir"
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
		a := newApp(Options{Log: slog.New(slog.DiscardHandler)})
		a.DB = storagetest.OpenDir(t, dir)
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
		var last datadir.PurgeProgress
		for lines := json.NewDecoder(res.Body); ; {
			var line datadir.PurgeProgress
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
