package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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

// reading compares GET message with the most that HTTP allows, and measures what lists
// cost and how much their reading delays sends.
func (b *bench) reading(ctx context.Context) error {
	o, past, err := b.openInstallation(ctx, storedMessages)
	if err != nil {
		return err
	}
	defer o.close()

	if err := b.measureGet(ctx, o.server, past); err != nil {
		return err
	}
	if err := b.measureLists(ctx, o.server, past); err != nil {
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

	request := func(n int64) []byte { return s.get(past, n) }
	ours := newRead("GET message", s.Address, s.CPUTime, http.StatusOK, request)
	most := newRead("machine: router, key check and JSON of a message alone", ceilingServer.URL[len("http://"):], ceilingServer.CPUTime,
		http.StatusOK, request)

	medians, err := b.interleave(ctx, ours.measure(ctx, b.length), most.measure(ctx, b.length))
	if err != nil {
		return err
	}

	b.table.add(most.row(medians[1]))
	ratio := medians[0] / medians[1]
	result := ours.row(medians[0])
	result.id, result.detail, result.goal = "P14", fmt.Sprintf("%.2f of that; %s", ratio, result.detail), atLeast(ratio, 0.5)
	b.table.add(result)
	return nil
}

// measureLists measures what else clients read most. The figures only inform: what a
// page costs is to be compared with what it cost before.
func (b *bench) measureLists(ctx context.Context, s *server, past history) error {
	get := func(path string, header ...string) func(int64) []byte {
		return func(int64) []byte { return s.request("GET", "/"+s.number+path, "", header...) }
	}
	reads := []*read{
		newRead("GET message that has not changed (304)", s.Address, s.CPUTime, http.StatusNotModified,
			get("/messages/"+past.id(1), "If-None-Match: *")),
		newRead("GET 25 messages", s.Address, s.CPUTime, http.StatusOK, get("/messages?limit=25")),
		newRead("GET 25 conversations", s.Address, s.CPUTime, http.StatusOK, get("/conversations?limit=25")),
		newRead("GET 25 contacts", s.Address, s.CPUTime, http.StatusOK, get("/contacts?limit=25")),
	}

	var measures []func() (float64, error)
	for _, r := range reads {
		measures = append(measures, r.measure(ctx, b.length))
	}
	medians, err := b.interleave(ctx, measures...)
	if err != nil {
		return err
	}

	for i, r := range reads {
		b.table.add(r.row(medians[i]))
	}
	return nil
}

// readConnections is how many clients read at the same time.
const readConnections = 64

// read is a kind of request that reads, and what it costs the process that answers.
type read struct {
	what    string
	address string
	status  int // of every answer
	request func(n int64) []byte
	cost    *meter
	count   atomic.Int64
}

func newRead(what, address string, used func() (time.Duration, error), status int, request func(n int64) []byte) *read {
	return &read{what: what, address: address, status: status, request: request, cost: newMeter(process{"server", used}, loadGenerator)}
}

// measure returns what measures, in one round, how many are answered each second.
func (r *read) measure(ctx context.Context, length time.Duration) func() (float64, error) {
	return func() (float64, error) {
		if err := r.cost.begin(); err != nil {
			return 0, err
		}
		l, err := runLoad(ctx, r.address, readConnections, length, r.status, func() []byte { return r.request(r.count.Add(1)) })
		if err != nil {
			return 0, err
		}
		return l.perSecond, r.cost.end(len(l.waits))
	}
}

func (r *read) row(rate float64) row {
	return row{what: r.what + ", " + connectionsText(readConnections), figure: perSecond(rate), detail: r.cost.String()}
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
