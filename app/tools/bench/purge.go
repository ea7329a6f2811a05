package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"confab/app/tools/rig"
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
func (b *bench) purge(ctx context.Context) {
	if old := min(purgeMessages, b.messages); old > 0 {
		onInstallation(old, (*bench).measurePurge)(b, ctx)
	}
}

func (b *bench) measurePurge(ctx context.Context, o *installation) {
	full := fileSize(o.Dir)
	sends := load{
		address: o.Address, connections: purgeConnections, rate: purgeRate,
		length: b.length * time.Duration(b.rounds), request: o.message,
	}
	before := sends.run(ctx)

	stop := make(chan struct{})
	began := time.Now()
	awaitPurge := rig.Go(func() {
		defer close(stop)
		o.Command("purge", "--older-than", "1s")
	})
	sends.length, sends.stop = pollTimeout, stop
	during := sends.run(ctx)
	awaitPurge()
	took := time.Since(began)

	b.table.add(row{
		what:   fmt.Sprintf("p99 of a send at %d/s, nothing else going on", purgeRate),
		figure: fmt.Sprintf("%.2f ms", ms(rig.Percentile(before.waits, 99))),
		detail: latencyText(before.waits),
	})
	b.table.add(row{
		what:   fmt.Sprintf("the same while %d old messages are purged", o.past.messages),
		figure: fmt.Sprintf("%.2f ms", ms(rig.Percentile(during.waits, 99))),
		detail: fmt.Sprintf("%s; the purge took %.0f s", latencyText(during.waits), took.Seconds()),
	})

	rig.Check(o.db.Close())
	o.Stop() // which folds the log into the file
	b.table.add(row{
		what:   "database file, before and after the purge",
		figure: fmt.Sprintf("%.0f → %.0f MB", megabytes(full), megabytes(fileSize(o.Dir))),
	})
}

func fileSize(dir string) int64 { return rig.Must(os.Stat(storage.DatabaseFile(dir))).Size() }
