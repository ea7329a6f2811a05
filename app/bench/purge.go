package main

import (
	"bufio"
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
)

// purge measures how long messages take to be accepted before and while old ones
// are deleted, and how much of the file is given back.
func (b *bench) purge() error {
	o, err := b.openPostOffice()
	if o != nil {
		defer o.close()
	}
	if err != nil {
		return err
	}
	if err := b.prefill(o.db, o.provider.PhoneNumberID); err != nil {
		return err
	}
	if err := drained(o.db); err != nil {
		return err
	}
	full := fileSize(o.dir)
	before, err := b.steady(o, nil)
	if err != nil {
		return err
	}
	ended, began := make(chan error, 1), time.Now()
	go func() {
		_, err := o.command(b.confab, "purge", "--older-than", "1s")
		ended <- err
	}()
	during, err := b.steady(o, ended)
	if err != nil {
		return err
	}
	took := time.Since(began)
	b.add(fmt.Sprintf("POST message accepted at %d/s", purgeRate), fmt.Sprintf("p50 %.2f ms", ms(percentile(before, 50))), fmt.Sprintf("p99 %.2f ms", ms(percentile(before, 99))))
	b.add(fmt.Sprintf("the same while %d old ones are purged in %.0f s", b.messages, took.Seconds()), fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", ms(percentile(during, 50)), ms(percentile(during, 99))),
		times(ms(percentile(during, 99)), ms(percentile(before, 99)))+" p99 before")
	if err := o.settleFile(); err != nil {
		return err
	}
	left := fileSize(o.dir)
	b.add("database file, before and after the purge", fmt.Sprintf("%d → %d MB", full>>20, left>>20), times(float64(left), float64(full)))
	return nil
}

// settleFile stops the server, so that the log is folded into the file.
func (o *postOffice) settleFile() error {
	o.cmd.Process.Signal(os.Interrupt)
	return errors.Join(o.cmd.Wait(), o.db.Close())
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
func (b *bench) steady(o *postOffice, ended <-chan error) (waits []time.Duration, err error) {
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
			mine, fault := keepTime(o.address, first, every, stop, func() []byte { return o.message(o.provider, n.Add(1)) })
			mu.Lock()
			defer mu.Unlock()
			waits, err = append(waits, mine...), errors.Join(err, fault)
		})
	}
	var fault error
	if ended == nil {
		time.Sleep(b.length * time.Duration(b.rounds))
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
		if status, err := readAnswer(reader); err != nil || status != 200 {
			return waits, fmt.Errorf("answered %d: %w", status, err)
		}
		waits = append(waits, time.Since(due))
	}
}
