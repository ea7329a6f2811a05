package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

const (
	// storedMessages is how many messages there are to read.
	storedMessages = 20_000
	// readConnections is how many clients read at the same time.
	readConnections = 64
	// listReaders is how many clients read lists while others send.
	listReaders = 8
	// senders is how many connections send meanwhile.
	senders = 16
)

// reading compares GET message with the most that HTTP allows, and measures what lists
// cost and how much their reading delays sends.
func (b *bench) reading(ctx context.Context, o *installation) error {
	if err := b.measureGet(ctx, o.server); err != nil {
		return err
	}
	if err := b.measureLists(ctx, o.server); err != nil {
		return err
	}
	return b.measureSendsWhileListing(ctx, o.server)
}

// get returns a request for a message.
func (s *server) get() []byte {
	return s.request("GET", s.messages()+"/"+s.past.id(s.read.Add(1)), "", "")
}

// list returns a request for a page of messages, somewhere in the history.
func (s *server) list() []byte {
	before := url.QueryEscape(s.past.at(s.read.Add(1)).UTC().Format(time.RFC3339))
	return s.request("GET", s.messages()+"?limit=20&created_before="+before, "", "")
}

// measureGet measures GET message interleaved with the ceiling, which has no database.
func (b *bench) measureGet(ctx context.Context, s *server) error {
	ceiling, err := b.self.StartService("ceiling", s.api.Key)
	if err != nil {
		return err
	}
	defer ceiling.Kill()

	ours := b.newSeries(load{address: s.Address, connections: readConnections, request: s.get}, nil, s.serverProcess(), loadGenerator)
	most := b.newSeries(load{address: ceiling.URL[len("http://"):], connections: readConnections, request: s.get}, nil,
		process{"server", ceiling.CPUTime}, loadGenerator)
	most.name = "that"
	if err := b.measureAll(ctx, ours, most); err != nil {
		return err
	}

	b.table.addRate(most, row{what: "machine: router, key check and JSON of a message alone, " + connectionsText(readConnections)})
	b.table.addRatio(ours, most, 0.5, row{id: "P14", what: "GET message, " + connectionsText(readConnections)})
	return nil
}

// measureLists measures what else clients read most. The figures only inform: what a
// page costs is to be compared with what it cost before.
func (b *bench) measureLists(ctx context.Context, s *server) error {
	reads := []struct {
		what, path, header string
		status             int
	}{
		{"GET message that has not changed (304)", "/messages/" + s.past.id(1), "If-None-Match: *", http.StatusNotModified},
		{"GET 25 messages", "/messages?limit=25", "", http.StatusOK},
		{"GET 25 conversations", "/conversations?limit=25", "", http.StatusOK},
		{"GET 25 contacts", "/contacts?limit=25", "", http.StatusOK},
	}

	var all []*series
	for _, r := range reads {
		request := func() []byte { return s.request("GET", "/"+s.number+r.path, "", r.header) }
		l := load{address: s.Address, connections: readConnections, request: request, status: r.status}
		all = append(all, b.newSeries(l, nil, s.serverProcess(), loadGenerator))
	}
	if err := b.measureAll(ctx, all...); err != nil {
		return err
	}

	for i, r := range reads {
		b.table.addRate(all[i], row{what: r.what + ", " + connectionsText(readConnections)})
	}
	return nil
}

// measureSendsWhileListing measures how long sends take, alone and while lists are read.
func (b *bench) measureSendsWhileListing(ctx context.Context, s *server) error {
	sends := load{address: s.Address, connections: senders, length: b.length, request: s.message}
	lists := load{address: s.Address, connections: listReaders, length: b.length, request: s.list}
	var read []float64

	p99 := func() (float64, error) {
		r, err := sends.run(ctx)
		if err != nil {
			return 0, err
		}
		return ms(percentile(r.waits, 99)), s.awaitSent(ctx)
	}

	disturbed := func() (float64, error) {
		listed := make(chan error, 1)
		go func() {
			r, err := lists.run(ctx)
			read = append(read, r.perSecond)
			listed <- err
		}()
		wait, err := p99()
		return wait, errors.Join(err, <-listed)
	}

	medians, err := b.interleave(ctx, p99, disturbed)
	if err != nil {
		return err
	}
	b.table.addSlowdown(medians[1], medians[0], 3, row{
		id:        "P12",
		what:      fmt.Sprintf("p99 of a send, %d connections, while %d clients read lists", senders, listReaders),
		callbacks: callbacksOff,
		detail:    fmt.Sprintf("; %s lists of 20", perSecond(median(read))),
	})
	return nil
}
