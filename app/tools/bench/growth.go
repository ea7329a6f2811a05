package main

import (
	"context"
	"fmt"
	"syscall"

	"confab/app/tools/rig"
)

const (
	fewMessages  = 1000
	someMessages = 1_000_000
	// manyMessages is for how many messages the goals are set.
	manyMessages = 10_000_000
	// messageSize is how much disk space a stored message takes at most, in bytes.
	messageSize = 700
)

// sizes returns with how many stored messages to measure, beside few, to compare with.
func (b *bench) sizes() []int {
	if b.messages > someMessages {
		return []int{someMessages, b.messages}
	}
	return []int{b.messages}
}

// growth measures sends and reads on servers with few and with many messages, interleaved.
// Each server has a database of its own; only one at a time has something to do.
func (b *bench) growth(ctx context.Context, o *installation) {
	if b.messages <= fewMessages {
		return
	}
	b.checkDiskSpace()

	all := []*server{o.server}
	for _, messages := range b.sizes() {
		s := b.startSibling(ctx, o, messages, nil)
		defer s.close()
		all = append(all, s)
		b.table.add(row{
			what:   fmt.Sprintf("%d messages stored beforehand", messages),
			figure: fmt.Sprintf("%.0f s", s.past.took.Seconds()),
			detail: fmt.Sprintf("%.0f MB", megabytes(fileSize(s.Dir))),
		})
	}

	for _, op := range operations {
		rig.Within(op.what, func() { b.compare(ctx, op, all) })
	}
}

func (b *bench) checkDiskSpace() {
	var disk syscall.Statfs_t
	rig.Check(syscall.Statfs(b.dir, &disk))

	need, free := int64(0), int64(disk.Bavail)*int64(disk.Bsize)
	for _, messages := range b.sizes() {
		need += int64(messages) * messageSize
	}
	if free < need {
		rig.Check(fmt.Errorf("%d messages need up to %.0f MB of disk, and %s has %.0f: "+
			"choose fewer by -messages, or another place by TMPDIR",
			b.messages, megabytes(need), b.dir, megabytes(free)))
	}
}

// operation is one measurement, made on each of the servers.
type operation struct {
	what    string
	request func(*server) []byte
	goal    float64 // least ratio of the rate with many messages to that with few
}

var operations = []operation{
	{"POST message accepted, 64 connections", func(s *server) []byte { return s.messageTo(s.sent.Add(1) * 7919) }, 0.8},
	{"GET message, 64 connections", (*server).get, 0.5},
	{"GET messages, 20 somewhere in the past, 64 connections", (*server).list, 0.9},
}

// compare measures one operation on all servers. A round ends when all messages are
// sent, so that no server has work left while the next one is measured.
func (b *bench) compare(ctx context.Context, op operation, servers []*server) {
	var all []*series
	for _, s := range servers {
		l := load{address: s.Address, connections: 64, request: func() []byte { return op.request(s) }}
		all = append(all, b.newSeries(l, s.awaitSent, s.serverProcess()))
	}
	b.measureAll(ctx, all...)

	few := all[0]
	few.name = fmt.Sprintf("the rate with %d", fewMessages)
	for i, s := range servers {
		r := row{id: "P11", what: fmt.Sprintf("%s, %d messages there", op.what, s.past.messages)}
		switch {
		case i == 0:
			b.table.addRate(few, r)
		case s.past.messages >= manyMessages:
			b.table.addRatio(all[i], few, op.goal, r)
		default:
			b.table.addRatio(all[i], few, 0, r)
		}
	}
}
