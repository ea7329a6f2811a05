package main

import (
	"os"
	"slices"
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
	stop   chan struct{}
	once   sync.Once
}

// watchServer takes a sample of a server every second until stopWatching.
func watchServer(s *rig.Server) *health {
	h := &health{stop: make(chan struct{})}

	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()

		for {
			select {
			case <-h.stop:
				return
			case <-tick.C:
				h.sample(s)
			}
		}
	}()
	return h
}

// stopWatching ends the samples. It may be called twice.
func (h *health) stopWatching() {
	h.once.Do(func() { close(h.stop) })
}

// sample takes one sample. The process may be down just now.
func (h *health) sample(s *rig.Server) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if resident, err := s.Memory(); err == nil && resident > 0 {
		h.memory = append(h.memory, resident)
	}

	if file, err := os.Stat(storage.DatabaseFile(s.Dir) + "-wal"); err == nil {
		h.log = max(h.log, file.Size())
	}
}

// longestLog returns the largest size that the write-ahead log has had.
func (h *health) longestLog() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.log
}

// memoryTrend returns the median memory of the second and of the last third of the
// trial. The first third is for warming up.
func (h *health) memoryTrend() (second, last int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	third := len(h.memory) / 3
	return median(h.memory[third : 2*third]), median(h.memory[2*third:])
}

func median(samples []int64) int64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[len(sorted)/2]
}
