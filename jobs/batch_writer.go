package jobs

import (
	"context"
	"time"

	"confab/jobs/queue"
	"confab/storage"
)

const (
	// maxHold is how long one step of bulk work should occupy the writer.
	maxHold = 1500 * time.Microsecond
	// restFactor is how many times as long the writer is left to others after a
	// step.
	restFactor = 3

	firstBatch = 50
	maxBatch   = 2000
)

// batchWriter does bulk work in steps. Each step is a transaction that occupies
// the writer briefly, and is followed by a rest of several times its length, so
// that others can write. The size of a step follows how long the last one took.
type batchWriter struct {
	db   *storage.DB
	size int // rows of the next step
}

func newBatchWriter(db *storage.DB) *batchWriter { return &batchWriter{db: db, size: firstBatch} }

// step runs fn in a transaction, adapts the size to the time it took, and rests.
func (b *batchWriter) step(ctx context.Context, fn func(*storage.Tx) error) error {
	var held time.Duration
	err := b.db.Update(ctx, func(tx *storage.Tx) error {
		began := time.Now()
		defer func() { held = time.Since(began) }()
		return fn(tx)
	})
	if err != nil {
		return err
	}

	switch {
	case held > maxHold:
		b.size = max(1, b.size/2)
	case held < maxHold/3:
		b.size = min(maxBatch, b.size*2)
	}

	if !queue.Pause(ctx, restFactor*held) {
		return ctx.Err()
	}
	return nil
}

// repeat calls change, which changes up to limit rows and returns how many they
// were, until it finds fewer than limit.
func (b *batchWriter) repeat(ctx context.Context, change func(tx *storage.Tx, limit int) (int64, error)) error {
	for {
		limit, n := b.size, int64(0)
		err := b.step(ctx, func(tx *storage.Tx) (err error) {
			n, err = change(tx, limit)
			return err
		})

		if err != nil || n < int64(limit) {
			return err
		}
	}
}

// readRows reads up to limit rows that follow after.
type readRows func(rx *storage.Rx, after storage.Row, limit int) ([]storage.Row, error)

// search reads what may be looked for among many other rows.
func (b *batchWriter) search(ctx context.Context, fn func(*storage.Rx) error) error {
	return b.db.Search(ctx, storage.InternalWork, fn)
}

// walk reads rows from the oldest on, outside of the writer, and hands each batch
// to change, which takes a step.
func (b *batchWriter) walk(ctx context.Context, read readRows, change func([]storage.Row) error) error {
	var after storage.Row
	for {
		var rows []storage.Row
		limit := b.size
		err := b.search(ctx, func(rx *storage.Rx) (err error) {
			rows, err = read(rx, after, limit)
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}

		if err := change(rows); err != nil {
			return err
		}
		if len(rows) < limit {
			return nil
		}
		after = rows[len(rows)-1]
	}
}

// changeFound changes rows that only a slow read finds: find looks for them
// outside of the writer, and returns none when there are no more after an id.
func (b *batchWriter) changeFound(
	ctx context.Context,
	find func(rx *storage.Rx, after int64) ([]int64, error),
	change func(*storage.Tx, []int64) error,
) error {
	var after int64
	for {
		var ids []int64
		err := b.search(ctx, func(rx *storage.Rx) (err error) {
			ids, err = find(rx, after)
			return err
		})
		if err != nil || len(ids) == 0 {
			return err
		}

		if err := b.step(ctx, func(tx *storage.Tx) error { return change(tx, ids) }); err != nil {
			return err
		}
		after = ids[len(ids)-1]
	}
}
