package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"confab/app/tools/rig"
)

// load is requests over several connections, each after the answer to the one before. It
// does not use net/http, whose client would cost more processor time than the server that
// is measured.
type load struct {
	address     string
	connections int
	length      time.Duration
	request     func() []byte   // the next one
	status      int             // of every answer; 0 is 200
	rate        int             // requests a second over all connections; 0 is as many as are answered
	each        int             // how many messages a request holds; 0 is 1
	stop        <-chan struct{} // closed to end it before its length; nil for never
}

// run keeps the connections busy for the length of the load. With a rate, a request takes
// from when it was due, so that one that is late because of the one before counts as slow.
func (l load) run(ctx context.Context) (r round) {
	waits := make([][]time.Duration, l.connections)
	began := time.Now()
	rig.RunParallel(l.connections, func(i int) { waits[i] = l.sendOver(ctx, began, i) })
	rig.Check(ctx.Err())

	r.waits = slices.Concat(waits...)
	r.count = len(r.waits) * max(1, l.each)
	r.perSecond = float64(r.count) / time.Since(began).Seconds()
	return r
}

// sendOver sends requests over the nth connection, and at least one. It returns how long
// each took.
func (l load) sendOver(ctx context.Context, began time.Time, n int) (waits []time.Duration) {
	conn := rig.Must(net.Dial("tcp", l.address))
	defer conn.Close()

	var every time.Duration
	if l.rate > 0 {
		every = time.Second * time.Duration(l.connections) / time.Duration(l.rate)
	}
	due := began.Add(every * time.Duration(n) / time.Duration(l.connections))
	want := cmp.Or(l.status, http.StatusOK)

	reader := bufio.NewReaderSize(conn, 16<<10)
	for len(waits) == 0 || time.Since(began) < l.length && ctx.Err() == nil {
		if every == 0 {
			due = time.Now()
		}
		select {
		case <-l.stop:
			return waits
		default:
			time.Sleep(time.Until(due))
		}

		rig.Must(conn.Write(l.request()))
		if status := rig.Must(readAnswer(reader)); status != want {
			rig.Check(fmt.Errorf("answered %d, not %d", status, want))
		}

		waits = append(waits, time.Since(due))
		due = due.Add(every)
	}
	return waits
}

// readAnswer reads one answer with a Content-Length and returns its status.
func readAnswer(r *bufio.Reader) (status int, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 12 {
		return 0, fmt.Errorf("answered %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}

	length := 0
	for {
		if line, err = r.ReadSlice('\n'); err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}

	_, err = io.CopyN(io.Discard, r, int64(length))
	return status, err
}
