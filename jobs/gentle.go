package jobs

import (
	"context"
	"time"

	"confab/storage"
)

const (
	// holdFor is how long one step of bulk work should hold the writer.
	holdFor = 1500 * time.Microsecond
	// restFor is how many times as long the writer is left to others after a step.
	restFor = 3

	firstBatch = 50
	maxBatch   = 2000
)

// gentle does bulk work in steps that each hold the writer for a moment only,
// and leaves it to others for several times as long after each. The size of a
// step follows how long the last one took.
type gentle struct {
	db   *storage.DB
	size int
}

func newGentle(db *storage.DB) *gentle { return &gentle{db: db, size: firstBatch} }

// step runs fn in a transaction.
func (g *gentle) step(ctx context.Context, fn func(*storage.Tx) error) error {
	var held time.Duration
	err := g.db.Update(ctx, func(tx *storage.Tx) error {
		began := time.Now()
		defer func() { held = time.Since(began) }()
		return fn(tx)
	})
	if err != nil {
		return err
	}
	switch {
	case held > holdFor:
		g.size = max(1, g.size/2)
	case held < holdFor/3:
		g.size = min(maxBatch, g.size*2)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(restFor * held):
		return nil
	}
}

// repeat runs a delete of up to so many rows until it finds fewer.
func (g *gentle) repeat(ctx context.Context, delete func(tx *storage.Tx, limit int) (int64, error)) error {
	for {
		limit, n := g.size, int64(0)
		err := g.step(ctx, func(tx *storage.Tx) (err error) {
			n, err = delete(tx, limit)
			return err
		})
		if err != nil || n < int64(limit) {
			return err
		}
	}
}

// walk reads the places of rows from the oldest on, and hands them to delete,
// which takes a step.
func (g *gentle) walk(ctx context.Context, read func(rx *storage.Rx, after storage.Row, limit int) ([]storage.Row, error), delete func([]storage.Row) error) error {
	var after storage.Row
	for {
		var rows []storage.Row
		limit := g.size
		err := g.db.View(ctx, func(rx *storage.Rx) (err error) {
			rows, err = read(rx, after, limit)
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := delete(rows); err != nil {
			return err
		}
		if len(rows) < limit {
			return nil
		}
		after = rows[len(rows)-1]
	}
}
