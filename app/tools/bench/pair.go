package main

import (
	"context"
	"errors"
	"sync/atomic"

	"confab/app/tools/rig"
)

// serverPair is two servers that differ in one thing, of which that is measured by turns.
// They have the same provider, whose callbacks are off.
type serverPair struct {
	provider *rig.Simulator
	plain    *filledServer
	changed  *filledServer
}

// openPair starts two servers with few messages. change does to the second one what the
// first is without, before it starts.
func (b *bench) openPair(ctx context.Context, change func(*server) error) (*serverPair, error) {
	address, err := rig.FreeAddress()
	if err != nil {
		return nil, err
	}

	p := &serverPair{}
	if p.provider, err = b.startProvider(address); err != nil {
		return nil, err
	}
	if p.plain, err = b.fillServer(ctx, p.provider, fewMessages, nil); err == nil {
		p.changed, err = b.fillServer(ctx, p.provider, fewMessages, change)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *serverPair) close() {
	for _, g := range []*filledServer{p.plain, p.changed} {
		if g != nil {
			g.close()
		}
	}
	p.provider.Kill()
}

// pairSends is how many messages each server accepts in a second, and what one costs it.
type pairSends struct {
	plain, changed         float64
	plainCost, changedCost *meter
}

// ratio is the rate of the changed server in that of the plain one.
func (s pairSends) ratio() float64 { return s.changed / s.plain }

// compareSends sends messages to both servers by turns. A round ends when all are sent.
func (p *serverPair) compareSends(ctx context.Context, b *bench) (out pairSends, err error) {
	var n atomic.Int64
	measure := func(g *filledServer, cost *meter) func() (float64, error) {
		return func() (float64, error) {
			if err := cost.begin(); err != nil {
				return 0, err
			}
			l, err := runLoad(ctx, g.Address, 64, b.length, 200, func() []byte { return g.message(n.Add(1)) })
			if err == nil {
				err = awaitAllSent(ctx, g.installation)
			}
			return l.perSecond, errors.Join(err, cost.end(len(l.waits)))
		}
	}

	out.plainCost = newMeter(process{"server", p.plain.CPUTime})
	out.changedCost = newMeter(process{"server", p.changed.CPUTime})
	medians, err := b.interleave(ctx, measure(p.plain, out.plainCost), measure(p.changed, out.changedCost))
	if err != nil {
		return out, err
	}
	out.plain, out.changed = medians[0], medians[1]
	return out, nil
}
