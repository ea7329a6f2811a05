package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"
)

const (
	// storedMessages is how many messages there are to read.
	storedMessages = 20_000
	// listReaders is how many clients read lists while others send.
	listReaders = 8
	// senders is how many connections send meanwhile.
	senders = 16
)

// reading compares GET message with the most that HTTP allows, and measures how much the
// reading of lists delays sends.
func (b *bench) reading(ctx context.Context) error {
	o, past, err := b.openInstallation(ctx, storedMessages)
	if err != nil {
		return err
	}
	defer o.close()

	if err := b.measureGet(ctx, o.server, past); err != nil {
		return err
	}
	return b.measureSendsWhileListing(ctx, o, past)
}

// get returns the nth request for a message.
func (s *server) get(past history, n int64) []byte {
	return s.request("GET", "/"+s.number+"/messages/"+past.id(n), "")
}

// list returns the nth request for a page of messages, somewhere in the history.
func (s *server) list(past history, n int64) []byte {
	before := url.QueryEscape(past.at(n).UTC().Format(time.RFC3339))
	return s.request("GET", "/"+s.number+"/messages?limit=20&created_before="+before, "")
}

// measureGet measures GET message in turn with the ceiling, which has no database.
func (b *bench) measureGet(ctx context.Context, s *server, past history) error {
	ceilingServer, err := b.self.StartService("ceiling", "-key", s.key)
	if err != nil {
		return err
	}
	defer ceilingServer.Kill()

	const connections = 64
	var n atomic.Int64
	costs := []*meter{
		newMeter(process{"server", s.CPUTime}, loadGenerator),
		newMeter(process{"server", ceilingServer.CPUTime}, loadGenerator),
	}

	measure := func(address string, cost *meter) func() (float64, error) {
		return func() (float64, error) {
			if err := cost.begin(); err != nil {
				return 0, err
			}
			l, err := runLoad(ctx, address, connections, b.length, 200, func() []byte { return s.get(past, n.Add(1)) })
			if err != nil {
				return 0, err
			}
			return l.perSecond, cost.end(len(l.waits))
		}
	}

	medians, err := b.interleave(ctx, measure(s.Address, costs[0]), measure(ceilingServer.URL[len("http://"):], costs[1]))
	if err != nil {
		return err
	}

	b.table.add(row{
		what:   "machine: router, key check and JSON of a message alone, " + connectionsText(connections),
		figure: perSecond(medians[1]),
		detail: costs[1].String(),
	})
	b.table.add(row{
		id:     "P14",
		what:   "GET message, " + connectionsText(connections),
		figure: perSecond(medians[0]),
		detail: fmt.Sprintf("%.2f of that; %s", medians[0]/medians[1], costs[0]),
		goal:   atLeast(medians[0]/medians[1], 0.5),
	})
	return nil
}

// measureSendsWhileListing measures how long sends take, alone and while lists are read.
func (b *bench) measureSendsWhileListing(ctx context.Context, o *installation, past history) error {
	var n, pages atomic.Int64
	var read []float64

	p99 := func() (float64, error) {
		l, err := runLoad(ctx, o.Address, senders, b.length, 200, func() []byte { return o.message(n.Add(1)) })
		if err != nil {
			return 0, err
		}
		return ms(percentile(l.waits, 99)), awaitSent(ctx, o.db)
	}

	disturbed := func() (float64, error) {
		lists := make(chan error, 1)
		go func() {
			l, err := runLoad(ctx, o.Address, listReaders, b.length, 200, func() []byte { return o.list(past, pages.Add(1)) })
			read = append(read, l.perSecond)
			lists <- err
		}()
		wait, err := p99()
		return wait, errors.Join(err, <-lists)
	}

	medians, err := b.interleave(ctx, p99, disturbed)
	if err != nil {
		return err
	}

	ratio := medians[1] / medians[0]
	b.table.add(row{
		id:        "P12",
		what:      fmt.Sprintf("p99 of a send, %d connections, while %d clients read lists", senders, listReaders),
		callbacks: callbacksOff,
		figure:    fmt.Sprintf("%.2f ms", medians[1]),
		detail:    fmt.Sprintf("%.2f× its p99 alone (%.2f ms); %s lists of 20", ratio, medians[0], perSecond(median(read))),
		goal:      atMost(ratio, 3, "×"),
	})
	return nil
}
