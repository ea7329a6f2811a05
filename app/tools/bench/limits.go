package main

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// limits measures how fast the disk syncs. The other limits of the machine are measured
// beside what they limit: HTTP in the part reading, the delivering client in drain.
func (b *bench) limits(ctx context.Context) error {
	f, err := os.Create(filepath.Join(b.dir, "synced"))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()

	page := make([]byte, 4096)
	var waits []time.Duration

	medians, err := b.interleave(ctx, func() (float64, error) {
		began, n := time.Now(), 0
		for ; time.Since(began) < b.length; n++ {
			wrote := time.Now()
			if _, err := f.Write(page); err != nil {
				return 0, err
			}
			if err := f.Sync(); err != nil {
				return 0, err
			}
			waits = append(waits, time.Since(wrote))
		}
		return float64(n) / time.Since(began).Seconds(), nil
	})
	if err != nil {
		return err
	}

	b.table.add(row{
		what:   "machine: 4 KB appended and synced to the disk",
		figure: perSecond(medians[0]),
		detail: latencyText(waits),
	})
	return nil
}
