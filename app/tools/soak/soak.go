package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"confab/app/tools/rig"
)

type options struct {
	program  rig.Program // confab
	self     rig.Program // this program, for the processes beside it
	length   time.Duration
	rate     float64
	only     string // pattern of the faults to play
	people   bool   // let people work in browsers, if there is one
	replica  bool   // keep a replica and media in object storage
	kills    int    // how often the server is killed, in a trial that does nothing else; 0 for any other
	hasClock bool   // the server's clock can be set: it was built with the tag trial
}

// trial is one run: the processes, the tenants, and what was recorded.
type trial struct {
	options
	dir        string
	keep       bool // leave the directory to look into
	server     *rig.Server
	sim        *rig.Simulator
	receiver   *receiver
	storage    *rig.Storage // nil without a replica
	tenants    []*tenant
	colleagues []*colleague
	disk       string // a small file system with the server's data; "" where none can be made
	report     *report

	alone  []time.Duration // how long authenticated calls took before strangers came
	beside []time.Duration // and while they were there

	mu sync.Mutex // guards the counts of the report
}

// soak runs one trial and returns its report. If the trial failed, the files needed to find
// out why are kept, and the report or the error says where.
func soak(o options) *report {
	t := &trial{options: o, dir: rig.Must(os.MkdirTemp("", "confab-soak-*"))}
	t.report = &report{counts: make(map[string]int), found: make(map[string][]string)}
	rig.Cleanup(func() {
		if !t.keep {
			os.RemoveAll(t.dir)
		}
	})

	err := rig.Catch(func() {
		for _, step := range []func(){t.prepare, t.openConsoles, t.runTraffic, t.settle, t.audit} {
			step()
		}
	})
	t.keep = err != nil || t.report.failed()
	rig.Clean()
	rig.Require(err == nil, "%w\n%s", err, keptIn(t.dir))
	if t.keep {
		t.report.keptDir = t.dir
	}
	return t.report
}

func keptIn(dir string) string {
	return "The log of the server with the list of the faults, and its data, are in " + dir + "."
}

// serverSettings are the settings of the server: as in practice, but without limits, with
// retries that fit into a trial, and with everything deleted that is older than a day.
var serverSettings = []string{
	"CONFAB_LOG__LEVEL=error",
	"CONFAB_PLANS__SELF_HOSTED__RATE_PER_SECOND=0",
	"CONFAB_PROVIDER__MESSAGES_PER_SECOND=0", "CONFAB_PROVIDER__PAIR_LIMIT=false",
	"CONFAB_PROVIDER__TIMEOUT=2s", "CONFAB_PROVIDER__RETRY_SCHEDULE=6s,6s,8s,8s,8s,8s",
	"CONFAB_WEBHOOKS__TIMEOUT=1s", "CONFAB_WEBHOOKS__RETRY_SCHEDULE=1s,2s,3s,5s,8s,13s,20s,30s",
	"CONFAB_WEBHOOKS__RETENTION_DAYS=1", "CONFAB_PLANS__SELF_HOSTED__RETENTION_DAYS=1", "CONFAB_LOG__API_LOG_DAYS=1",
	"CONFAB_SECURITY__ALLOW_INSECURE_URLS=true", "CONFAB_SECURITY__ALLOW_CIDRS=127.0.0.0/8",
	"CONFAB_GATEWAY__ENABLED=true", "CONFAB_GATEWAY__WAIT=4s",
}

// reconcileWindow returns how long a send whose outcome is unknown waits for a callback.
// The provider repeats callbacks ever more slowly, so that it takes longer than the longest
// fault until one has come, and several times as long on a busy machine. A message after
// the window is sent twice, and that is no fault of the server.
func (t *trial) reconcileWindow() time.Duration {
	if t.kills > 0 {
		// A server that lives for a moment hears little, and the provider doubles its waits:
		// the last one is as long as all the killing was.
		return max(time.Minute, time.Duration(t.kills)*500*time.Millisecond)
	}
	longest := 2 * time.Minute
	if t.replica {
		longest = 15 * time.Minute // the server is down while the replica of hours is restored
	}
	return min(max(15*time.Second, t.length/5), longest)
}

// prepare starts everything and makes two tenants that know nothing of each other.
func (t *trial) prepare() {
	log := rig.Must(os.Create(filepath.Join(t.dir, "server.log")))
	t.server = &rig.Server{Program: t.program, Dir: filepath.Join(t.dir, "data"), Log: log, Address: rig.Must(rig.FreeAddress())}
	if t.disk = mountDisk(filepath.Join(t.dir, "disk")); t.disk != "" {
		t.server.Dir = filepath.Join(t.disk, "data")
		rig.Cleanup(t.unmountDisk)
	}

	t.sim = t.program.StartSimulator(filepath.Join(t.dir, "simulator"), t.server.URL()+"/provider/webhook", log,
		"--remember", t.messageCapacity())
	t.sim.Call("PATCH", "/_sim/settings", `{`+rig.Uncapped+`,"template_review_ms":0}`, nil)
	t.setStatusDelay(0)
	t.receiver = startReceiver()

	t.server.Env = slices.Concat(t.sim.Settings(), serverSettings, []string{
		"CONFAB_PROVIDER__BASE_URL=" + startSlowProxy(t.sim.URL),
		"CONFAB_PROVIDER__RECONCILE_WINDOW=" + t.reconcileWindow().String(), clockVariable + "=" + t.clockFile(),
	})
	if t.replica {
		t.server.Env = append(t.server.Env, t.startStorage()...)
	}
	t.server.Start()

	for i, name := range []string{"Acme", "Umbrella"} {
		rig.Within(name, func() { t.tenants = append(t.tenants, t.newTenant(name, i)) })
	}
	if t.hasClock {
		t.checkClock()
	}
}

// messageCapacity returns how many messages the simulator must remember: more than can be
// sent and received, because the audit asks for all of them.
func (t *trial) messageCapacity() string {
	// People write half as much as a tenant sends, and changes and echoes are fewer
	// still, and rules answer less often than people write, so four times the sends is more than
	// enough. Merges come on top. So do broadcasts and later sends.
	const tenants, factor, merging, campaigning = 2, 4, 20, 120
	return strconv.Itoa(1000 + int(tenants*(factor*t.rate+merging+campaigning)*t.length.Seconds()))
}

// runTraffic runs all clients and the faults for the length of the trial. The first error
// ends it.
func (t *trial) runTraffic() {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), t.length)
	defer cancel()
	defer func() { t.length = time.Since(began).Round(time.Second) }()

	var group sync.WaitGroup
	var problems error // guarded by t.mu
	run := func(f func(context.Context)) {
		group.Go(func() {
			err := rig.Catch(func() { f(ctx) })
			if err == nil || ctx.Err() != nil {
				return
			}
			t.mu.Lock()
			problems = errors.Join(problems, err)
			t.mu.Unlock()
			cancel()
		})
	}

	for _, one := range t.tenants {
		for range sendersAtOnce {
			run(one.sendMessages)
		}
		for range gatewaySenders {
			run(one.sendThroughGateway)
		}
		run(one.receiveMessages)
		run(one.stream.follow)
		for _, c := range clients {
			run(func(ctx context.Context) {
				repeat(ctx, c.least, c.most, func(n int) { c.do(one, ctx, n) })
			})
		}
	}

	for _, c := range t.colleagues {
		run(c.work)
	}
	run(t.changeStatusDelay)
	run(func(ctx context.Context) {
		t.playFaults(ctx)
		cancel() // there are no more
	})
	group.Wait()
	rig.Check(problems)
}

func (t *trial) count(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.counts[what]++
}
