package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"confab/app/tools/rig"
)

// fault is one thing that goes wrong. It returns when it is over.
type fault struct {
	name string
	play func(ctx context.Context, length time.Duration) error
}

// schedule returns all faults in the order in which they are played.
func (t *trial) schedule(random *rand.Rand) []fault {
	all := slices.Concat(t.serverFaults(random), t.replicaFaults(), t.clockFaults())

	// Those of the server are far apart, and the small ones lie between them.
	for i, small := range t.outsideFaults() {
		all = slices.Insert(all, min(2*i, len(all)), small)
	}
	if t.only != nil {
		all = slices.DeleteFunc(all, func(f fault) bool { return !t.only.MatchString(f.name) })
	}
	return all
}

// outsideFaults are those of the provider and of the endpoints.
func (t *trial) outsideFaults() []fault {
	provider := func(name, body string) fault {
		return fault{name, func(ctx context.Context, length time.Duration) error {
			return t.sim.Call("POST", "/_sim/faults", body, nil)
		}}
	}

	return []fault{
		provider("provider answers 500", `{"kind":"http_500","times":10}`),
		provider("provider hangs up after accepting", `{"kind":"drop_connection","times":10}`),
		{"endpoint hangs", func(ctx context.Context, length time.Duration) error {
			return t.disturbEndpoints(ctx, rig.ModeHang, length)
		}},
		provider("provider times out", `{"kind":"timeout","times":5}`),
		provider("provider limits the rate", `{"kind":"rate_limit","times":10}`),
		{"endpoint fails", func(ctx context.Context, length time.Duration) error {
			return t.disturbEndpoints(ctx, rig.ModeFail, length)
		}},
		provider("provider's media fail", `{"kind":"http_500","endpoint":"media","times":3}`),
	}
}

// serverFaults are those of the server's process, of its files and of the machine.
func (t *trial) serverFaults(random *rand.Rand) []fault {
	// somewhere returns a length at random. In a short trial all are shorter.
	somewhere := func(from, to time.Duration) time.Duration {
		return min(from+time.Duration(random.Int64N(int64(to-from))), t.length/longestShare)
	}

	all := []fault{
		{"server killed", t.kill},
		{"server paused", func(ctx context.Context, _ time.Duration) error {
			return t.pause(ctx, somewhere(5*time.Second, 20*time.Second))
		}},
		{"database locked by another process", func(ctx context.Context, _ time.Duration) error {
			return t.lockDatabase(ctx, somewhere(time.Second, 14*time.Second))
		}},
		{"server restarted", t.restart},
		{"backup restored on a copy", t.restoreCopy},
		{"older database put back on a copy", t.putBack},
		{"strangers", t.strangers},
	}

	if t.length >= longestShare*pauseBeyondLeases {
		all = append(all, fault{"server paused beyond its leases", func(ctx context.Context, _ time.Duration) error {
			return t.pause(ctx, pauseBeyondLeases)
		}})
	}
	if t.disk != nil {
		all = append(all, fault{"disk full", t.fillDisk})
	}
	return all
}

const (
	// longestShare is how many times a trial is as long as its longest faults.
	longestShare = 9
	// pauseBeyondLeases outlasts every lease that a job with a call has in a trial.
	pauseBeyondLeases = 20 * time.Second
)

// clockFaults are those of the server's clock, if it can be set.
func (t *trial) clockFaults() []fault {
	if !t.hasClock {
		return nil
	}

	step := func(name string, offset time.Duration, restart bool) fault {
		return fault{name, func(ctx context.Context, length time.Duration) error {
			return t.stepClock(ctx, offset, length, restart)
		}}
	}
	return []fault{
		step("clock ahead by 11 minutes", 11*time.Minute, false),
		step("clock ahead by 2 days", 48*time.Hour, false),
		step("clock back by an hour", -time.Hour, false),
		step("server started with its clock ahead by 2 days", 48*time.Hour, true),
	}
}

// timeOfDay is how the list of the faults shows when each began and ended.
const timeOfDay = "15:04:05.000"

// playFaults plays the faults one after the other until the trial ends, and lists them in a file.
func (t *trial) playFaults(ctx context.Context, random *rand.Rand) error {
	if t.kills > 0 {
		return t.playKills(ctx, random)
	}
	step := min(max(t.length/40, time.Second), 10*time.Second)

	for sleep(ctx, step) {
		for _, f := range t.schedule(random) {
			began := time.Now()
			if err := f.play(ctx, step); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			t.count("fault: " + f.name)
			fmt.Fprintf(t.played, "%s to %s: %s\n", began.UTC().Format(timeOfDay), time.Now().UTC().Format(timeOfDay), f.name)

			if !sleep(ctx, step) {
				return nil
			}
		}
	}
	return nil
}

// errDone ends a trial that has nothing left to play.
var errDone = errors.New("all faults were played")

// longestLife is how long the server lives at most in a trial of kills. A call to the
// provider takes as long, so that every kill meets some.
const longestLife = 400 * time.Millisecond

// playKills does nothing but kill the server, at any moment after it is ready, as fast as it
// starts again.
func (t *trial) playKills(ctx context.Context, random *rand.Rand) error {
	for range t.kills {
		if !sleep(ctx, time.Duration(random.Int64N(int64(longestLife)))) {
			return nil
		}
		f := fault{"server killed", t.kill}
		if t.storage != nil {
			f = fault{"machine lost", t.loseMachine}
		}
		if err := f.play(ctx, 0); err != nil {
			return err
		}
		t.count("fault: " + f.name)
		fmt.Fprintf(t.played, "%s: %s\n", time.Now().UTC().Format(timeOfDay), f.name)
	}
	return errDone
}

// pause stops the server where it is, as a machine does that is moved or suspended.
func (t *trial) pause(ctx context.Context, length time.Duration) error {
	if err := t.server.Pause(); err != nil {
		return err
	}
	sleep(ctx, length)
	return t.server.Resume()
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
		if err := t.receiver.SetMode(one.endpointName(hookShaky), mode); err != nil {
			return err
		}
	}

	sleep(ctx, length)
	for _, one := range t.tenants {
		if err := t.receiver.SetMode(one.endpointName(hookShaky), rig.ModeRandom); err != nil {
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
