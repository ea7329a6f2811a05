package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// fault is one thing that goes wrong. It returns when it is over.
type fault struct {
	name string
	play func(ctx context.Context, length time.Duration) error
}

// schedule returns all faults in the order in which they are played.
func (t *trial) schedule() []fault {
	provider := func(name, body string) fault {
		return fault{name, func(ctx context.Context, length time.Duration) error {
			return t.sim.Call("POST", "/_sim/faults", body, nil)
		}}
	}

	all := []fault{
		provider("provider answers 500", `{"kind":"http_500","times":10}`),
		{"server killed", t.kill},
		provider("provider hangs up after accepting", `{"kind":"drop_connection","times":10}`),
		{"endpoint hangs", func(ctx context.Context, length time.Duration) error {
			return t.disturbEndpoints(ctx, modeHang, length)
		}},
		provider("provider times out", `{"kind":"timeout","times":5}`),
		{"server restarted", t.restart},
		provider("provider limits the rate", `{"kind":"rate_limit","times":10}`),
		{"endpoint fails", func(ctx context.Context, length time.Duration) error {
			return t.disturbEndpoints(ctx, modeFail, length)
		}},
		provider("provider's media fail", `{"kind":"http_500","endpoint":"media","times":3}`),
	}

	if t.disk != nil {
		all = append(all, fault{"disk full", t.fillDisk})
	}
	return all
}

// playFaults plays the faults in turn until the trial ends.
func (t *trial) playFaults(ctx context.Context, _ *rand.Rand) error {
	step := min(max(t.length/40, time.Second), 10*time.Second)

	for {
		for _, f := range t.schedule() {
			if !sleep(ctx, step) {
				return nil
			}

			if err := f.play(ctx, step); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			t.count(f.name)
		}
	}
}

// kill kills the server and starts it again.
func (t *trial) kill(context.Context, time.Duration) error {
	t.server.Kill()
	return t.server.Start()
}

// restart stops the server as an administrator would, and starts it again.
func (t *trial) restart(context.Context, time.Duration) error {
	if err := t.server.Stop(); err != nil {
		return err
	}
	return t.server.Start()
}

// disturbEndpoints makes one endpoint of each tenant hang or fail for a time.
func (t *trial) disturbEndpoints(ctx context.Context, mode string, length time.Duration) error {
	for _, one := range t.tenants {
		if err := t.receiver.setMode(one.endpointName(hookShaky), mode); err != nil {
			return err
		}
	}

	sleep(ctx, length)
	for _, one := range t.tenants {
		if err := t.receiver.setMode(one.endpointName(hookShaky), modeRandom); err != nil {
			return err
		}
	}
	return nil
}

// fillDisk fills the disk for a moment.
func (t *trial) fillDisk(ctx context.Context, length time.Duration) error {
	free, err := t.disk.fill()
	if err != nil {
		return err
	}

	sleep(ctx, length/2)
	free()
	return nil
}
