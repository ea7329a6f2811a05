package main

import (
	"context"
	"errors"
	"time"

	"confab/storage"
)

// lockDatabase lets another process hold the write lock of the server's database, as a
// command or somebody's SQLite shell may do.
func (t *trial) lockDatabase(_ context.Context, length time.Duration) error {
	_, err := t.self.Run("lock", t.server.Dir, length.String())
	return err
}

// holdLock opens a database that another process serves, and holds its write lock for
// a time. The arguments are the data directory and the time.
func holdLock(args []string) error {
	dir := args[0]
	length, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	key, err := storage.LoadMasterKey(dir, "")
	if err != nil {
		return err
	}
	db, err := storage.Open(storage.Options{
		Path: storage.DatabaseFile(dir), MasterKey: key, Readers: 1, Served: true, SkipCheck: true,
	})
	if err != nil {
		return err
	}
	defer db.Close()

	// The server takes the lock again and again, so that it may take a while to get it.
	for {
		err := db.Update(context.Background(), func(*storage.Tx) error {
			time.Sleep(length)
			return nil
		})
		if !errors.Is(err, storage.ErrUnavailable) {
			return err
		}
	}
}
