package storage_test

import (
	"context"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// two stores two organizations; what belongs to one must be out of the other's reach.
func two(t *testing.T, db *storage.DB) (ours, theirs storagetest.Tenant) {
	t.Helper()
	return storagetest.Seed(t, db, "ours"), storagetest.Seed(t, db, "theirs")
}

// view reads something that must be there.
func view[T any](t *testing.T, db *storage.DB, fn func(*storage.Rx) (T, error)) T {
	t.Helper()
	var got T
	storagetest.View(t, db, func(rx *storage.Rx) (err error) {
		got, err = fn(rx)
		return err
	})
	return got
}

// update changes something, which must succeed, and returns what fn returns.
func update[T any](t *testing.T, db *storage.DB, fn func(*storage.Tx) (T, error)) T {
	t.Helper()
	var got T
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
		got, err = fn(tx)
		return err
	})
	return got
}

// viewErr is view for what may fail.
func viewErr[T any](db *storage.DB, fn func(*storage.Rx) (T, error)) (v T, err error) {
	err = db.View(context.Background(), func(rx *storage.Rx) (err error) {
		v, err = fn(rx)
		return err
	})
	return v, err
}
