package replica_test

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/replica"
	"confab/storage"
	"confab/storage/objects/objectstest"
	"confab/storage/storagetest"
)

// writeBulk commits something that takes room.
func (s *server) writeBulk() {
	s.Helper()
	storagetest.Update(s, s.db, func(tx *storage.Tx) error {
		_, err := tx.Exec(`INSERT OR REPLACE INTO meta (name, value) VALUES ('bulk', randomblob(40000))`)
		return err
	})
}

// TestStorageThatFailsStopsNoWrite breaks the storage in each way that it can be. Writes go on,
// what waits is bounded, the status says what is wrong, and nothing is missing afterwards.
func TestStorageThatFailsStopsNoWrite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault objectstest.Fault
		says  string
	}{
		"away":      {objectstest.Away, ""},
		"denied":    {objectstest.Denied, "the access key may not do this"},
		"wrong key": {objectstest.WrongKey, "the storage refuses the access key"},
		"full":      {objectstest.Full, "the storage is full"},
		"silent":    {objectstest.Silent, "did not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			place, store := inStorage(t)
			s := serveWith(t, place, t.TempDir(), 256<<10)
			s.write(0)
			s.await("all to be sent", s.isSent)

			store.Break(c.fault)
			for n := 1; !s.dropped.Load(); n++ {
				began := time.Now()
				s.writeBulk()
				if took := time.Since(began); took > 10*time.Second { // here others use the machine
					t.Errorf("a write took %s", took)
				}
				is.True(n < 5000)
			}
			s.await("what waits to be dropped", func(st replica.Status) bool { return st.BacklogBytes == 0 })
			s.await("a warning", func(st replica.Status) bool {
				return st.Error != "" && strings.Contains(st.Error, c.says) && len(st.Warnings(time.Now())) == 1
			})
			s.write(1)

			store.Break(nil)
			s.await("all to be sent", s.isSent)
			s.stop()
			found, out := restored(t, place, time.Time{})
			is.Equal(found, []string{"test.000000", "test.000001"})
			is.Equal(out.Generation.Number, 1)
		})
	}
}

// TestWhatACommandWritesIsWaitedFor: the server does not know of a commit that a command makes beside it
// before it writes something itself.
func TestWhatACommandWritesIsWaitedFor(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	place, store := inStorage(t)
	s := serve(t, place, t.TempDir())
	s.write(0)
	s.await("all to be sent", s.isSent)

	store.Break(objectstest.Away)
	beside := &server{T: t, db: open(t, s.dir)}
	beside.write(1)
	is.NoErr(beside.db.Close())
	s.await("a lag", func(st replica.Status) bool { return *st.LagSeconds > 0.2 })

	store.Break(nil)
	s.await("all to be sent", s.isSent)
	s.stop()
	found, _ := restored(t, place, time.Time{})
	is.Equal(found, []string{"test.000000", "test.000001"})
}

// TestSlowStorageIsWaitedFor: each request takes so long that the replica cannot follow every
// interval. It falls behind, by no more than that, and catches up.
func TestSlowStorageIsWaitedFor(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	place, store := inStorage(t)
	s := serve(t, place, t.TempDir())
	s.write(0)
	s.await("all to be sent", s.isSent)
	store.Break(objectstest.Slow(400 * time.Millisecond))
	for n := range int64(40) {
		s.write(n + 1)
		time.Sleep(10 * time.Millisecond) // so that it takes several files
	}
	s.await("a lag", func(st replica.Status) bool { return *st.LagSeconds > 0.2 })
	s.await("all to be sent", s.isSent)
	is.Equal(s.replica.Status().Error, "")
	store.Break(nil)
	s.stop()
	found, _ := restored(t, place, time.Time{})
	is.Equal(len(found), 41)
}
