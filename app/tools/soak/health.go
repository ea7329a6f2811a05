package main

import (
	"context"
	"os"
	"sync"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

// health records the memory of the server and the size of its write-ahead log over time.
type health struct {
	mu     sync.Mutex
	memory []int64
	log    int64 // largest size of the write-ahead log
}

// watch takes a sample of a server every second until ctx ends. The process may be down at
// any of them.
func (h *health) watch(ctx context.Context, s *rig.Server) {
	for sleep(ctx, time.Second) {
		h.mu.Lock()
		if resident, err := s.Memory(); err == nil && resident > 0 {
			h.memory = append(h.memory, resident)
		}
		if file, err := os.Stat(storage.DatabaseFile(s.Dir) + "-wal"); err == nil {
			h.log = max(h.log, file.Size())
		}
		h.mu.Unlock()
	}
}

// summarize returns the median memory of the second and of the last third of the trial,
// and the largest size that the write-ahead log has had. The first third is for warming up.
func (h *health) summarize() (memory [2]int64, log int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	third := len(h.memory) / 3
	return [2]int64{percentile(h.memory[third:2*third], 50), percentile(h.memory[2*third:], 50)}, h.log
}
