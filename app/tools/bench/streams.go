package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// streamReaders follow events while streamEvents a second happen.
	streamReaders, streamEvents = 50, 1000
	// idleStreams are opened to see what they take.
	idleStreams = 100
	// onlookers is how many streams look on while messages are sent: some are read, most
	// are idle, and of those some are dead.
	onlookers = 500
	// perOrganization is how many streams an organization may have.
	perOrganization = 20
)

// streams measures how far readers of events are behind, what idle ones take, and what
// all sorts of them cost those who send.
func (b *bench) streams(ctx context.Context) error {
	o, _, err := b.openInstallation(ctx, 0)
	if err != nil {
		return err
	}
	defer o.close()

	keys := []string{o.key}
	for len(keys) < onlookers/perOrganization {
		org, err := o.Command("orgs", "create", "Onlooker")
		if err != nil {
			return err
		}
		key, err := o.Command("keys", "create", "--org", org)
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}

	if err := b.measureIdleStreams(ctx, o, keys); err != nil {
		return err
	}
	if err := b.measureReaders(ctx, o, keys); err != nil {
		return err
	}
	return b.measureSendsWithOnlookers(ctx, o, keys)
}

// errTooMany means that there is no place for a stream.
var errTooMany = errors.New("too many streams are open")

// openStream opens a stream and returns when it has told its position.
func (s *server) openStream(key string) (net.Conn, *bufio.Reader, error) {
	conn, err := net.Dial("tcp", s.Address)
	if err != nil {
		return nil, nil, err
	}

	lines := bufio.NewReaderSize(conn, 16<<10)
	_, err = fmt.Fprintf(conn, "GET /v1/events/stream HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", s.Address, key)
	if err == nil {
		var status []byte
		if status, err = lines.ReadSlice('\n'); err == nil && !bytes.HasPrefix(status, []byte("HTTP/1.1 200")) {
			err = fmt.Errorf("a stream was answered %q", status)
		}
		if bytes.HasPrefix(status, []byte("HTTP/1.1 429")) {
			err = errTooMany
		}
	}
	for line := []byte(nil); err == nil && !bytes.HasPrefix(line, []byte("id: ")); {
		line, err = lines.ReadSlice('\n')
	}
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return conn, lines, nil
}

// openStreams opens streams, spread over the organizations of the keys.
func (s *server) openStreams(keys []string, count int) (conns []net.Conn, lines []*bufio.Reader, err error) {
	for i := range count {
		conn, reader, err := s.openStream(keys[i%len(keys)])
		for began := time.Now(); errors.Is(err, errTooMany) && time.Since(began) < 10*time.Second; {
			time.Sleep(10 * time.Millisecond) // those of the last measurement are about to be closed
			conn, reader, err = s.openStream(keys[i%len(keys)])
		}
		if err != nil {
			closeAll(conns)
			return nil, nil, err
		}
		conns, lines = append(conns, conn), append(lines, reader)
	}
	return conns, lines, nil
}

func closeAll(conns []net.Conn) {
	for _, c := range conns {
		c.Close()
	}
}

// measureIdleStreams measures how much memory streams take that nothing happens on.
func (b *bench) measureIdleStreams(ctx context.Context, o *installation, keys []string) error {
	before, err := o.Memory()
	if err != nil {
		return err
	}
	conns, _, err := o.openStreams(keys[:idleStreams/perOrganization], idleStreams)
	if err != nil {
		return err
	}
	defer closeAll(conns)

	select {
	case <-time.After(idleDelay):
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := o.Memory()
	if err != nil {
		return err
	}

	more := megabytes(after - before)
	b.table.add(row{
		id:     "P18",
		what:   fmt.Sprintf("memory of %d idle streams", idleStreams),
		figure: fmt.Sprintf("%.1f MB", more),
		goal:   atMost(more, 15, " MB"),
	})
	return nil
}

// measureReaders measures how long after an event was stored its readers have it. They
// are of three organizations, because one may not have so many.
func (b *bench) measureReaders(ctx context.Context, o *installation, keys []string) error {
	keys = keys[:3]
	conns, lines, err := o.openStreams(keys, streamReaders)
	if err != nil {
		return err
	}

	var group sync.WaitGroup
	var mu sync.Mutex
	var behind []time.Duration
	for _, reader := range lines {
		group.Go(func() {
			mine := readDelays(reader)
			mu.Lock()
			defer mu.Unlock()
			behind = append(behind, mine...)
		})
	}

	cost := newMeter(process{"server", o.CPUTime}, loadGenerator)
	if err := cost.begin(); err != nil {
		return err
	}
	var n atomic.Int64
	began := time.Now()
	l, err := runLoad(ctx, o.Address, senders, time.Duration(b.rounds)*b.length, 201, func() []byte {
		i := n.Add(1)
		time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / streamEvents)))
		as := *o.server
		as.key = keys[i%int64(len(keys))]
		return as.request("POST", "/customers", `{"name":"Bakery"}`)
	})
	time.Sleep(time.Second) // for the last of them
	closeAll(conns)
	group.Wait()
	if err := errors.Join(err, cost.end(len(behind))); err != nil {
		return err
	}

	// Each event goes to the readers of one organization, a third of all.
	if want := len(l.waits) * (streamReaders / len(keys)); len(behind) < want {
		return fmt.Errorf("readers got %d events, not %d", len(behind), want)
	}
	p99 := ms(percentile(behind, 99))
	b.table.add(row{
		id:     "P22",
		what:   fmt.Sprintf("event stored → read, %d readers at %s", streamReaders, perSecond(l.perSecond)),
		figure: fmt.Sprintf("p99 %.1f ms", p99),
		detail: fmt.Sprintf("p50 %.1f ms; %s", ms(percentile(behind, 50)), cost),
		goal:   atMost(p99, 100, " ms"),
	})
	return nil
}

// readDelays reads a stream to its end, and tells how long ago each event was stored when
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

// measureSendsWithOnlookers compares sends while streams of all sorts are open with sends
// without.
func (b *bench) measureSendsWithOnlookers(ctx context.Context, o *installation, keys []string) error {
	var n atomic.Int64
	send := func(cost *meter) (float64, error) {
		if err := cost.begin(); err != nil {
			return 0, err
		}
		l, err := runLoad(ctx, o.Address, senders, b.length, 200, func() []byte { return o.message(n.Add(1)) })
		if err == nil {
			err = awaitSent(ctx, o.db)
		}
		return l.perSecond, errors.Join(err, cost.end(len(l.waits)))
	}
	costs := []*meter{newMeter(o.processes()...), newMeter(o.processes()...), newMeter(o.processes()...)}
	with := func(count int, of []string, cost *meter) func() (float64, error) {
		return func() (float64, error) {
			conns, lines, err := o.openStreams(of, count)
			if err != nil {
				return 0, err
			}
			defer closeAll(conns)

			// Half of them read what they are sent, the others are dead.
			for i, reader := range lines {
				if i%2 == 0 {
					go io.Copy(io.Discard, reader)
				}
			}
			return send(cost)
		}
	}

	medians, err := b.interleave(ctx,
		with(0, keys, costs[0]), with(perOrganization, keys[:1], costs[1]), with(onlookers, keys, costs[2]))
	if err != nil {
		return err
	}
	for i, c := range []struct {
		id    string
		count int
		goal  float64
	}{{"P18", perOrganization, 0.9}, {"", onlookers, 0.95}} {
		ratio := medians[i+1] / medians[0]
		b.table.add(row{
			id:        c.id,
			what:      fmt.Sprintf("POST message accepted, %s, while %d streams look on", connectionsText(senders), c.count),
			callbacks: callbacksOff,
			figure:    perSecond(medians[i+1]),
			detail:    fmt.Sprintf("%.2f of that without (%s); %s; without: %s", ratio, perSecond(medians[0]), costs[i+1], costs[0]),
			goal:      atLeast(ratio, c.goal),
		})
	}
	return nil
}
