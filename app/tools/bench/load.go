package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"confab/app/tools/rig"
)

// load is requests over several connections, each after the answer to the one before. It
// does not use the client of net/http, which would cost more processor time than the server that
// is measured.
type load struct {
	address     string
	connections int
	length      time.Duration
	request     func() []byte // the next one
	rate        int           // requests a second over all connections; 0 is as many as are answered
}

// run keeps the connections busy for the length of the load. With a rate, a request takes
// from when it was due, so that one that is late because of the one before counts as slow.
func (l load) run() (r round) {
	waits := make([][]time.Duration, l.connections)
	began := time.Now()
	rig.RunParallel(l.connections, func(i int) { waits[i] = l.sendOver(began, i) })

	r.waits = slices.Concat(waits...)
	r.count = len(r.waits)
	r.perSecond = float64(r.count) / time.Since(began).Seconds()
	return r
}

// sendOver sends requests over the nth connection, and at least one. It returns how long
// each took.
func (l load) sendOver(began time.Time, n int) (waits []time.Duration) {
	conn := rig.Must(net.Dial("tcp", l.address))
	defer conn.Close()

	var every time.Duration
	if l.rate > 0 {
		every = time.Second * time.Duration(l.connections) / time.Duration(l.rate)
	}
	due := began.Add(every * time.Duration(n) / time.Duration(l.connections))

	reader := bufio.NewReaderSize(conn, 16<<10)
	for len(waits) == 0 || time.Since(began) < l.length {
		if every == 0 {
			due = time.Now()
		}
		time.Sleep(time.Until(due))

		rig.Must(conn.Write(l.request()))
		res := rig.Must(http.ReadResponse(reader, nil))
		rig.Must(io.Copy(io.Discard, res.Body))
		rig.Require(res.StatusCode < 300, "answered %d", res.StatusCode)

		waits = append(waits, time.Since(due))
		due = due.Add(every)
	}
	return waits
}
