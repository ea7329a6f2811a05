package main

import (
	"context"
	"fmt"
	"time"
)

// idleDelay is how long a server must have had nothing to do to count as idle.
const idleDelay = 2 * time.Second

// start measures how long a server takes from its start to its first answer, and how
// much memory it has when it is idle.
func (b *bench) start(ctx context.Context, o *installation) error {
	var work []time.Duration
	medians, err := b.interleave(ctx, func() (float64, error) {
		if err := o.Stop(); err != nil {
			return 0, err
		}
		began := time.Now()
		if err := o.Start(); err != nil {
			return 0, err
		}
		took := time.Since(began)

		used, err := o.CPUTime()
		work = append(work, used)
		return ms(took), err
	})
	if err != nil {
		return err
	}
	b.table.addLimited(medians[0], 150, " ms", row{
		id:     "P16",
		what:   "start to first answer",
		detail: fmt.Sprintf("%.0f ms of processor", ms(percentile(work, 50))),
	})

	idle, err := o.idleMemory(ctx)
	if err != nil {
		return err
	}
	b.table.addLimited(megabytes(idle), 40, " MB", row{id: "P16", what: "memory, idle"})
	return nil
}

// idleMemory returns the memory of a server that has had nothing to do for a while.
func (s *server) idleMemory(ctx context.Context) (int64, error) {
	select {
	case <-time.After(idleDelay):
		return s.Memory()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
