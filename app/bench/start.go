package main

import (
	"context"
	"fmt"
	"time"
)

// settling is how long a server has nothing to do before it counts as idle.
const settling = 2 * time.Second

// start measures how long a server takes to answer, and how much memory it has
// when it does nothing.
func (b *bench) start(ctx context.Context) error {
	o, _, err := b.openOffice(ctx, 0)
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
		used, err := o.Processor()
		work = append(work, used)
		return ms(o.Ready()), err
	})
	if err != nil {
		return err
	}
	b.table.add(row{id: "P16", what: "start to first answer", figure: fmt.Sprintf("%.0f ms", medians[0]),
		detail: fmt.Sprintf("%.0f ms of processor", ms(percentile(work, 50))), goal: atMost(medians[0], 150, " ms")})
	select {
	case <-time.After(settling):
	case <-ctx.Done():
		return ctx.Err()
	}
	idle, err := o.Memory()
	if err != nil {
		return err
	}
	b.table.add(row{id: "P16", what: "memory, idle", figure: fmt.Sprintf("%.0f MB", megabytes(idle)), goal: atMost(megabytes(idle), 40, " MB")})
	return nil
}
