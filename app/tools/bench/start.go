package main

import (
	"context"
	"fmt"
	"time"

	"confab/app/tools/rig"
)

// idleDelay is how long a server must have had nothing to do to count as idle.
const idleDelay = 2 * time.Second

// start measures how long a server takes from its start to its first answer, and how
// much memory it has when it is idle.
func (b *bench) start(ctx context.Context, o *installation) {
	var work []time.Duration
	medians := b.interleave(ctx, func() float64 {
		o.Stop()
		began := time.Now()
		o.Start()
		took := time.Since(began)
		work = append(work, o.Process().CPUTime())
		return ms(took)
	})
	b.table.addLimited(medians[0], 150, " ms", row{
		id:     "P16",
		what:   "start to first answer",
		detail: fmt.Sprintf("%.0f ms of processor", ms(rig.Percentile(work, 50))),
	})
	b.table.addLimited(megabytes(o.idleMemory(ctx)), 40, " MB", row{id: "P16", what: "memory, idle"})
}

// idleMemory returns the memory of a server that has had nothing to do for a while.
func (s *server) idleMemory(ctx context.Context) int64 {
	sleep(ctx, idleDelay)
	return s.Process().Memory()
}
