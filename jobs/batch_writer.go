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
	// restFactor is how many times as long others have the writer after a step.
	restFactor = 3

	firstBatch = 50
	maxBatch   = 2000
)

// batchWriter does bulk work in steps. Each step is a transaction that occupies
// the writer briefly, and is followed by a rest of several times its length, so
// that others can write. The size of a step follows how long the last one took.
type batchWriter struct {
	db        *storage.DB
	size      int    // rows of the next step
	afterStep func() // nil for none
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
	if b.afterStep != nil {
		b.afterStep()
	}
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

// walk changes rows that only a slow read finds, a batch in each step: find looks for up to limit
// rows that follow one, outside of the writer, and returns none when there are no more.
func walk[T any](
	ctx context.Context, b *batchWriter,
	find func(rx *storage.Rx, after T, limit int) ([]T, error), change func(*storage.Tx, []T) error,
) error {
	var after T
	for {
		var found []T
		err := b.db.Search(ctx, storage.InternalWork, func(rx *storage.Rx) (err error) {
			found, err = find(rx, after, b.size)
			return err
		})
		if err != nil || len(found) == 0 {
			return err
		}

		if err := b.step(ctx, func(tx *storage.Tx) error { return change(tx, found) }); err != nil {
			return err
		}
		after = found[len(found)-1]
	}
}
