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
func (b *bench) start(ctx context.Context) error {
	o, _, err := b.openInstallation(ctx, 0)
	if err != nil {
		return err
	}
	defer o.close()

	var work []time.Duration
	medians, err := b.interleave(ctx, func() (float64, error) {
		if err := o.Stop(); err != nil {
			return 0, err
		}
		if err := o.Start(); err != nil {
			return 0, err
		}

		used, err := o.CPUTime()
		work = append(work, used)
		return ms(o.StartDuration()), err
	})
	if err != nil {
		return err
	}

	b.table.add(row{
		id:     "P16",
		what:   "start to first answer",
		figure: fmt.Sprintf("%.0f ms", medians[0]),
		detail: fmt.Sprintf("%.0f ms of processor", ms(percentile(work, 50))),
		goal:   atMost(medians[0], 150, " ms"),
	})

	select {
	case <-time.After(idleDelay):
	case <-ctx.Done():
		return ctx.Err()
	}

	idle, err := o.Memory()
	if err != nil {
		return err
	}

	b.table.add(row{
		id:     "P16",
		what:   "memory, idle",
		figure: fmt.Sprintf("%.0f MB", megabytes(idle)),
		goal:   atMost(megabytes(idle), 40, " MB"),
	})
	return nil
}
