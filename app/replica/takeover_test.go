package replica_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"confab/app/replica"
	"confab/app/tools/rig"
	"confab/storage"
	"confab/storage/objects/objectstest"
	"confab/storage/storagetest"
)

// restoreInto makes a data directory out of a replica, as confab restore does.
func restoreInto(t *testing.T, place replica.Place, from, dir string) {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(from, storage.MasterKeyFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, storage.MasterKeyFile), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	file := storage.DatabaseFile(dir)
	if _, err := place.Restore(t.Context(), time.Time{}, file); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(storage.BeginEpoch(file), storage.HoldRestored(file)); err != nil {
		t.Fatal(err)
	}
}

func TestAServerThatWasSupersededEnds(t *testing.T) {
	t.Parallel()
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			old := serve(t, place, t.TempDir())
			old.write(1)
			old.await("all to be sent", old.isSent)

			began := t.TempDir()
			restoreInto(t, place, old.dir, began)
			next := serve(t, place, began)
			is.True(next.replica.Status().Generation != old.replica.Status().Generation)
			next.write(2)
			next.await("all to be sent", next.isSent)

			// The old one notices by itself, and sends nothing any more.
			err := <-old.ended
			superseded, ok := errors.AsType[*replica.SupersededError](err)
			is.True(ok)
			is.Equal(superseded.By.Number, 2)
			old.write(3)
			is.NoErr(old.db.Close())
			old.replica.Stop()

			// Nor does it start again.
			db := open(t, old.dir)
			_, err = replica.Open(t.Context(), options(t, place, old.dir, db))
			is.True(errors.As(err, &superseded))
			is.NoErr(db.Close())

			next.stop()
			found, out := restored(t, place, time.Time{})
			is.Equal(out.Generation.Number, 2)
			is.Equal(found, []string{"test.000001", "test.000002"})

			// What the old one had sent is still there, up to when it was superseded.
			found, out = restored(t, place, superseded.By.Since.Add(-time.Millisecond))
			is.Equal(out.Generation.Number, 1)
			is.Equal(found, []string{"test.000001"})
		})
	}
}

// spelledDifferently is the same place under another URL.
func spelledDifferently(place replica.Place) replica.Place {
	address, query, _ := strings.Cut(place.URL, "?")
	place.URL = address + "/"
	if first, rest, ok := strings.Cut(query, "&"); ok {
		place.URL += "?" + rest + "&" + first
	}
	return place
}

// TestAPlaceIsKnownByWhatItHolds, however its URL is spelled.
func TestAPlaceIsKnownByWhatItHolds(t *testing.T) {
	t.Parallel()
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			old := serve(t, place, t.TempDir())
			begun := old.replica.Status().Generation
			old.write(1)
			old.await("all to be sent", old.isSent)
			old.stop()

			// The server in force goes on in its generation.
			other := spelledDifferently(place)
			old = serve(t, other, old.dir)
			is.Equal(old.replica.Status().Generation, begun)
			old.write(2)
			old.await("all to be sent", old.isSent)
			old.stop()
			found, out := restored(t, place, time.Time{})
			is.Equal(found, []string{"test.000001", "test.000002"})
			is.Equal(out.Generation.Number, 1)

			// One that was superseded neither serves nor takes over again.
			began := t.TempDir()
			restoreInto(t, place, old.dir, began)
			next := serve(t, place, began)
			for _, p := range []replica.Place{place, other} {
				db := open(t, old.dir)
				_, err := replica.Open(t.Context(), options(t, p, old.dir, db))
				superseded, ok := errors.AsType[*replica.SupersededError](err)
				is.True(ok)
				is.Equal(superseded.By.Number, 2)
				is.NoErr(db.Close())
			}
			is.NoErr(next.replica.InForce(t.Context()))
			next.stop()

			// At another place, which holds nothing of it, a generation begins.
			elsewhere := replica.Place{URL: "file://" + filepath.Join(t.TempDir(), "elsewhere")}
			old = serve(t, elsewhere, old.dir)
			old.write(3)
			old.await("all to be sent", old.isSent)
			is.True(old.replica.Status().Generation != begun)
			old.stop()
		})
	}
}

// TestAServerGoesOnInACopyOfItsPlace that was made before its last changes, with a whole copy.
func TestAServerGoesOnInACopyOfItsPlace(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	place, elsewhere := places(t)["file"], places(t)["file"]
	s := serve(t, place, t.TempDir())
	s.write(1)
	s.await("all to be sent", s.isSent)
	s.stop()
	is.NoErr(os.CopyFS(strings.TrimPrefix(elsewhere.URL, "file://"), os.DirFS(strings.TrimPrefix(place.URL, "file://"))))
	for n := int64(2); n < 5; n++ {
		s = serve(t, place, s.dir)
		s.write(n)
		s.await("all to be sent", s.isSent)
		s.stop()
	}

	// In time the engine deletes what it has sent, all but the last.
	sent, err := filepath.Glob(filepath.Join(s.dir, "replica/ltx/0/*.ltx"))
	is.NoErr(err)
	for _, name := range sent[:len(sent)-1] {
		is.NoErr(os.Remove(name))
	}

	s = serve(t, elsewhere, s.dir)
	s.write(5)
	s.await("all to be sent", s.isSent)
	is.Equal(wholeCopies(t, s.dir), 1)
	s.stop()
	found, out := restored(t, elsewhere, time.Time{})
	is.Equal(len(found), 5)
	is.Equal(out.Generation.Number, 1)
}

// TestAServerKnowsWhatItHasBegun, though it ended before it could say so.
func TestAServerKnowsWhatItHasBegun(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	place := places(t)["file"]
	s := serve(t, place, t.TempDir())
	s.stop()
	file := filepath.Join(s.dir, replica.StateFile)
	state := func() (all map[string]any) {
		text, err := os.ReadFile(file)
		is.NoErr(err)
		is.NoErr(json.Unmarshal(text, &all))
		return all
	}
	write := func(all map[string]any) {
		text, err := json.Marshal(all)
		is.NoErr(err)
		is.NoErr(os.WriteFile(file, text, 0o600))
	}

	// Of another database: a generation begins.
	first := state()
	first["epoch"] = "another"
	write(first)
	s = serve(t, place, s.dir)
	s.stop()
	second := state()
	is.Equal(second["number"], 2.0)

	first["next"] = second
	write(first)
	s = serve(t, place, s.dir)
	s.stop()
	is.Equal(state(), second)
}

// TestTimesAreInMilliseconds, as everywhere in the API, those of a replica of an earlier release too.
func TestTimesAreInMilliseconds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	place := places(t)["file"]
	s := serve(t, place, t.TempDir())
	s.write(1)
	s.await("all to be sent", s.isSent)
	s.stop()
	isCut := func(at time.Time) bool { return at == storage.At(at).Std() }

	dir := strings.TrimPrefix(place.URL, "file://")
	file := filepath.Join(dir, "current")
	text, err := os.ReadFile(file)
	is.NoErr(err)
	var now struct{ Since time.Time }
	is.NoErr(json.Unmarshal(text, &now))
	is.True(isCut(now.Since)) // promote prints it

	sent, err := filepath.Glob(filepath.Join(dir, "0*/ltx/0/*.ltx"))
	is.NoErr(err)
	is.True(len(sent) > 0)
	for _, name := range sent {
		is.NoErr(os.Chtimes(name, time.Time{}, now.Since.Add(123456)))
	}
	_, out := restored(t, place, time.Time{})
	is.True(isCut(out.AsOf))

	earlier := now.Since.Add(123456).Format(time.RFC3339Nano)
	is.NoErr(os.WriteFile(file, []byte(strings.Replace(string(text), now.Since.Format(time.RFC3339Nano), earlier, 1)), 0o600))
	_, out = restored(t, place, time.Time{})
	is.Equal(out.Generation.Since, now.Since)
}

// TestAServerThatWasStoppedLooksFirst: what it does then may be done by another server.
func TestAServerThatWasStoppedLooksFirst(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	place, store := inStorage(t)
	dir := t.TempDir()
	r, err := replica.Open(t.Context(), options(t, place, dir, storagetest.OpenDir(t, dir)))
	is.NoErr(err)
	stops := 0
	fence := func() error { return r.Fence(t.Context(), func() int { return stops }) }
	is.NoErr(replica.BeginAtOnce(t.Context(), place, 1)[0])
	is.NoErr(fence()) // only a look can tell

	store.Break(objectstest.Away)
	stops = 1
	is.NoErr(fence()) // storage that is away stops nobody
	store.Break(nil)
	is.NoErr(fence()) // it has tried
	stops = 2
	_, ok := errors.AsType[*replica.SupersededError](fence())
	is.True(ok)
}

func TestAPlaceOfAnotherInstallationIsRefused(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	place := inBucket(t)
	s := serve(t, place, t.TempDir())
	s.stop()
	other := storagetest.OpenDir(t, t.TempDir())
	_, err := replica.Open(t.Context(), options(t, place, t.TempDir(), other))
	is.True(err != nil && strings.Contains(err.Error(), "replica of another installation"))
}

func TestOfTwoThatTakeOverAtOnceOneWins(t *testing.T) {
	t.Parallel()
	for name, place := range places(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			first := serve(t, place, t.TempDir())
			first.write(1)
			first.await("all to be sent", first.isSent)
			first.stop()

			errs := make(chan error, 2)
			both := []string{t.TempDir(), t.TempDir()}
			for _, dir := range both {
				restoreInto(t, place, first.dir, dir)
			}
			for _, dir := range both {
				o := options(t, place, dir, storagetest.OpenDir(t, dir))
				go func() {
					_, err := replica.Open(t.Context(), o)
					errs <- err
				}()
			}
			var lost int
			for range 2 {
				err := <-errs
				if _, ok := errors.AsType[*replica.SupersededError](err); ok {
					lost++
				} else {
					is.NoErr(err)
				}
			}
			is.True(lost <= 1) // none loses if one began after the other had

			// Whoever it was has sent nothing yet: the newest is what the one before had.
			found, out := restored(t, place, time.Time{})
			is.Equal(found, []string{"test.000001"})
			is.Equal(out.Generation.Number, 1)
		})
	}
}

func TestAChildThatDiesIsStartedAgain(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	place := inBucket(t)
	s := serve(t, place, t.TempDir())
	s.write(1)
	s.await("all to be sent", s.isSent)
	for n := int64(2); n < 5; n++ {
		s.replica.KillChild()
		s.write(n)
		s.await("all to be sent", func(st replica.Status) bool { return s.isSent(st) && s.replica.Follows() })
	}
	s.stop()
	found, _ := restored(t, place, time.Time{})
	is.Equal(len(found), 4)
	is.Equal(wholeCopies(t, s.dir), 1)
}

// serveUntilKilled is a server in a process of its own, which writes and says what is
// committed.
func serveUntilKilled(t *testing.T) {
	place := replica.Place{URL: os.Getenv("CONFAB_TEST_URL"), Credentials: keys}
	s := serve(t, place, os.Getenv("CONFAB_TEST_SERVER"))
	first, _ := strconv.ParseInt(os.Getenv("CONFAB_TEST_FIRST"), 10, 64)
	for n := first; ; n++ {
		s.write(n)
		if n == first {
			s.await("the first copy", s.isSent)
		}
		fmt.Println("committed", n, time.Now().UnixMilli())
	}
}

func TestServeUntilKilled(t *testing.T) {
	if os.Getenv("CONFAB_TEST_SERVER") != "" {
		serveUntilKilled(t)
	}
}

// TestAKilledServerLeavesAPrefix kills a server and its child in the midst of writes. What is
// restored elsewhere is a prefix of what was committed, to the last byte, and nothing older than a
// second is missing. The soak does it a hundred times.
func TestAKilledServerLeavesAPrefix(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	place := inBucket(t)
	dir := t.TempDir()
	contents := func(dir string) []string {
		return storagetest.Select[string](t, dir, `SELECT json_array(id, action, target_id, created_at) FROM audit ORDER BY action`)
	}
	for range 2 {
		first := 0
		if _, err := os.Stat(storage.DatabaseFile(dir)); err == nil {
			first = committed(t, dir)
		}
		when := untilKilled(t, place, dir, first)
		last := when[first+len(when)-1]

		elsewhere, _ := restoredDir(t, place, time.Time{})
		kept, all := contents(elsewhere), contents(dir)
		is.True(len(kept) > first) // the first was seen to be sent
		is.True(len(all) >= first+len(when))
		is.Equal(kept, all[:len(kept)])
		t.Logf("%d of %d restored", len(kept), len(all))
		if at, isLost := when[len(kept)]; isLost {
			is.True(last.Sub(at) < 5*time.Second) // the bar of a second is the benchmark's: here others use the machine
		}
	}
}

// untilKilled runs a server that writes, kills it in the midst of that, and returns when it has
// committed what.
func untilKilled(t *testing.T, place replica.Place, dir string, first int) map[int]time.Time {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestServeUntilKilled$")
	cmd.Env = append(os.Environ(), "CONFAB_TEST_SERVER="+dir, "CONFAB_TEST_URL="+place.URL, fmt.Sprint("CONFAB_TEST_FIRST=", first))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill := sync.OnceFunc(func() {
		time.AfterFunc(500*time.Millisecond, func() { rig.Lose(cmd.Process.Pid) })
	})

	when := make(map[int]time.Time)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var n int
		var at int64
		if _, err := fmt.Sscanf(lines.Text(), "committed %d %d", &n, &at); err == nil {
			when[n] = time.UnixMilli(at)
			kill()
		}
	}
	_ = cmd.Wait()
	return when
}

// TestTheChildOfAKilledServerEndsThoughTheStorageIsSilent: another one of the same database can
// begin only then. The engine, which asks for its lists with a lock held, waits for them.
func TestTheChildOfAKilledServerEndsThoughTheStorageIsSilent(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	place, store := inStorage(t)
	asked, sent := make(chan struct{}, 100), make(chan struct{})
	store.Break(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			select {
			case sent <- struct{}{}:
			default:
			}
		}
		if list := r.URL.Query().Get("prefix"); list == "" || strings.HasSuffix(list, "/0000/") {
			return false // what the copying itself asks for
		}
		asked <- struct{}{}
		return objectstest.Silent(w, r)
	})

	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestServeUntilKilled$")
	cmd.Env = append(os.Environ(), "CONFAB_TEST_SERVER="+dir, "CONFAB_TEST_URL="+place.URL)
	is.NoErr(cmd.Start())
	<-asked
	for held := false; !held; { // the server writes on and on
		select {
		case <-sent:
		case <-time.After(500 * time.Millisecond):
			held = true
		}
	}
	is.NoErr(cmd.Process.Kill())
	_ = cmd.Wait()

	lock, err := os.Open(filepath.Join(dir, "replica.lock"))
	is.NoErr(err)
	defer lock.Close()
	ended := make(chan error, 1)
	go func() { ended <- unix.Flock(int(lock.Fd()), unix.LOCK_EX) }()
	select {
	case err := <-ended:
		is.NoErr(err)
	case <-time.After(time.Minute):
		t.Error("the child goes on")
	}
}

// committed is how many writes a directory has.
func committed(t *testing.T, dir string) int {
	t.Helper()
	return storagetest.Select[int](t, dir, `SELECT count(*) FROM audit`)[0]
}
