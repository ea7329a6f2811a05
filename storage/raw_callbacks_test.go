package storage_test

import (
	"testing"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

func TestRawCallbacksAreKeptAsTheyCame(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for _, payload := range []string{"{}", "\x00\xff not JSON", "[]"} {
			if err := tx.InsertRawCallback(storage.RawCallback{Field: "history", Reason: "unused", Payload: []byte(payload)}); err != nil {
				return err
			}
		}
		return nil
	})
	all := view(t, db, func(rx *storage.Rx) ([]storage.RawCallback, error) { return rx.RawCallbacks(2) })
	is.Equal(len(all), 2) // the newest
	is.Equal(string(all[0].Payload), "[]")
	is.Equal(string(all[1].Payload), "\x00\xff not JSON")
	is.Equal(all[1].Field, "history")
	is.True(all[1].CreatedAt != 0)
}
