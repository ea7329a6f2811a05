package main

import "time"

// start measures how long a server takes from its start to its first answer, and how
// much memory it has when it is idle.
func (b *bench) start(o *installation) {
	medians := b.interleave(func() float64 {
		o.Stop()
		began := time.Now()
		o.Start()
		return ms(time.Since(began))
	})
	b.table.addLimited("P16", "start to first answer", medians[0], 150, " ms", "")
	b.table.addLimited("P16", "memory, idle", megabytes(o.idleMemory()), 40, " MB", "")
}

func (s *server) idleMemory() int64 {
	time.Sleep(2 * time.Second)
	return s.Memory()
}
