package replica_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/replica"
	"confab/storage"
	"confab/storage/objects/objectstest"
)

// standby is a standby that runs.
type standby struct {
	*replica.Standby
	t     *testing.T
	dir   string
	ended chan bool // whether it was promoted
}

// standBy follows a place with the key of a server, until it is promoted or the test ends.
func standBy(t *testing.T, place replica.Place, from string) *standby {
	t.Helper()
	return standByIn(t, place, from, t.TempDir())
}

func standByIn(t *testing.T, place replica.Place, from, dir string) *standby {
	t.Helper()
	key, err := storage.ReadMasterKey(from, "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(from, storage.MasterKeyFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, storage.MasterKeyFile), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}

	s := &standby{t: t, dir: dir, ended: make(chan bool, 1)}
	s.Standby, err = replica.NewStandby(replica.Options{
		Settings: replica.Settings{Place: place, Dir: dir, Interval: 50 * time.Millisecond}, Key: key,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.ended <- s.Run(ctx)
	}()
	t.Cleanup(func() {
		end()
		<-done
	})
	return s
}

// awaitAll waits until it has all that was sent until now.
func (s *standby) awaitAll() {
	s.t.Helper()
	now := time.Now()
	for began := now; ; time.Sleep(10 * time.Millisecond) {
		lag, problem, ok := s.Lag()
		if ok && time.Now().Add(-lag).After(now) {
			return
		}
		if time.Since(began) > time.Minute {
			s.t.Fatalf("the standby is %s behind: %s", lag, problem)
		}
	}
}

func TestAStandbyTakesOver(t *testing.T) {
	t.Parallel()
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			old := serve(t, place, t.TempDir())
			old.write(1)
			old.await("all to be sent", old.isSent)
			s := standBy(t, place, old.dir)
			s.awaitAll()
			for n := int64(2); n < 30; n++ {
				old.write(n)
			}
			old.await("all to be sent", old.isSent)

			began, err := s.Promote(t.Context())
			is.NoErr(err)
			is.True(<-s.ended)
			is.Equal(began.Number, 2)
			_, err = os.Stat(filepath.Join(s.dir, "standby"))
			is.True(errors.Is(err, os.ErrNotExist))

			// It goes on as the server in force, in the generation that the promotion began.
			next := serve(t, place, s.dir)
			is.Equal(next.replica.Status().Generation, began.Name)
			is.Equal(committed(t, s.dir), 29)
			next.write(30)
			next.await("all to be sent", next.isSent)
			_, ok := errors.AsType[*replica.SupersededError](<-old.ended)
			is.True(ok)
			is.NoErr(old.db.Close())
			old.replica.Stop()
			next.stop()
			found, out := restored(t, place, time.Time{})
			is.Equal(out.Generation.Number, 2)
			is.Equal(len(found), 30)
		})
	}
}

// barrier makes a fault that lets requests to replace "current" pass only when several have
// arrived: all of them have read the same one.
func barrier(n int) func(http.ResponseWriter, *http.Request) bool {
	var arrived sync.WaitGroup
	arrived.Add(n)
	var count atomic.Int64
	return func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/current") && count.Add(1) <= int64(n) {
			arrived.Done()
			arrived.Wait()
		}
		return false
	}
}

// TestOfStandbysPromotedAtOnceOneWins holds back the conditional writes of both until both are
// on their way.
func TestOfStandbysPromotedAtOnceOneWins(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	place, store := inStorage(t)
	old := serve(t, place, t.TempDir())
	old.write(1)
	old.await("all to be sent", old.isSent)
	both := []*standby{standBy(t, place, old.dir), standBy(t, place, old.dir)}
	for _, s := range both {
		s.awaitAll()
	}
	old.stop()

	store.Break(barrier(2))
	results := make([]error, 2)
	var group sync.WaitGroup
	for i, s := range both {
		group.Go(func() { _, results[i] = s.Promote(t.Context()) })
	}
	group.Wait()
	winner, loser := 0, 1
	if results[0] != nil {
		winner, loser = 1, 0
	}
	is.NoErr(results[winner])
	superseded, ok := errors.AsType[*replica.SupersededError](results[loser])
	is.True(ok)
	is.True(<-both[winner].ended)

	// The loser stands by, and cannot take over from what the winner has not sent yet.
	both[loser].awaitAll()
	_, err := both[loser].Promote(t.Context())
	is.True(err != nil && strings.Contains(err.Error(), "took over at"))
	next := serve(t, place, both[winner].dir)
	is.Equal(next.replica.Status().Generation, superseded.By.Name)
	next.write(2)
	next.await("all to be sent", next.isSent)
	next.stop()

	// Then it follows the winner, and can.
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		got, err := both[loser].Promote(t.Context())
		if err == nil {
			is.Equal(got.Number, 3)
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatal(err)
		}
	}
	is.True(<-both[loser].ended)
	is.Equal(committed(t, both[loser].dir), 2)
}

// TestOfManyThatBeginOneWins has all read the same, and then write at the same time.
func TestOfManyThatBeginOneWins(t *testing.T) {
	t.Parallel()
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			s := serve(t, place, t.TempDir())
			s.stop()
			for range 10 {
				won := 0
				for _, err := range replica.BeginAtOnce(t.Context(), place, 8) {
					if err == nil {
						won++
						continue
					}
					_, ok := errors.AsType[*replica.SupersededError](err)
					is.True(ok)
				}
				is.Equal(won, 1)
			}
		})
	}
}

// TestAPromotionWhoseAnswerIsLostCanBeRepeated: the generation began, and the machine does not
// know it.
func TestAPromotionWhoseAnswerIsLostCanBeRepeated(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	place, store := inStorage(t)
	old := serve(t, place, t.TempDir())
	old.write(1)
	old.await("all to be sent", old.isSent)
	s := standBy(t, place, old.dir)
	s.awaitAll()
	old.stop()

	var written atomic.Bool
	store.Break(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/current") {
			return false
		}
		if written.Load() {
			panic(http.ErrAbortHandler)
		}
		if r.Method == http.MethodPut {
			written.Store(true)
			store.Answer(discard{}, r)
			panic(http.ErrAbortHandler)
		}
		return false
	})
	_, err := s.Promote(t.Context())
	is.True(err != nil)
	is.True(written.Load())

	store.Break(nil)
	s.awaitAll()
	began, err := s.Promote(t.Context())
	is.NoErr(err)
	is.Equal(began.Number, 3)
	is.True(<-s.ended)
	is.Equal(committed(t, s.dir), 1)
}

// discard is an answer that nobody gets.
type discard struct{}

func (discard) Header() http.Header            { return http.Header{} }
func (discard) Write(text []byte) (int, error) { return len(text), nil }
func (discard) WriteHeader(int)                {}

// TestOldGenerationsAreDeletedByTheOneInForce, as soon as no time needs them.
func TestOldGenerationsAreDeletedByTheOneInForce(t *testing.T) {
	t.Parallel()
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			old := serve(t, place, t.TempDir())
			old.write(1)
			old.await("all to be sent", old.isSent)
			s := standBy(t, place, old.dir)
			s.awaitAll()
			before := time.Now()
			_, err := s.Promote(t.Context())
			is.NoErr(err)
			<-old.ended
			next := serve(t, place, s.dir)

			// Before it has sent anything, what the one before had is all there is.
			old.replica.RemoveOld(t.Context(), time.Now())
			_, out := restored(t, place, before)
			is.Equal(out.Generation.Number, 1)
			next.write(2)
			next.await("all to be sent", next.isSent)

			// Needed for times before it began, and the one before deletes nothing.
			next.replica.RemoveOld(t.Context(), before)
			old.replica.RemoveOld(t.Context(), time.Now())
			_, out = restored(t, place, before)
			is.Equal(out.Generation.Number, 1)

			next.replica.RemoveOld(t.Context(), time.Now())
			_, err = place.Restore(t.Context(), before, storage.DatabaseFile(t.TempDir()))
			is.True(err != nil && strings.Contains(err.Error(), "holds nothing from"))
			found, _ := restored(t, place, time.Time{})
			is.Equal(len(found), 2)
			is.NoErr(old.db.Close())
			old.replica.Stop()
			next.stop()
		})
	}
}

// TestAStandbyThatStallsMakesItsCopyAfresh: it cannot read what was sent, while the storage
// answers. It keeps the copy that it has for 30 s.
func TestAStandbyThatStallsMakesItsCopyAfresh(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	place, store := inStorage(t)
	old := serve(t, place, t.TempDir())
	old.write(1)
	old.await("all to be sent", old.isSent)
	s := standBy(t, place, old.dir)
	s.awaitAll()

	store.Break(func(w http.ResponseWriter, r *http.Request) bool {
		isRead := r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ".ltx")
		if isRead {
			objectstest.Refuse(w, http.StatusNotFound, "NoSuchKey")
		}
		return isRead
	})
	old.write(2)
	old.await("all to be sent", old.isSent)
	s.Stall(29 * time.Second)
	time.Sleep(500 * time.Millisecond) // several looks
	_, _, hasCopy := s.Lag()
	is.True(hasCopy)
	s.Stall(29 * time.Second)
	for began := time.Now(); hasCopy && time.Since(began) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
		_, _, hasCopy = s.Lag()
	}
	is.True(!hasCopy)

	store.Break(nil)
	s.awaitAll()
	_, err := s.Promote(t.Context())
	is.NoErr(err)
	is.True(<-s.ended)
	is.Equal(committed(t, s.dir), 2)
	<-old.ended
	is.NoErr(old.db.Close())
	old.replica.Stop()
}
