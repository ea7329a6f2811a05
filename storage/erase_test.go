package storage_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/sqlite"
	"confab/storage/storagetest"
)

// What was deleted or replaced is not in the files once the index has noticed and the logs
// are empty, however many pages were split and joined meanwhile.
func TestWhatIsErasedIsNotInTheFiles(t *testing.T) {
	is := is.New(t)
	s := openSearching(t)
	random := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string { return fmt.Sprintf("w%dx%dz", n, (n*7919+13)%1000003) }
	var threads []thread
	for n := range 60 {
		threads = append(threads, newThread(t, s.DB, fmt.Sprint(106540352242922+n), "+1555123"+fmt.Sprintf("%04d", n)))
	}
	type said struct {
		thread  thread
		message storage.Message
		word    string
	}
	var all []said
	gone := make(map[string]bool)
	for n := range 3000 {
		h := threads[random.IntN(len(threads))]
		text := word(n)
		for range random.IntN(3) * random.IntN(60) { // some are long enough for pages of their own
			text += " " + word(n)
		}
		all = append(all, said{h, s.say(h, text), word(n)})
		if n%100 == 99 {
			s.catchUp()
		}
		if n > 100 && n%2 == 0 {
			i := random.IntN(len(all))
			one := all[i]
			gone[one.word] = true
			if n%10 == 0 {
				storagetest.Update(t, s.DB, func(tx *storage.Tx) error {
					one.message.Body = new("other")
					return tx.UpgradeMessage(&one.message)
				})
			} else {
				s.delete(one.thread, one.message)
			}
			all = append(all[:i], all[i+1:]...)
		}
	}
	before := s.Erasures()
	is.True(before > 1000)
	s.say(threads[0], "nothing is erased here")
	is.Equal(s.Erasures(), before)

	s.catchUp()
	s.catchUp() // with the log
	emptied, err := s.EmptyLog(t.Context())
	is.NoErr(err)
	is.True(emptied)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(s.path), "*"))
	is.NoErr(err)
	words := regexp.MustCompile(`w[0-9]+x[0-9]+z`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		is.NoErr(err)
		left := make(map[string]bool)
		for _, w := range words.FindAll(content, -1) {
			if gone[string(w)] {
				left[string(w)] = true
			}
		}
		if len(left) > len(gone)/100 { // SQLite leaves few in unused parts of pages: see the guide to the inbox
			t.Errorf("%s holds %d of %d words", filepath.Base(file), len(left), len(gone))
		}
	}
	for _, one := range all[:50] { // and what was not erased is found
		is.Equal(s.finds(one.thread, one.word), []string{one.message.ID})
	}
}

// Who writes when the log is to be emptied does not wait for the readers that are in the way.
func TestAWriteDoesNotWaitUntilTheLogIsEmptied(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	reading, read := make(chan struct{}), make(chan struct{})
	done := make(chan error, 3)
	go func() {
		done <- db.View(t.Context(), func(rx *storage.Rx) error {
			_, err := rx.Organizations() // takes its snapshot, in which the log is needed
			close(reading)
			<-read
			return err
		})
	}()
	<-reading
	is.NoErr(db.Update(t.Context(), insert("first")))

	// Both are in one commit, after one that holds up the writer.
	holding, hold := make(chan struct{}), make(chan struct{})
	go func() {
		done <- db.Update(t.Context(), func(*storage.Tx) error { close(holding); <-hold; return nil })
	}()
	<-holding
	var emptied bool
	var emptiedAt, writtenAt time.Time
	var both sync.WaitGroup
	both.Go(func() {
		var err error
		emptied, err = db.EmptyLog(t.Context())
		emptiedAt = time.Now()
		if err != nil {
			t.Error(err)
		}
	})
	time.Sleep(200 * time.Millisecond) // it is queued
	both.Go(func() {
		if err := db.Update(t.Context(), insert("second")); err != nil {
			t.Error(err)
		}
		writtenAt = time.Now()
	})
	time.Sleep(200 * time.Millisecond)
	close(hold)
	both.Wait()
	is.True(!emptied)
	is.True(emptiedAt.Sub(writtenAt) > 10*time.Millisecond)

	close(read)
	is.NoErr(<-done)
	is.NoErr(<-done)
	emptied, err := db.EmptyLog(t.Context())
	is.NoErr(err)
	is.True(emptied)
}

// A long search that reads from the log of the index holds up the index for a moment only.
func TestTheIndexDoesNotWaitForWhoReadsFromItsLog(t *testing.T) {
	is := is.New(t)
	s := openSearching(t)
	h := newThread(t, s.DB, "106540352242922", "+15551234567")
	m := s.say(h, "words")
	s.catchUp()

	reader := sqlite.OpenCopy(s.path)
	defer reader.Close()
	rows, err := reader.Query(`SELECT docid FROM docs UNION ALL SELECT docid FROM texts`)
	is.NoErr(err)
	defer rows.Close()
	is.True(rows.Next()) // and stays there

	s.delete(h, m)
	began := time.Now()
	s.catchUp()
	s.catchUp()
	is.True(time.Since(began) < time.Second)

	is.NoErr(rows.Close())
	time.Sleep(time.Second) // it tries again
	s.catchUp()
	log, err := os.Stat(s.path + "-wal")
	is.NoErr(err)
	is.Equal(log.Size(), int64(0))
}
