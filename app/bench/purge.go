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
	// purgeMessages are deleted, or as many as there should be at most.
	purgeMessages = 200_000
)

// purge measures how long messages take to be accepted before and while old ones
// are deleted, and how much of the file is given back.
func (b *bench) purge(ctx context.Context) error {
	old := min(purgeMessages, b.messages)
	if old == 0 {
		return nil
	}
	o, _, err := b.openOffice(ctx, old)
	if err != nil {
		return err
	}
	defer o.close()
	full := fileSize(o.Dir)
	before, err := b.steady(ctx, o, nil)
	if err != nil {
		return err
	}
	ended, began := make(chan error, 1), time.Now()
	go func() {
		_, err := o.Command("purge", "--older-than", "1s")
		ended <- err
	}()
	during, err := b.steady(ctx, o, ended)
	if err != nil {
		return err
	}
	took := time.Since(began)
	b.table.add(row{what: fmt.Sprintf("p99 of a send at %d/s, nothing else going on", purgeRate), callbacks: callbacksOff, figure: fmt.Sprintf("%.2f ms", ms(percentile(before, 99))), detail: waiting(before)})
	b.table.add(row{what: fmt.Sprintf("the same while %d old messages are purged", old), callbacks: callbacksOff, figure: fmt.Sprintf("%.2f ms", ms(percentile(during, 99))),
		detail: fmt.Sprintf("%s; the purge took %.0f s", waiting(during), took.Seconds())})
	if err := errors.Join(o.db.Close(), o.Stop()); err != nil { // which folds the log into the file
		return err
	}
	left := fileSize(o.Dir)
	b.table.add(row{what: "database file, before and after the purge", figure: fmt.Sprintf("%.0f → %.0f MB", megabytes(full), megabytes(left))})
	return nil
}

func fileSize(dir string) int64 {
	info, err := os.Stat(storage.DatabaseFile(dir))
	if err != nil {
		return 0
	}
	return info.Size()
}

// steady sends messages at a steady rate for the length of all rounds, or until
// ended says so, and returns how long each took from when it was due: one that
// has to wait for its turn counts as waiting.
func (b *bench) steady(ctx context.Context, o *office, ended <-chan error) (waits []time.Duration, err error) {
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
			mine, fault := keepTime(o.Address, first, every, stop, func() []byte { return o.message(n.Add(1)) })
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

// keepTime sends a request over one connection whenever one is due.
func keepTime(address string, due time.Time, every time.Duration, stop <-chan struct{}, request func() []byte) (waits []time.Duration, err error) {
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
