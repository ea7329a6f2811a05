package storage_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestADatabaseThatWasPutBackDiffers(t *testing.T) {
	is := is.New(t)
	kept := storage.Progress{Epoch: "a", Event: 7, Commit: 3}
	for p, differs := range map[storage.Progress]bool{
		{Epoch: "a", Event: 7, Commit: 3}: false,
		{Epoch: "a", Event: 9, Commit: 4}: false, // killed before the file was written
		{Epoch: "a", Event: 6, Commit: 3}: true,
		{Epoch: "a", Event: 7, Commit: 2}: true, // nothing but a commit is missing
		{Epoch: "b", Event: 9, Commit: 4}: true,
	} {
		is.Equal(p.Differs(&kept) != "", differs)
	}
	is.Equal(storage.Progress{Epoch: "a", Event: 7}.Differs(nil), "") // of a release that kept nothing
	is.True(kept.Differs(nil) != "")                                  // it left its directory
}

// The number that says how far a database has come moves when something was stored, and
// stays when nothing was, so that a server that has nothing to do writes nothing.
func TestOnlyCommitsThatChangeSomethingCount(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	before := db.Changes()
	storagetest.Update(t, db, func(tx *storage.Tx) error { _, err := tx.Progress(); return err })
	is.Equal(db.Changes(), before)
	var p storage.Progress
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) { p, err = tx.CountCommit(); return err })
	is.Equal(db.Changes(), before+1)
	is.Equal(p.Commit, int64(1))
	storagetest.Update(t, db, func(tx *storage.Tx) error { _, err := tx.Progress(); return err })
	is.Equal(db.Changes(), before+1) // what the commit before has changed is nothing of this one
}

// A restored database has left the directory in which it was counted, and its sends may
// have gone out since. The clock of the machine where it was made may have been ahead of this one.
func TestARestoredDatabaseIsHeldBack(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"same clock": 0, "an hour ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			clock := new(storagetest.Clock)
			clock.Set(ahead)
			o := newFile(t)
			o.Now = clock.Now
			db := open(t, o)
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				for _, j := range []storage.NewJob{
					{Kind: "send", Args: storagetest.Args(1)},
					{Kind: "broadcast.send", Args: storagetest.Args(2)},
					{Kind: "send", Args: storagetest.Args(3), DueAt: tx.Now.Add(3600e9)},
					{Kind: "deliver", Args: storagetest.Args(4)},
					{Kind: "send", Args: storagetest.Args(5)},
				} {
					if _, err := tx.Enqueue(j); err != nil {
						return err
					}
				}
				_, err := tx.CountCommit()
				return err
			})
			is.NoErr(db.Close())
			storagetest.Exec(t, filepath.Dir(o.Path), `UPDATE jobs SET state = 'failed' WHERE args = '5'`) // and a person may have retried it since
			is.NoErr(storage.HoldRestored(o.Path))
			is.Equal(column(t, o.Path, `SELECT args FROM jobs WHERE call_begun_at <> 0 ORDER BY id`), []string{"1", "2", "5"})
			is.Equal(len(column(t, o.Path, `SELECT value FROM meta WHERE name = 'commit'`)), 0)
		})
	}
}

// What another process has committed is a change too, once it is noticed.
func TestCommitsOfOtherProcessesCount(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	db, other := open(t, o), open(t, o)
	storagetest.Update(t, db, func(*storage.Tx) error { return nil })
	before := db.Changes()
	storagetest.Update(t, other, insert("elsewhere"))
	storagetest.Update(t, db, func(*storage.Tx) error { return nil })
	is.Equal(db.Changes(), before+1)
	storagetest.Update(t, db, func(*storage.Tx) error { return nil })
	is.Equal(db.Changes(), before+1)
}

// Rows are dated in their order also where the clock was set back, and what waits in its lane is
// held back then too.
func TestADatabaseThatWasPutBackIsHeldBackInTheOrderOfItsRows(t *testing.T) {
	is := is.New(t)
	clock := new(storagetest.Clock)
	clock.Set(time.Hour)
	o := newFile(t)
	o.Now = clock.Now
	db := open(t, o)
	h := newThread(t, db, "106540352242922", "+15551234567")
	b := storage.Broadcast{
		AccountID: h.account.ID, Name: "Sale", Content: storage.JSON(`{}`), TemplateName: "sale", TemplateLanguage: "en",
		AudienceType: storage.AudienceRecipients, Status: storage.BroadcastRunning,
	}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		if err := tx.InsertBroadcast(&b); err != nil {
			return err
		}
		b.Status = storage.BroadcastRunning
		if err := tx.PublishBroadcast(&b); err != nil {
			return err
		}
		_, err := tx.Enqueue(storage.NewJob{Kind: "send", Args: storagetest.Args(1)})
		return err
	})
	storagetest.Exec(t, filepath.Dir(o.Path), `UPDATE jobs SET state = 'held'`)
	clock.Set(0)
	storagetest.Update(t, db, (*storage.Tx).HoldBack)

	var now storage.Broadcast
	storagetest.View(t, db, func(rx *storage.Rx) (err error) { now, err = rx.BroadcastByNumber(b.Number); return err })
	is.Equal(now.Status, storage.BroadcastPaused)
	is.True(now.UpdatedAt >= b.UpdatedAt)
	is.Equal(len(column(t, o.Path, `SELECT args FROM jobs WHERE call_begun_at <> 0`)), 1)
}
