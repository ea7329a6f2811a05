package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"confab/storage"
)

const (
	purgeRate        = 500 // messages a second, while old ones are deleted
	purgeConnections = 16
	// purgeMessages is how many messages are deleted, unless -messages is less.
	purgeMessages = 200_000
)

// purge measures how long sends take before and during a purge of old messages, and how
// much the database file shrinks.
func (b *bench) purge(ctx context.Context) error {
	if old := min(purgeMessages, b.messages); old > 0 {
		return onInstallation(old, (*bench).measurePurge)(b, ctx)
	}
	return nil
}

func (b *bench) measurePurge(ctx context.Context, o *installation) error {
	full := fileSize(o.Dir)
	sends := load{
		address: o.Address, connections: purgeConnections, rate: purgeRate,
		length: b.length * time.Duration(b.rounds), request: o.message,
	}
	before, err := sends.run(ctx)
	if err != nil {
		return err
	}

	stop, purged := make(chan struct{}), make(chan error, 1)
	began := time.Now()
	go func() {
		defer close(stop)
		_, err := o.Command("purge", "--older-than", "1s")
		purged <- err
	}()

	sends.length, sends.stop = pollTimeout, stop
	during, err := sends.run(ctx)
	if err := errors.Join(err, <-purged); err != nil {
		return err
	}
	took := time.Since(began)

	b.table.add(row{
		what:      fmt.Sprintf("p99 of a send at %d/s, nothing else going on", purgeRate),
		callbacks: callbacksOff,
		figure:    fmt.Sprintf("%.2f ms", ms(percentile(before.waits, 99))),
		detail:    latencyText(before.waits),
	})
	b.table.add(row{
		what:      fmt.Sprintf("the same while %d old messages are purged", o.past.messages),
		callbacks: callbacksOff,
		figure:    fmt.Sprintf("%.2f ms", ms(percentile(during.waits, 99))),
		detail:    fmt.Sprintf("%s; the purge took %.0f s", latencyText(during.waits), took.Seconds()),
	})

	if err := errors.Join(o.db.Close(), o.Stop()); err != nil { // which folds the log into the file
		return err
	}
	b.table.add(row{
		what:   "database file, before and after the purge",
		figure: fmt.Sprintf("%.0f → %.0f MB", megabytes(full), megabytes(fileSize(o.Dir))),
	})
	return nil
}

func fileSize(dir string) int64 {
	info, err := os.Stat(storage.DatabaseFile(dir))
	if err != nil {
		return 0
	}
	return info.Size()
}
