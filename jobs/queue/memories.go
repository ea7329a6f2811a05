package queue

import (
	"sync"
	"time"

	"confab/storage"
)

const (
	// memoryLife is how long a job may wait and still run from memory. After a
	// longer wait it must look at what has changed.
	memoryLife = time.Second
	// memoriesKept bounds the jobs that wait with their memory.
	memoriesKept = 4096
)

// memories are what jobs that wait for a place in their lane remember. Under
// load most of them wait, though not for long.
type memories struct {
	mu  sync.Mutex
	all map[int64]storage.Job
}

func newMemories() *memories { return &memories{all: make(map[int64]storage.Job)} }

// keep remembers what a job knows until it runs.
func (m *memories) keep(j storage.Job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.all) >= memoriesKept {
		clear(m.all) // most of them wait for long, or were cancelled
	}
	m.all[j.ID] = j
}

// give gives a job back what it knew, if that is still worth something.
func (m *memories) give(j *storage.Job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept, ok := m.all[j.ID]
	delete(m.all, j.ID)
	if ok && j.Runs == 1 && storage.Now() < kept.CreatedAt.Add(memoryLife) {
		j.Memory = kept.Memory
	}
}
