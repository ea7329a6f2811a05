package storage_test

import (
	"os"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// Under a load without a pause the log is emptied all the same, and mostly beside the
// writer.
func TestTheLogIsEmptiedBesideTheWriter(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	o.Synchronous = "normal" // what survives a power cut is tested elsewhere
	db := open(t, o)
	h := newThread(t, db, "100200", "+15550001111")

	const largest = 32 << 20 // twice what SQLite itself would let it become
	restarts, before := 0, int64(0)
	for range 60 {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			for range 400 {
				m := storage.Message{AccountID: h.account.ID, ConversationID: h.conversation.ID, ContactID: h.contact.ID, Direction: storage.Outbound,
					Type: "text", Status: storage.MessageQueued, Source: storage.SourceAPI, Content: make(storage.JSON, 2000)}
				if err := tx.InsertMessage(&m); err != nil {
					return err
				}
			}
			return nil
		})
		info, err := os.Stat(o.Path + "-wal")
		is.NoErr(err)
		is.True(info.Size() < largest)
		if waits := int64(db.WaitingPages()); waits < before {
			restarts++
			before = waits
		} else {
			before = waits
		}
	}
	is.True(db.Checkpoints() > 0)
	is.True(restarts > 0)
}
