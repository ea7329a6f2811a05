package replica_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/superfly/ltx"

	"confab/app/replica"
	"confab/storage"
	"confab/storage/objects"
	"confab/storage/objects/objectstest"
	"confab/storage/storagetest"
)

// TestMain runs the child in place of the tests, if it is asked to.
func TestMain(m *testing.M) {
	if os.Getenv("CONFAB_TEST_CHILD") != "" {
		if err := replica.RunChild(context.Background(), os.Stdin, os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := replica.PrepareProcess(); err != nil {
		panic(err)
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the engine's
	os.Exit(m.Run())
}

// places are where a replica can be kept: a directory, and object storage.
func places(t *testing.T) map[string]replica.Place {
	return map[string]replica.Place{
		"file": {URL: "file://" + filepath.Join(t.TempDir(), "replica")},
		"s3":   inBucket(t),
	}
}

// inBucket is a place in object storage that lives as long as the test.
func inBucket(t *testing.T) replica.Place {
	t.Helper()
	place, _ := inStorage(t)
	return place
}

var keys = objects.Credentials{AccessKeyID: objectstest.Key, SecretAccessKey: objectstest.Secret}

// inStorage is a place in object storage that can be broken.
func inStorage(t *testing.T) (replica.Place, *objectstest.Server) {
	t.Helper()
	storage := objectstest.New(t)
	return replica.Place{URL: storage.Address("prefix"), Credentials: keys}, storage
}

// server is what a server does with its database and its replica.
type server struct {
	*testing.T
	dir     string
	db      *storage.DB
	replica *replica.Replica
	end     context.CancelFunc
	ended   chan error
	dropped atomic.Bool // more waited than may
}

// Write takes a line of the log.
func (s *server) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("they are dropped")) {
		s.dropped.Store(true)
	}
	return s.Output().Write(line)
}

// options are those of a server that replicates often.
func options(t *testing.T, place replica.Place, dir string, db *storage.DB) replica.Options {
	return replica.Options{
		Settings: replica.Settings{
			Place: place, Dir: dir, Interval: 50 * time.Millisecond, SnapshotEvery: time.Hour, Keep: 24 * time.Hour,
		},
		DB: db, MaxBacklog: 1 << 30,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Command: func() (*exec.Cmd, error) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "CONFAB_TEST_CHILD=1", "AWS_CA_BUNDLE=/nowhere")
			return cmd, nil
		},
	}
}

// open opens the database of a directory as a server does.
func open(t *testing.T, dir string) *storage.DB {
	t.Helper()
	db, err := storage.Open(storagetest.Options(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// serve replicates the database of a directory until stop.
func serve(t *testing.T, place replica.Place, dir string) *server {
	t.Helper()
	return serveWith(t, place, dir, 1<<30)
}

// serveWith is serve with a bound of what may wait.
func serveWith(t *testing.T, place replica.Place, dir string, maxBacklog int64) *server {
	t.Helper()
	s := &server{T: t, dir: dir, db: open(t, dir), ended: make(chan error, 1)}
	o := options(t, place, dir, s.db)
	o.MaxBacklog, o.Log = maxBacklog, slog.New(slog.NewTextHandler(s, nil))
	var err error
	if s.replica, err = replica.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, s.end = context.WithCancel(context.Background())
	go func() { s.ended <- s.replica.Run(ctx) }()
	return s
}

// stop stops it as a server does.
func (s *server) stop() {
	s.Helper()
	s.end()
	if err := <-s.ended; err != nil {
		s.Error(err)
	}
	if err := s.db.Close(); err != nil {
		s.Error(err)
	}
	s.replica.Stop()
}

// write commits something that a restore can be asked for.
func (s *server) write(n int64) {
	s.Helper()
	storagetest.Update(s, s.db, func(tx *storage.Tx) error {
		return tx.Audit(0, storage.System, fmt.Sprintf("test.%06d", n), "random", rand.Text())
	})
}

// await waits until a condition of the status holds.
func (s *server) await(what string, holds func(replica.Status) bool) {
	s.Helper()
	for began := time.Now(); !holds(s.replica.Status()); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			s.Fatalf("waited for %s: %+v", what, s.replica.Status())
		}
	}
}

// isSent is true when all that was committed is sent.
func (s *server) isSent(st replica.Status) bool { return *st.LagSeconds == 0 && st.LastUploadAt != 0 }

// restored lists what was written before a restore was possible.
func restored(t *testing.T, place replica.Place, at time.Time) (all []string, out replica.Restored) {
	t.Helper()
	dir, out := restoredDir(t, place, at)
	return storagetest.Select[string](t, dir, `SELECT action FROM audit ORDER BY action`), out
}

// restoredDir restores to a directory, and checks what is there.
func restoredDir(t *testing.T, place replica.Place, at time.Time) (dir string, out replica.Restored) {
	t.Helper()
	dir = t.TempDir()
	out, err := place.Restore(t.Context(), at, storage.DatabaseFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := storage.CheckDatabase(storage.DatabaseFile(dir), nil); err != nil {
		t.Fatal(err)
	}
	return dir, out
}

// wholeCopies counts the files that a directory has sent, or is to send, that hold every page.
func wholeCopies(t *testing.T, dir string) (n int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "replica/ltx/0/*.ltx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		d := ltx.NewDecoder(f)
		if err := d.Verify(); err != nil {
			t.Fatal(err)
		}
		if d.PageN() >= int(d.Header().Commit)-1 {
			n++
		}
	}
	return n
}

func TestWhatIsCommittedIsRestoredElsewhere(t *testing.T) {
	t.Parallel()
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			s := serve(t, place, t.TempDir())
			for n := range int64(20) {
				s.write(n)
			}
			s.await("all to be sent", s.isSent)
			found, _ := restored(t, place, time.Time{})
			is.Equal(len(found), 20)

			s.write(20) // and stop at once: the rest is sent
			s.stop()
			found, out := restored(t, place, time.Time{})
			is.Equal(len(found), 21)
			is.Equal(out.Generation.Number, 1)

			// The same server goes on in its generation, without a whole copy.
			s = serve(t, place, s.dir)
			s.write(21)
			s.await("all to be sent", s.isSent)
			s.stop()
			is.Equal(wholeCopies(t, s.dir), 1)
			found, out = restored(t, place, time.Time{})
			is.Equal(len(found), 22)
			is.Equal(out.Generation.Number, 1)
		})
	}
}
