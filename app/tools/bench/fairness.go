package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"confab/app/tools/rig"
)

// pacedRate is how many messages are sent a second: so few that nothing but the other
// endpoint can delay their deliveries.
const pacedRate = 200

// fairness compares the deliveries to one endpoint while another one hangs, until the
// server gives up on it after 10 s, with those while the other one is paused.
func (b *bench) fairness(ctx context.Context) error {
	o, _, err := b.openInstallation(ctx, 0)
	if err != nil {
		return err
	}
	defer o.close()

	if _, err := o.subscribe("/hook", "message.sent"); err != nil {
		return err
	}
	hanging, err := o.subscribe("/hang", "message.sent")
	if err != nil {
		return err
	}

	var n atomic.Int64
	hung := 0

	measure := func(status string) func() (float64, error) {
		return func() (float64, error) {
			if err := o.setStatus(hanging, status); err != nil {
				return 0, err
			}

			t, err := b.sendPaced(ctx, o, &n)
			hung += t.Hanging
			return ms(percentile(t.Waits, 99)), err
		}
	}

	medians, err := b.interleave(ctx, measure("paused"), measure("active"))
	if err != nil {
		return err
	}

	if hung == 0 {
		return errors.New("nothing was sent to the endpoint that hangs")
	}

	ratio := medians[1] / medians[0]
	b.table.add(row{
		id:        "P15",
		what:      fmt.Sprintf("p99 of an endpoint at %d/s while another one hangs for 10 s", pacedRate),
		callbacks: callbacksOff,
		figure:    fmt.Sprintf("%.2f ms", medians[1]),
		detail:    fmt.Sprintf("%.2f× its p99 without (%.2f ms)", ratio, medians[0]),
		goal:      atMost(ratio, 1.5, "×"),
	})
	return nil
}

// sendPaced sends messages slowly for a while, and waits for their deliveries.
func (b *bench) sendPaced(ctx context.Context, o *installation, n *atomic.Int64) (rig.Tally, error) {
	l, err := runLoad(ctx, o.Address, 1, 3*b.length, 200, func() []byte {
		time.Sleep(time.Second / pacedRate)
		return o.message(n.Add(1))
	})
	if err != nil {
		return rig.Tally{}, err
	}

	return o.receiver.Await(len(l.waits))
}
