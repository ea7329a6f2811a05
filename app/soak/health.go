package main

import (
	"os"
	"slices"
	"sync"
	"time"

	"confab/app/rig"
	"confab/storage"
)

// health is how the server fared: its memory and its write-ahead log over time.
type health struct {
	mu     sync.Mutex
	memory []int64
	log    int64 // the longest it was
	stop   chan struct{}
	once   sync.Once
}

// watch looks at a server every second until told to stop.
func watch(s *rig.Server) *health {
	h := &health{stop: make(chan struct{})}
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-h.stop:
				return
			case <-tick.C:
				h.look(s)
			}
		}
	}()
	return h
}

// end stops watching.
func (h *health) end() {
	h.once.Do(func() { close(h.stop) })
}

// look takes one sample. The process may be down just now.
func (h *health) look(s *rig.Server) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if resident, err := s.Memory(); err == nil && resident > 0 {
		h.memory = append(h.memory, resident)
	}
	if file, err := os.Stat(storage.DatabaseFile(s.Dir) + "-wal"); err == nil {
		h.log = max(h.log, file.Size())
	}
}

// flatness compares the memory of the last third with that of the second: the
// first is for warming up.
func (h *health) flatness() (second, last int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	third := len(h.memory) / 3
	return middle(h.memory[third : 2*third]), middle(h.memory[2*third:])
}

func middle(samples []int64) int64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[len(sorted)/2]
}
