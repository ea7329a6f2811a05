package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

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

// sizes returns with how many stored messages to measure: few, to compare with, and more.
func (b *bench) sizes() []int {
	all := []int{fewMessages}
	if b.messages > someMessages {
		all = append(all, someMessages)
	}
	return append(all, b.messages)
}

// growth measures sends and reads on servers with few and with many messages, in turn.
// Each server has a database of its own; only one at a time has something to do.
func (b *bench) growth(ctx context.Context) error {
	if b.messages <= fewMessages {
		return nil
	}

	if err := b.checkDiskSpace(); err != nil {
		return err
	}

	address, err := rig.FreeAddress()
	if err != nil {
		return err
	}
	provider, err := b.startProvider(address)
	if err != nil {
		return err
	}
	defer provider.Kill()

	var all []*filledServer
	defer func() {
		for _, g := range all {
			g.close()
		}
	}()

	for _, messages := range b.sizes() {
		g, err := b.fillServer(ctx, provider, messages, nil)
		if err != nil {
			return err
		}
		all = append(all, g)
	}

	for _, op := range operations {
		if err := b.compare(ctx, op, all); err != nil {
			return fmt.Errorf("%s: %w", op.what, err)
		}
	}
	return nil
}

// checkDiskSpace checks that the disk has room for all messages.
func (b *bench) checkDiskSpace() error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(b.dir, &disk); err != nil {
		return err
	}

	need, free := int64(0), int64(disk.Bavail)*int64(disk.Bsize)
	for _, messages := range b.sizes() {
		need += int64(messages) * messageSize
	}

	if free < need {
		return fmt.Errorf("%d messages need up to %.0f MB of disk, and %s has %.0f: choose fewer by -messages, or another place by TMPDIR",
			b.messages, megabytes(need), b.dir, megabytes(free))
	}
	return nil
}

// filledServer is a server with stored messages.
type filledServer struct {
	*installation
	past history
}

// fillServer stores messages and starts a server on them. prepare, unless it is nil, does
// something with the server before it starts.
func (b *bench) fillServer(ctx context.Context, provider *rig.Simulator, messages int, prepare func(*server) error) (*filledServer, error) {
	address, err := rig.FreeAddress()
	if err != nil {
		return nil, err
	}
	s, err := b.newServer(address, provider)
	if err != nil {
		return nil, err
	}

	g := &filledServer{installation: &installation{server: s}}
	began := time.Now()
	if g.past, err = b.prefill(ctx, s, messages); err == nil && prepare != nil {
		err = prepare(s)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.Dir))
	}

	if messages > fewMessages {
		b.table.add(row{
			what:   fmt.Sprintf("%d messages stored beforehand", messages),
			figure: fmt.Sprintf("%.0f s", time.Since(began).Seconds()),
			detail: fmt.Sprintf("%.0f MB", megabytes(fileSize(s.Dir))),
		})
	}

	if err = s.Start(); err == nil {
		g.db, err = b.open(s)
	}
	if err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// operation is what is measured on each of the servers.
type operation struct {
	what      string
	callbacks callbacks
	request   func(g *filledServer, n int64) []byte
	goal      float64 // least ratio of the rate with many messages to that with few
}

var operations = []operation{
	{"POST message accepted, 64 connections", callbacksOff, func(g *filledServer, n int64) []byte { return g.message(n * 7919) }, 0.8},
	{"GET message, 64 connections", "", func(g *filledServer, n int64) []byte { return g.get(g.past, n) }, 0.5},
	{"GET messages, 20 somewhere in the past, 64 connections", "", func(g *filledServer, n int64) []byte { return g.list(g.past, n) }, 0.9},
}

// compare measures one operation on all servers. A round ends when all messages are
// sent, so that no server has work left while the next one is measured.
func (b *bench) compare(ctx context.Context, op operation, all []*filledServer) error {
	var n atomic.Int64
	costs := make([]*meter, len(all))
	measures := make([]func() (float64, error), len(all))

	for i, g := range all {
		costs[i] = newMeter(process{"server", g.CPUTime})
		measures[i] = func() (float64, error) {
			if err := costs[i].begin(); err != nil {
				return 0, err
			}

			l, err := runLoad(ctx, g.Address, 64, b.length, 200, func() []byte { return op.request(g, n.Add(1)) })
			if err != nil {
				return 0, err
			}

			if err := awaitSent(ctx, g.db); err != nil {
				return 0, err
			}
			return l.perSecond, costs[i].end(len(l.waits))
		}
	}

	medians, err := b.interleave(ctx, measures...)
	if err != nil {
		return err
	}

	for i, g := range all {
		ratio := medians[i] / medians[0]
		r := row{
			id:        "P11",
			what:      fmt.Sprintf("%s, %d messages there", op.what, g.past.messages),
			callbacks: op.callbacks,
			figure:    perSecond(medians[i]),
			detail:    costs[i].String(),
		}
		if i > 0 {
			r.detail = fmt.Sprintf("%.2f of the rate with %d; %s", ratio, fewMessages, costs[i])
		}

		if g.past.messages >= manyMessages {
			r.goal = atLeast(ratio, op.goal)
		}
		b.table.add(r)
	}
	return nil
}
