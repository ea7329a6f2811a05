package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

// fault is one thing that goes wrong. It returns when it is over.
type fault struct {
	name string
	play func(ctx context.Context, length time.Duration)
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
		return fault{name, func(context.Context, time.Duration) { t.sim.Call("POST", "/_sim/faults", body, nil) }}
	}
	endpoint := func(name, mode string) fault {
		return fault{name, func(ctx context.Context, length time.Duration) {
			t.setMode(mode)
			sleep(ctx, length)
			t.setMode(rig.ModeRandom)
		}}
	}

	return []fault{
		provider("provider times out", `{"kind":"timeout","times":5}`), // first, because it is felt the longest
		provider("provider hangs up after accepting", `{"kind":"drop_connection","times":10}`),
		endpoint("endpoint hangs", rig.ModeHang),
		provider("provider answers 500", `{"kind":"http_500","times":10}`),
		provider("provider limits the rate", `{"kind":"rate_limit","times":10}`),
		endpoint("endpoint fails", rig.ModeFail),
		provider("provider's media fail", `{"kind":"http_500","endpoint":"media","times":3}`),
	}
}

// setMode sets how one endpoint of each tenant answers.
func (t *trial) setMode(mode string) {
	for _, one := range t.tenants {
		t.receiver.SetMode(one.endpointName(hookShaky), mode)
	}
}

// serverFaults are those of the server's process, of its files and of the machine.
func (t *trial) serverFaults(random *rand.Rand) []fault {
	// atRandom is a fault whose length is chosen at random. In a short trial all are shorter.
	atRandom := func(name string, from, to time.Duration, play func(context.Context, time.Duration)) fault {
		return fault{name, func(ctx context.Context, _ time.Duration) {
			play(ctx, min(from+time.Duration(random.Int64N(int64(to-from))), max(t.length/longestShare, aboveTimeouts)))
		}}
	}

	all := []fault{
		{"server killed", t.kill},
		atRandom("server paused", 5*time.Second, 20*time.Second, t.pause),
		atRandom("database locked by another process", time.Second, 14*time.Second, t.lockDatabase),
		{"server restarted", t.restart},
		{"backup restored on a copy", t.restoreCopy},
		{"older database put back on a copy", t.putBack},
		{"strangers", t.strangers},
	}

	if t.length >= longestShare*pauseBeyondLeases {
		all = append(all, fault{"server paused beyond its leases", func(ctx context.Context, _ time.Duration) {
			t.pause(ctx, pauseBeyondLeases)
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
	// aboveTimeouts is longer than the server waits for the provider or for an endpoint.
	aboveTimeouts = 2500 * time.Millisecond
	// pauseBeyondLeases outlasts every lease that a job with a call has in a trial.
	pauseBeyondLeases = 20 * time.Second
)

// clockFaults are those of the server's clock, if it can be set.
func (t *trial) clockFaults() []fault {
	if !t.hasClock {
		return nil
	}

	step := func(name string, offset time.Duration, restart bool) fault {
		return fault{name, func(ctx context.Context, length time.Duration) { t.stepClock(ctx, offset, length, restart) }}
	}
	return []fault{
		step("clock ahead by 11 minutes", 11*time.Minute, false),
		step("clock ahead by 2 days", 48*time.Hour, false),
		step("clock back by an hour", -time.Hour, false),
		step("server started with its clock ahead by 2 days", 48*time.Hour, true),
	}
}

// playFaults plays the faults one after the other until the trial ends.
func (t *trial) playFaults(ctx context.Context, random *rand.Rand) {
	if t.kills > 0 {
		t.playKills(ctx, random) // which ends the trial
	}
	step := min(t.length/40, 10*time.Second)

	for sleep(ctx, step) {
		for _, f := range t.schedule(random) {
			t.play(ctx, f, step)
			if !sleep(ctx, step) {
				return
			}
		}
	}
}

// timeOfDay is how the list of the faults shows when each began and ended.
const timeOfDay = "15:04:05.000"

// play plays a fault, and lists it in a file.
func (t *trial) play(ctx context.Context, f fault, length time.Duration) {
	began := time.Now()
	rig.Within(f.name, func() { f.play(ctx, length) })
	t.count("fault: " + f.name)
	fmt.Fprintf(t.played, "%s to %s: %s\n", began.UTC().Format(timeOfDay), time.Now().UTC().Format(timeOfDay), f.name)
}

// errDone ends a trial that has nothing left to play.
var errDone = errors.New("all faults were played")

// longestLife is how long the server lives at most in a trial of kills. A call to the
// provider takes as long, so that every kill meets some.
const longestLife = 400 * time.Millisecond

// playKills does nothing but kill the server, at any moment after it is ready, as fast as it
// starts again.
func (t *trial) playKills(ctx context.Context, random *rand.Rand) {
	f := fault{"server killed", t.kill}
	if t.storage != nil {
		f = fault{"machine lost", t.loseMachine}
	}
	for range t.kills {
		sleep(ctx, time.Duration(random.Int64N(int64(longestLife))))
		rig.Check(ctx.Err())
		t.play(ctx, f, 0)
	}
	rig.Check(errDone)
}

// pause stops the server where it is, as a machine does that is moved or suspended.
func (t *trial) pause(ctx context.Context, length time.Duration) {
	t.server.Process().Signal(syscall.SIGSTOP)
	sleep(ctx, length)
	t.server.Process().Signal(syscall.SIGCONT)
}

func (t *trial) kill(context.Context, time.Duration) {
	t.server.Kill()
	t.server.Start()
}

// restart stops the server as an administrator would, and starts it again.
func (t *trial) restart(context.Context, time.Duration) {
	t.server.Stop()
	t.server.Start()
}

func (t *trial) fillDisk(ctx context.Context, length time.Duration) {
	free := t.disk.fill()
	sleep(ctx, length/2)
	free()
}

// smallDisk is a file system of its own that can be filled up.
type smallDisk struct{ path string }

// newSmallDisk mounts one that is large enough for a trial, or returns nil if that is not
// permitted.
func newSmallDisk(path string, length time.Duration) *smallDisk {
	size := 512 + 256*int(length/time.Minute) // MB
	if os.MkdirAll(path, 0o700) != nil {
		return nil
	}
	if exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", size), "tmpfs", path).Run() != nil {
		return nil
	}
	return &smallDisk{path}
}

// fill writes a file until no block is free. The returned function removes it.
func (d *smallDisk) fill() func() {
	f := rig.Must(os.Create(filepath.Join(d.path, "ballast")))
	defer f.Close()

	for block := make([]byte, 1<<20); len(block) >= 512; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}

	return func() { os.Remove(f.Name()) }
}

func (d *smallDisk) remove() {
	exec.Command("umount", "-l", d.path).Run()
}

// copyDir copies a directory into another one, with anything in it: a server that was killed
// leaves a socket, at which os.CopyFS stops.
func copyDir(dir, into string) {
	copying := exec.Command("cp", "-R", dir, into)
	copying.Stderr = os.Stderr
	copying.Run()
}

// lockDatabase lets another process hold the write lock of the server's database, as a
// command or somebody's SQLite shell may do.
func (t *trial) lockDatabase(_ context.Context, length time.Duration) {
	t.self.Run("lock", t.server.Dir, length.String())
}

// holdLock opens a database that another process serves, and holds its write lock for
// a time. The arguments are the data directory and the time.
func holdLock(args []string) {
	dir, length := args[0], rig.Must(time.ParseDuration(args[1]))
	db := rig.Must(storage.Open(storage.Options{
		Path: storage.DatabaseFile(dir), MasterKey: rig.Must(storage.LoadMasterKey(dir, "")), Readers: 1, Served: true, SkipCheck: true,
	}))
	defer db.Close()

	// The server takes the lock again and again, so that it may take a while to get it.
	err := storage.ErrUnavailable
	for errors.Is(err, storage.ErrUnavailable) {
		err = db.Update(context.Background(), func(*storage.Tx) error {
			time.Sleep(length)
			return nil
		})
	}
	rig.Check(err)
}
