package main

import (
	"context"
	"errors"
	"fmt"
)

// pacedRate is how many messages are sent a second: so few that nothing but the other
// endpoint can delay their deliveries.
const pacedRate = 200

// fairness compares the deliveries to one endpoint while another one hangs, until the
// server gives up on it after 10 s, with those while the other one is paused.
func (b *bench) fairness(ctx context.Context, o *installation) error {
	if _, err := o.subscribe("/hook", "message.sent"); err != nil {
		return err
	}
	hanging, err := o.subscribe("/hang", "message.sent")
	if err != nil {
		return err
	}

	hung := 0
	paced := load{address: o.Address, connections: 1, length: 3 * b.length, rate: pacedRate, request: o.message}
	measure := func(status string) func() (float64, error) {
		return func() (float64, error) {
			if err := o.setStatus(hanging, status); err != nil {
				return 0, err
			}
			r, err := paced.run(ctx)
			if err != nil {
				return 0, err
			}
			t, err := o.receiver.Await(r.count)
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
	b.table.addSlowdown(medians[1], medians[0], 1.5, row{
		id:        "P15",
		what:      fmt.Sprintf("p99 of an endpoint at %d/s while another one hangs for 10 s", pacedRate),
		callbacks: callbacksOff,
	})
	return nil
}
