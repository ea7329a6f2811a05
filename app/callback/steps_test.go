package callback

import (
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// Each message of a callback makes a delivery for each subscription: a callback of many
// messages is committed in steps, and every message is there once all the same.
func TestALargeCallbackLeavesTheWriterToOthers(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	var watching atomic.Bool
	var before int
	var added []int
	where := storagetest.Options(t, dir)
	where.OnCommit = func(storage.Commit) {
		if watching.Load() {
			now := storagetest.Select[int](t, dir, `SELECT count(*) FROM deliveries`)[0]
			added = append(added, now-before)
			before = now
		}
	}
	db, err := storage.Open(where)
	is.NoErr(err)
	defer db.Close()
	l := &line{t: t, is: is, dir: dir, server: New(Options{DB: db, AppSecret: secret, VerifyToken: token, Log: slog.New(slog.DiscardHandler)})}
	l.tenant = storagetest.Seed(t, db, "Acme")
	l.account = storagetest.Connect(t, db, l.tenant, ourNumber)
	for i := range 30 {
		storagetest.Subscribe(t, db, l.tenant, fmt.Sprintf("https://h%d.test", i), "message.received")
	}

	var messages []string
	for i := range 40 {
		messages = append(messages, hello(fmt.Sprint("wamid.", i), "Hi"))
	}
	watching.Store(true)
	l.hear(messages...)

	// A commit is reported after its callers were answered, and before the next one.
	nothing := func(*storage.Tx) error { return nil }
	storagetest.Update(t, db, nothing)
	watching.Store(false)
	storagetest.Update(t, db, nothing)
	is.Equal(before, 40*30)
	is.True(slices.Max(added) <= 300)
	l.hear(messages...) // repeated: nothing comes twice
	is.Equal(storagetest.Select[int](t, dir, `SELECT count(*) FROM deliveries`)[0], 40*30)
}
