package queue

import (
	"sync"
	"time"

	"confab/storage"
)

const (
	// memoryLife is how long a job may wait and still get its Memory back. After
	// that it may be out of date, and the job reads the database.
	memoryLife = time.Second
	// maxMemories bounds the jobs whose Memory is kept.
	maxMemories = 4096
)

// memoryCache keeps the Memory of jobs that wait for a place in their lane or for
// a worker. Under load most jobs wait, though not for long.
type memoryCache struct {
	mu  sync.Mutex
	all map[int64]memory
}

// memory is the Memory of a job, and since when it is kept.
type memory struct {
	value any
	since time.Time
}

// keep keeps the Memory of a job until it runs.
func (m *memoryCache) keep(j storage.Job) {
	m.mu.Lock()
	defer m.mu.Unlock()

	// So many are the sign of long waits, after which none of them is of use.
	if len(m.all) >= maxMemories {
		clear(m.all)
	}
	m.all[j.ID] = memory{j.Memory, time.Now()}
}

// restore gives a job its Memory back for its first run, if it is not too old.
func (m *memoryCache) restore(j *storage.Job) {
	m.mu.Lock()
	defer m.mu.Unlock()

	kept, ok := m.all[j.ID]
	delete(m.all, j.ID)
	if ok && j.Runs == 1 && time.Since(kept.since) < memoryLife {
		j.Memory = kept.value
	}
}
