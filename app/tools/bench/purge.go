package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
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
	old := min(purgeMessages, b.messages)
	if old == 0 {
		return nil
	}

	o, _, err := b.openInstallation(ctx, old)
	if err != nil {
		return err
	}
	defer o.close()

	full := fileSize(o.Dir)
	before, err := b.sendSteadily(ctx, o, nil)
	if err != nil {
		return err
	}

	ended, began := make(chan error, 1), time.Now()
	go func() {
		_, err := o.Command("purge", "--older-than", "1s")
		ended <- err
	}()

	during, err := b.sendSteadily(ctx, o, ended)
	if err != nil {
		return err
	}
	took := time.Since(began)

	b.table.add(row{
		what:      fmt.Sprintf("p99 of a send at %d/s, nothing else going on", purgeRate),
		callbacks: callbacksOff,
		figure:    fmt.Sprintf("%.2f ms", ms(percentile(before, 99))),
		detail:    latencyText(before),
	})
	b.table.add(row{
		what:      fmt.Sprintf("the same while %d old messages are purged", old),
		callbacks: callbacksOff,
		figure:    fmt.Sprintf("%.2f ms", ms(percentile(during, 99))),
		detail:    fmt.Sprintf("%s; the purge took %.0f s", latencyText(during), took.Seconds()),
	})

	if err := errors.Join(o.db.Close(), o.Stop()); err != nil { // which folds the log into the file
		return err
	}

	left := fileSize(o.Dir)
	b.table.add(row{
		what:   "database file, before and after the purge",
		figure: fmt.Sprintf("%.0f → %.0f MB", megabytes(full), megabytes(left)),
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

// sendSteadily sends messages at a steady rate for the length of all rounds, or until
// ended has a value. It returns how long each took from when it was due, so that a send
// that is late because of the one before counts as slow.
func (b *bench) sendSteadily(ctx context.Context, o *installation, ended <-chan error) (waits []time.Duration, err error) {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		n     atomic.Int64
	)

	stop := make(chan struct{})
	every := time.Second * purgeConnections / purgeRate
	began := time.Now()

	for i := range purgeConnections {
		group.Go(func() {
			first := began.Add(every * time.Duration(i) / purgeConnections)
			mine, fault := sendOnSchedule(o.Address, first, every, stop, func() []byte { return o.message(n.Add(1)) })
			mu.Lock()
			defer mu.Unlock()
			waits, err = append(waits, mine...), errors.Join(err, fault)
		})
	}

	var fault error
	if ended == nil {
		select {
		case <-time.After(b.length * time.Duration(b.rounds)):
		case <-ctx.Done():
			fault = ctx.Err()
		}
	} else {
		fault = <-ended
	}

	close(stop)
	group.Wait()
	return waits, errors.Join(err, fault)
}

// sendOnSchedule sends a request over one connection whenever one is due.
func sendOnSchedule(
	address string, due time.Time, every time.Duration, stop <-chan struct{}, request func() []byte,
) (waits []time.Duration, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()

	reader := bufio.NewReaderSize(conn, 16<<10)
	for ; ; due = due.Add(every) {
		select {
		case <-stop:
			return waits, nil
		case <-time.After(time.Until(due)):
		}

		if _, err := conn.Write(request()); err != nil {
			return waits, err
		}
		status, err := readAnswer(reader)
		if err == nil && status != 200 {
			err = fmt.Errorf("answered %d, not 200", status)
		}
		if err != nil {
			return waits, err
		}

		waits = append(waits, time.Since(due))
	}
}
