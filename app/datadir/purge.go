package datadir

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"confab/storage"
)

// PurgeProgress is one line of the server's answer to CommandPurge: the counts so far,
// and in the last line how the purge ended.
type PurgeProgress struct {
	Purged storage.PurgeCounts `json:"purged"`
	Ended  bool                `json:"ended"`
	Error  string              `json:"error,omitempty"`
}

// Purge deletes old data of the directory. If a server runs, the server does the work,
// with its own writer, and report is called with the counts so far. Otherwise
// withoutServer does it, under a lock that keeps servers from starting meanwhile. While
// a server starts or stops, Purge tries again until the server answers or is gone.
func (d Dir) Purge(
	ctx context.Context, what storage.PurgeScope, report func(storage.PurgeCounts), withoutServer func(context.Context) error,
) error {
	for giveUp := time.Now().Add(controlTimeout); ; {
		lock, err := d.LockShared()
		if err == nil {
			defer lock.Close()
			return withoutServer(ctx)
		}
		if !errors.Is(err, ErrServed) {
			return err
		}

		err = d.purgeThroughServer(ctx, what, report)
		if !notListening(err) || time.Now().After(giveUp) {
			return err
		}

		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(controlRetryPause):
		}
	}
}

// purgeThroughServer makes the running server purge, and reports its progress.
func (d Dir) purgeThroughServer(ctx context.Context, what storage.PurgeScope, report func(storage.PurgeCounts)) error {
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}

	return d.post(ctx, CommandPurge, bytes.NewReader(body), func(answer io.Reader) error {
		lines := json.NewDecoder(answer)
		for {
			var line PurgeProgress
			if err := lines.Decode(&line); err != nil {
				return cmp.Or(ctx.Err(), errors.New("the server stopped before the purge finished: run it again for the rest"))
			}

			report(line.Purged)
			switch {
			case line.Error != "":
				return errors.New("the running server: " + line.Error)
			case line.Ended:
				return nil
			}
		}
	})
}
