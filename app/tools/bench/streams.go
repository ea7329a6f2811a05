package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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
func (b *bench) streams(ctx context.Context, o *installation) {
	keys := []string{o.api.Key}
	for len(keys) < openStreams/perOrganization {
		_, key := o.NewOrganization("Bench")
		keys = append(keys, key)
	}

	b.measureIdleStreams(ctx, o, keys)
	b.measureReaders(ctx, o, keys[:3])
	b.measureSendsWithStreams(ctx, o, keys)
}

// errTooMany means that there is no place for a stream.
var errTooMany = errors.New("too many streams are open")

// stream is a connection on which the server writes lines as things happen.
type stream struct {
	net.Conn
	lines *bufio.Reader
}

// openStream opens a stream, and returns when a line came that begins with first.
func openStream(address, path, header, first string) (*stream, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}

	s := &stream{conn, bufio.NewReaderSize(conn, 64<<10)}
	if _, err = conn.Write(formatRequest(address, "GET", path, "", header)); err == nil {
		var status []byte
		status, err = s.lines.ReadSlice('\n')
		switch {
		case bytes.HasPrefix(status, []byte("HTTP/1.1 429")):
			err = errTooMany
		case err == nil && !bytes.HasPrefix(status, []byte("HTTP/1.1 200")):
			err = fmt.Errorf("a stream was answered %q", status)
		}
	}
	for line := []byte(nil); err == nil && !bytes.HasPrefix(line, []byte(first)); {
		line, err = s.lines.ReadSlice('\n')
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return s, nil
}

// openStreams opens streams of events, spread over the organizations of the keys. They
// begin with their position.
func (s *server) openStreams(ctx context.Context, keys []string, count int) (all []*stream) {
	for i := range count {
		poll(ctx, 10*time.Millisecond, func() bool {
			one, err := openStream(s.Address, "/v1/events/stream", "Authorization: Bearer "+keys[i%len(keys)], "id: ")
			if errors.Is(err, errTooMany) {
				return false // those of the last measurement are about to be closed
			}
			all = append(all, rig.Must(one, err))
			return true
		})
	}
	return all
}

func closeAll(all []*stream) {
	for _, s := range all {
		s.Close()
	}
}

// measureIdleStreams measures how much memory streams take that nothing happens on.
func (b *bench) measureIdleStreams(ctx context.Context, o *installation, keys []string) {
	before := o.Process().Memory()
	defer closeAll(o.openStreams(ctx, keys[:idleStreams/perOrganization], idleStreams))
	used := megabytes(o.idleMemory(ctx) - before)
	b.table.addLimited(used, 15, " MB", row{id: "P18", what: fmt.Sprintf("memory of %d idle streams", idleStreams)})
}

// measureReaders measures how long after an event was stored its readers have it. They
// are of three organizations, because one may not have so many.
func (b *bench) measureReaders(ctx context.Context, o *installation, keys []string) {
	all := o.openStreams(ctx, keys, streamReaders)
	delays := make([][]time.Duration, len(all))
	awaitReaders := rig.Go(func() {
		rig.RunParallel(len(all), func(i int) { delays[i] = readDelays(all[i].lines) })
	})

	cost := meter{processes: []process{o.serverProcess(), loadGenerator}}
	cost.begin()
	var n atomic.Int64
	events := load{address: o.Address, connections: senders, length: time.Duration(b.rounds) * b.length, rate: streamEvents, status: 201}
	events.request = func() []byte {
		key := keys[n.Add(1)%int64(len(keys))]
		return formatRequest(o.Address, "POST", "/v1/customers", `{"name":"Bakery"}`, "Authorization: Bearer "+key)
	}
	made := events.run(ctx)
	time.Sleep(time.Second) // for the last of them
	closeAll(all)
	awaitReaders()

	late := slices.Concat(delays...)
	cost.end(len(late))
	// Each event goes to the readers of one organization, a third of all.
	if want := made.count * (streamReaders / len(keys)); len(late) < want {
		rig.Check(fmt.Errorf("readers got %d events, not %d", len(late), want))
	}
	b.table.addLimited(ms(rig.Percentile(late, 99)), 100, " ms", row{
		id:     "P22",
		what:   fmt.Sprintf("event stored → read, %d readers at %s, p99", streamReaders, perSecond(made.perSecond)),
		detail: fmt.Sprintf("p50 %.1f ms; %s", ms(rig.Percentile(late, 50)), &cost),
	})
}

// readDelays reads a stream to its end, and returns how long ago each event was stored when
// it came: by its created_at, which is taken before the commit.
func readDelays(lines *bufio.Reader) (delays []time.Duration) {
	mark := []byte(`"created_at":"`)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return delays
		}
		if !bytes.HasPrefix(line, []byte("data: ")) {
			continue
		}
		_, rest, found := bytes.Cut(line, mark)
		if !found || len(rest) < len(time.DateTime) {
			continue
		}
		text, _, _ := bytes.Cut(rest, []byte(`"`))
		if at, err := time.Parse(time.RFC3339Nano, string(text)); err == nil {
			delays = append(delays, time.Since(at))
		}
	}
}

// measureSendsWithStreams compares sends while streams of all sorts are open with sends
// without.
func (b *bench) measureSendsWithStreams(ctx context.Context, o *installation, keys []string) {
	newSeries := func(count int, keys []string) *series {
		var all []*stream
		s := b.newSends(o.server, senders, o.processes()...)
		s.prepare = func(ctx context.Context) {
			all = o.openStreams(ctx, keys, count)
			for i := 0; i < len(all); i += 2 { // half of them are read, the others are dead
				go io.Copy(io.Discard, all[i].lines)
			}
		}
		s.cleanUp = func() { closeAll(all) }
		return s
	}

	without, some, many := newSeries(0, keys), newSeries(perOrganization, keys[:1]), newSeries(openStreams, keys)
	without.name = "that without"
	b.measureAll(ctx, without, some, many)
	what := "POST message accepted, " + connectionsText(senders) + ", while %d streams are open"
	b.table.addRatio(some, without, 0.9, row{id: "P18", what: fmt.Sprintf(what, perOrganization)})
	b.table.addRatio(many, without, 0.95, row{what: fmt.Sprintf(what, openStreams)})
}
