package jobs_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/jobs"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
	"confab/storage/storagetest"
)

const (
	// pausedVariable names the provider of the process that is stopped.
	pausedVariable = "CONFAB_JOBS_TEST_PROVIDER"
	pausedSends    = 8
	pausedLease    = 3 * time.Second
)

// A process that was stopped finds, when it goes on, that every time limit is over
// and that every answer has arrived, at the same moment.
func TestAPauseOfTheProcessRepeatsNoSend(t *testing.T) {
	is := is.New(t)
	var calls atomic.Int32
	arrived, answer := make(chan struct{}, 10*pausedSends), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := calls.Add(1)
		io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-answer
		fmt.Fprintf(w, `{"messaging_product":"whatsapp","messages":[{"id":"wamid.%d"}]}`, n)
	}))
	t.Cleanup(server.Close)

	child := exec.Command(os.Args[0], "-test.run", "^TestSendingWhilePaused$", "-test.v")
	child.Env = append(os.Environ(), pausedVariable+"="+server.URL)
	var out strings.Builder
	child.Stdout, child.Stderr = &out, &out
	is.NoErr(child.Start())
	for range pausedSends {
		<-arrived
	}
	is.NoErr(child.Process.Signal(syscall.SIGSTOP))
	close(answer)
	time.Sleep(pausedLease + 2*time.Second) // until every time limit is over
	is.NoErr(child.Process.Signal(syscall.SIGCONT))
	if err := child.Wait(); err != nil {
		t.Errorf("%v: %s", err, out.String())
	}
	is.Equal(calls.Load(), int32(pausedSends))
}

// TestSendingWhilePaused is the process of the test above.
func TestSendingWhilePaused(t *testing.T) {
	address := os.Getenv(pausedVariable)
	if address == "" {
		t.Skip("the test above runs it")
	}
	dir := t.TempDir()
	w := &world{t: t, is: is.New(t), dir: dir, db: storagetest.OpenDir(t, dir)}
	w.tenant = storagetest.Seed(t, w.db, "Acme")
	w.account = storagetest.Connect(t, w.db, w.tenant, "100200300")
	client, err := provider.New(provider.Options{BaseURL: address, Timeout: pausedLease})
	w.is.NoErr(err)
	workers := jobs.New(jobs.Options{DB: w.db, Provider: client, Publisher: messaging.Publisher{PublicURL: "https://confab.test"},
		Log: slog.New(slog.DiscardHandler), SendRetries: []time.Duration{time.Millisecond, time.Millisecond}, ReconcileWindow: time.Millisecond})
	kinds := workers.Kinds()
	kinds[0].Lease = pausedLease
	runner := queue.New(queue.Options{DB: w.db, Kinds: kinds[:1], Workers: 256, Poll: 100 * time.Millisecond, Grace: time.Second, Log: slog.New(slog.DiscardHandler)})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()

	var ids []string
	for range pausedSends {
		ids = append(ids, w.text())
	}
	for w.jobs() > 0 {
		time.Sleep(10 * time.Millisecond) // it is stopped meanwhile
	}
	stop()
	w.is.NoErr(<-ended)
	for _, id := range ids {
		w.is.Equal(w.message(id).Status, storage.MessageSent)
	}
}
