package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"confab/app/tools/rig"
)

const (
	// streamReaders follow events while streamEvents a second happen.
	streamReaders, streamEvents = 50, 1000
	// idleStreams are opened to see what they take.
	idleStreams = 100
	// openStreams is how many streams are open while messages are sent: some are read, most
	// are idle, and of those some are dead.
	openStreams = 500
	// perOrganization is how many streams an organization may have.
	perOrganization = 20
)

// streams measures how late events come to their readers, what idle ones take, and what
// all sorts of them cost those who send.
func (b *bench) streams(o *installation) {
	keys := []string{o.api.Key}
	for len(keys) < openStreams/perOrganization {
		_, key := o.NewOrganization("Bench")
		keys = append(keys, key)
	}

	before := o.Memory()
	idle := o.openStreams(keys[:idleStreams/perOrganization], idleStreams)
	used := megabytes(o.idleMemory() - before)
	closeAll(idle)
	b.table.addLimited("P18", fmt.Sprintf("memory of %d idle streams", idleStreams), used, 15, " MB", "")

	b.measureReaders(o, keys[:3])
	b.measureSendsBeside(o, senders, fmt.Sprintf("%d streams are open", openStreams), 0.95, func() func() {
		all := o.openStreams(keys, openStreams)
		for i := 0; i < len(all); i += 2 { // half of them are read, the others are dead
			go io.Copy(io.Discard, all[i].lines)
		}
		return func() { closeAll(all) }
	})
}

// stream is a connection on which the server writes lines as things happen.
type stream struct {
	net.Conn
	lines *bufio.Reader
}

// openStream opens a stream, and returns when a line came that begins with first; nil if too many
// are open.
func openStream(address, path, header, first string) *stream {
	conn := rig.Must(net.Dial("tcp", address))
	s := &stream{conn, bufio.NewReaderSize(conn, 64<<10)}
	rig.Must(s.Write(formatRequest(address, "GET", path, "", header)))
	res := rig.Must(http.ReadResponse(s.lines, nil))
	if res.StatusCode == http.StatusTooManyRequests {
		s.Close()
		return nil
	}
	rig.Require(res.StatusCode == http.StatusOK, "a stream was answered %s", res.Status)

	for line := []byte(nil); !bytes.HasPrefix(line, []byte(first)); {
		line = rig.Must(s.lines.ReadSlice('\n'))
	}
	return s
}

// openStreams opens streams of events, spread over the organizations of the keys. They
// begin with their position.
func (s *server) openStreams(keys []string, count int) (all []*stream) {
	for len(all) < count {
		poll(10*time.Millisecond, func() bool {
			one := openStream(s.Address, "/v1/events/stream", "Authorization: Bearer "+keys[len(all)%len(keys)], "id: ")
			if one != nil {
				all = append(all, one)
			}
			return one != nil // else those of the last measurement are about to be closed
		})
	}
	return all
}

func closeAll(all []*stream) {
	for _, s := range all {
		s.Close()
	}
}

// measureReaders measures how long after an event was stored its readers have it. They
// are of three organizations, because one may not have so many.
func (b *bench) measureReaders(o *installation, keys []string) {
	all := o.openStreams(keys, streamReaders)
	delays := make([][]time.Duration, len(all))
	awaitReaders := rig.Go(func() {
		rig.RunParallel(len(all), func(i int) { delays[i] = readDelays(all[i].lines) })
	})

	var n atomic.Int64
	made := load{
		address: o.Address, connections: senders, length: time.Duration(b.rounds) * b.length, rate: streamEvents,
		request: func() []byte {
			key := keys[n.Add(1)%int64(len(keys))]
			return formatRequest(o.Address, "POST", "/v1/customers", `{"name":"Bakery"}`, "Authorization: Bearer "+key)
		},
	}.run()
	time.Sleep(time.Second) // for the last of them
	closeAll(all)
	awaitReaders()

	// Each event goes to the readers of one organization, a third of all.
	late, want := slices.Concat(delays...), made.count*(streamReaders/len(keys))
	rig.Require(len(late) >= want, "readers got %d events, not %d", len(late), want)
	b.table.addLimited("P22", fmt.Sprintf("event stored → read, %d readers at %s, p99", streamReaders, perSecond(made.perSecond)),
		ms(rig.Percentile(late, 99)), 100, " ms", fmt.Sprintf("p50 %.1f ms", ms(rig.Percentile(late, 50))))
}

// readDelays reads a stream to its end, and returns how long ago each event was stored when
// it came: by its created_at, which is taken before the commit.
func readDelays(lines *bufio.Reader) (delays []time.Duration) {
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return delays
		}
		_, rest, _ := bytes.Cut(line, []byte(`"created_at":"`))
		text, _, _ := bytes.Cut(rest, []byte(`"`))
		if at, err := time.Parse(time.RFC3339Nano, string(text)); err == nil {
			delays = append(delays, time.Since(at))
		}
	}
}

// measureSendsBeside compares sends while something is open, which open returns a function to close,
// with sends without.
func (b *bench) measureSendsBeside(o *installation, connections int, what string, least float64, open func() func()) {
	without, with := b.newSends(o.server, connections, o.processes()...), b.newSends(o.server, connections, o.processes()...)
	without.name = "that without"
	with.prepare = func() { with.cleanUp = open() }
	b.measureAll(without, with)
	b.table.addRatio("P18", fmt.Sprintf("POST message accepted, %d connections, while %s", connections, what), with, without, least)
}
