package storage

import "context"

// Query reads one thing in a view.
func Query[T any](ctx context.Context, db *DB, read func(*Rx) (T, error)) (found T, err error) {
	err = db.View(ctx, func(rx *Rx) (err error) {
		found, err = read(rx)
		return err
	})
	return found, err
}
