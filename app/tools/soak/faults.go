package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"confab/app/tools/rig"
	"confab/storage"
)

// fault is one thing that goes wrong. It returns when it is over.
type fault struct {
	name string
	play func(ctx context.Context, length time.Duration)
}

func (t *trial) schedule() []fault {
	all := slices.Concat(t.serverFaults(), t.replicaFaults(), t.clockFaults())

	// Those of the server are far apart, and the small ones lie between them.
	for i, small := range t.outsideFaults() {
		all = slices.Insert(all, min(2*i, len(all)), small)
	}
	return slices.DeleteFunc(all, func(f fault) bool { return !rig.Must(regexp.MatchString(t.only, f.name)) })
}

func (t *trial) outsideFaults() []fault {
	provider := func(name, body string) fault {
		return fault{name, func(context.Context, time.Duration) { t.sim.Call("POST", "/_sim/faults", body, nil) }}
	}
	endpoint := func(name, mode string) fault {
		return fault{name, func(ctx context.Context, length time.Duration) {
			t.setMode(mode)
			sleep(ctx, length)
			t.setMode(modeRandom)
		}}
	}

	return []fault{
		provider("provider times out", `{"kind":"timeout","times":5}`), // first, because it is felt the longest
		provider("provider hangs up after accepting", `{"kind":"drop_connection","times":10}`),
		endpoint("endpoint hangs", modeHang),
		provider("provider answers 500", `{"kind":"http_500","times":10}`),
		provider("provider limits the rate", `{"kind":"rate_limit","times":10}`),
		endpoint("endpoint fails", modeFail),
		provider("provider's media fail", `{"kind":"http_500","endpoint":"media","times":3}`),
	}
}

func (t *trial) setMode(mode string) {
	for _, one := range t.tenants {
		t.receiver.setMode(one.endpointName(hookShaky), mode)
	}
}

func (t *trial) serverFaults() []fault {
	// atRandom is a fault whose length is chosen at random. In a short trial all are shorter.
	atRandom := func(name string, from, to time.Duration, play func(context.Context, time.Duration)) fault {
		return fault{name, func(ctx context.Context, _ time.Duration) {
			play(ctx, min(from+rand.N(to-from), max(t.length/longestShare, aboveTimeouts)))
		}}
	}

	all := []fault{
		{"server killed", t.kill},
		atRandom("server paused", 5*time.Second, 20*time.Second, t.pause),
		atRandom("database locked by another process", time.Second, 14*time.Second, t.lockDatabase),
		{"server restarted", t.restart},
		{"backup restored on a copy", func(context.Context, time.Duration) { t.withCopy(t.restoreBackup, t.check) }},
		{"older database put back on a copy", t.putBack},
		{"strangers", t.strangers},
	}

	if t.length >= longestShare*pauseBeyondLeases {
		all = append(all, fault{"server paused beyond its leases", func(ctx context.Context, _ time.Duration) {
			t.pause(ctx, pauseBeyondLeases)
		}})
	}
	if t.disk != "" {
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

func (t *trial) playFaults(ctx context.Context) {
	if t.kills > 0 {
		t.playKills(ctx)
		return
	}
	step := min(t.length/40, 10*time.Second)

	for sleep(ctx, step) {
		for _, f := range t.schedule() {
			t.play(ctx, f, step)
			if !sleep(ctx, step) {
				return
			}
		}
	}
}

func (t *trial) play(ctx context.Context, f fault, length time.Duration) {
	began := time.Now().UTC()
	rig.Within(f.name, func() { f.play(ctx, length) })
	t.count("fault: " + f.name)
	fmt.Fprintf(t.server.Log, "fault, %s to %s: %s\n", began.Format(time.StampMilli), time.Now().UTC().Format(time.StampMilli), f.name)
}

// longestLife is how long the server lives at most in a trial of kills. A call to the
// provider takes as long, so that every kill meets some.
const longestLife = 400 * time.Millisecond

// playKills does nothing but kill the server, at any moment after it is ready, as fast as it
// starts again.
func (t *trial) playKills(ctx context.Context) {
	f := fault{"server killed", t.kill}
	if t.storage != nil {
		f = fault{"machine lost", t.loseMachine}
	}
	for range t.kills {
		if !sleep(ctx, rand.N(longestLife)) {
			return
		}
		t.play(ctx, f, 0)
	}
}

// pause stops the server where it is, as a machine does that is moved or suspended.
func (t *trial) pause(ctx context.Context, length time.Duration) {
	t.server.Signal(syscall.SIGSTOP)
	sleep(ctx, length)
	t.server.Signal(syscall.SIGCONT)
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

// mountDisk mounts a file system of its own that can be filled up, or returns "" if that is not
// permitted.
func mountDisk(path string) string {
	rig.Check(os.MkdirAll(path, 0o700))
	if exec.Command("mount", "-t", "tmpfs", "-o", diskSize, "tmpfs", path).Run() != nil {
		return ""
	}
	return path
}

// diskSize is the size of that file system while it is not full. It is in memory, and takes as
// much of it as is stored: some gigabytes in hours, with the minutes of changes that a replica
// keeps.
const diskSize = "size=16g"

// fillDisk takes the free space away: it makes the disk as small as what it holds. To write until
// nothing is free would need all of that memory.
func (t *trial) fillDisk(ctx context.Context, length time.Duration) {
	resize := func(size string) error {
		return exec.Command("mount", "-o", "remount,"+size, t.disk).Run()
	}
	defer func() { rig.Check(resize(diskSize)) }()

	// What the server stores between the two calls does not fit, and the second one is refused.
	for ctx.Err() == nil {
		var disk unix.Statfs_t
		rig.Check(unix.Statfs(t.disk, &disk))
		if resize(fmt.Sprintf("size=%d", int64(disk.Blocks-disk.Bfree)*int64(disk.Bsize))) == nil {
			break
		}
	}
	sleep(ctx, length/2)
}

// unmountDisk removes the disk. What is to be kept is copied, with anything in it: a server that was killed
// leaves a socket, at which os.CopyFS stops.
func (t *trial) unmountDisk() {
	if t.keep {
		copying := exec.Command("cp", "-R", t.server.Dir, t.dir)
		copying.Stderr = os.Stderr
		copying.Run()
	}
	exec.Command("umount", "-l", t.disk).Run()
}

// lockDatabase holds the write lock of the server's database, as a command or somebody's SQLite shell
// may do.
func (t *trial) lockDatabase(_ context.Context, length time.Duration) {
	db := rig.Must(storage.Open(storage.Options{
		Path: storage.DatabaseFile(t.server.Dir), MasterKey: rig.Must(storage.LoadMasterKey(t.server.Dir, "")),
		Readers: 1, Served: true, SkipCheck: true,
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
