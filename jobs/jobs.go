// Package jobs is each thing that is done from the queue. Package queue runs
// them; what they need is in Workers.
package jobs

import (
	"log/slog"

	"confab/jobs/queue"
	"confab/storage"
)

// Workers is what job handlers need.
type Workers struct {
	DB         *storage.DB
	Log        *slog.Logger
	APILogDays int
}

// Kinds lists every kind of job, the most urgent first.
func (w *Workers) Kinds() []queue.Kind {
	return []queue.Kind{
		{Name: kindHousekeeping, Handle: w.keepHouse, Workers: 1, Every: housekeepingEvery, Lease: housekeepingEvery},
	}
}
