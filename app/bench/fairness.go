package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// paced is how many messages a second show how fair deliveries are: few enough
// that nothing but the other endpoint can hold them up.
const paced = 200

// fairness compares one endpoint's deliveries while another one hangs, until the
// server gives up after 10 s, with the same while it does not.
func (b *bench) fairness(ctx context.Context) error {
	o, _, err := b.openOffice(ctx, 0)
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
			if err := o.turn(hanging, status); err != nil {
				return 0, err
			}
			t, err := b.paced(ctx, o, &n)
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
	b.table.add(row{id: "P15", what: fmt.Sprintf("p99 of an endpoint at %d/s while another one hangs for 10 s", paced), callbacks: callbacksOff, figure: fmt.Sprintf("%.2f ms", medians[1]),
		detail: fmt.Sprintf("%.2f× its p99 without (%.2f ms)", ratio, medians[0]), goal: atMost(ratio, 1.5, "×")})
	return nil
}

// paced sends messages slowly for a while, and waits for their deliveries.
func (b *bench) paced(ctx context.Context, o *office, n *atomic.Int64) (tally, error) {
	l, err := drive(ctx, o.Address, 1, 3*b.length, 200, func() []byte {
		time.Sleep(time.Second / paced)
		return o.message(n.Add(1))
	})
	if err != nil {
		return tally{}, err
	}
	return o.receiver.await(len(l.waits))
}
