package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"confab/app/tools/rig"
)

// options are how much load there is and for how long.
type options struct {
	program rig.Program // confab
	self    rig.Program // this program, for the processes beside it
	length  time.Duration
	rate    float64
	seed    uint64
	only    *regexp.Regexp // of the faults to play; nil for all
	people  bool           // let people work in browsers, if there is one
	replica bool           // keep a replica and media in object storage
	kills   int            // how often the server is killed, in a trial that does nothing else; 0 for any other

	// needClock refuses a server whose clock cannot be set. Otherwise the faults of
	// the clock are left out then.
	needClock bool
}

// trial is one run: the processes, the tenants, and what was recorded.
type trial struct {
	options
	dir        string
	server     *rig.Server
	sim        *rig.Simulator
	proxy      *slowProxy // between the two
	receiver   *rig.Receiver
	storage    *rig.Storage // nil without a replica
	tenants    []*tenant
	colleagues []*colleague
	disk       *smallDisk // nil where none can be made
	hasClock   bool       // the server's clock can be set
	clock      *client    // of an organization whose customer's links show it

	clockCustomer string
	health        health
	played        io.Writer // the list of the faults
	report        *report

	greedyKeys []string // of organizations that take what they can

	alone  []time.Duration // how long authenticated calls took before strangers came
	beside []time.Duration // and while they were there

	mu sync.Mutex // guards the counts of the report
}

// soak runs one trial and returns its report. If the trial failed, the files needed to find
// out why are kept, and the report or the error says where.
func soak(ctx context.Context, o options) *report {
	t := &trial{options: o, dir: rig.Must(os.MkdirTemp("", "confab-soak-*")), report: &report{counts: make(map[string]int)}}
	running, stop := context.WithCancel(ctx)
	defer stop()
	err := rig.Catch(func() { t.run(running) })

	keep := ctx.Err() == nil && (err != nil || t.report.failed())
	t.clean(keep)
	rig.Check(ctx.Err())
	if err != nil {
		rig.Check(fmt.Errorf("%w\n%s", err, keptIn(t.dir)))
	}
	if keep {
		t.report.keptDir = t.dir
	}
	return t.report
}

// run takes the steps of the trial. It takes no further one after ctx has ended.
func (t *trial) run(ctx context.Context) {
	for _, step := range []func(context.Context){t.prepare, t.openConsoles, t.runTraffic, t.settle} {
		step(ctx)
		rig.Check(ctx.Err())
	}
	t.audit()
}

// keptIn says where the remains of a trial are.
func keptIn(dir string) string {
	return "The log of the server, its data and the list of the faults are in " + dir + "."
}

// clean ends what still runs and removes what need not be kept.
func (t *trial) clean(keep bool) {
	for _, c := range t.colleagues {
		c.Close()
	}

	if t.server != nil {
		t.server.Kill()
	}
	if t.sim != nil {
		t.sim.Kill()
	}
	if t.proxy != nil {
		t.proxy.server.Close()
	}
	if t.receiver != nil {
		t.receiver.Kill()
	}
	if t.storage != nil {
		t.storage.Kill()
	}
	if t.disk != nil && keep {
		copyDir(t.server.Dir, t.dir)
	}
	if t.disk != nil {
		t.disk.remove()
	}

	if !keep {
		os.RemoveAll(t.dir)
	}
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
		return max(time.Minute, time.Duration(t.kills)*usualKill)
	}
	return min(max(15*time.Second, t.length/5), 2*time.Minute)
}

// prepare starts everything and makes two tenants that know nothing of each other.
func (t *trial) prepare(ctx context.Context) {
	log := rig.Must(os.Create(filepath.Join(t.dir, "server.log")))
	t.played = rig.Must(os.Create(filepath.Join(t.dir, "faults.log")))
	t.server = &rig.Server{Program: t.program, Dir: filepath.Join(t.dir, "data"), Log: log, Address: rig.Must(rig.FreeAddress())}
	if t.disk = newSmallDisk(filepath.Join(t.dir, "disk"), t.length); t.disk != nil {
		t.server.Dir = filepath.Join(t.disk.path, "data")
	}

	t.startProvider(log)
	t.receiver = t.self.StartReceiver()
	t.server.Env = slices.Concat(t.sim.Settings(), serverSettings, []string{
		"CONFAB_PROVIDER__BASE_URL=" + t.proxy.url,
		"CONFAB_PROVIDER__RECONCILE_WINDOW=" + t.reconcileWindow().String(), clockVariable + "=" + t.clockFile(),
	})
	if t.replica {
		t.server.Env = append(t.server.Env, t.startStorage()...)
	}
	t.server.Start()
	go t.health.watch(ctx, t.server)

	for i, name := range []string{"Acme", "Umbrella"} {
		rig.Within(name, func() { t.tenants = append(t.tenants, t.newTenant(name, i)) })
	}
	t.makeClock()
	t.tryClock()
}

// startProvider starts the simulator and the proxy between it and the server.
func (t *trial) startProvider(log io.Writer) {
	t.sim = t.program.StartSimulator(filepath.Join(t.dir, "simulator"), t.server.URL()+"/provider/webhook", log,
		"--remember", t.messageCapacity())
	t.sim.Call("PATCH", "/_sim/settings", `{`+rig.Uncapped+`,"template_review_ms":0}`, nil)
	t.setStatusDelay(0)
	t.proxy = newSlowProxy(t.sim.URL)
}

// tryClock finds out whether the server's clock can be set.
func (t *trial) tryClock() {
	err := rig.Catch(func() { t.setClock(time.Hour) })
	t.hasClock = err == nil
	if !errors.Is(err, errClock) || t.needClock {
		rig.Check(err)
		t.setClock(0)
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
func (t *trial) runTraffic(ctx context.Context) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, t.length)
	defer cancel()
	defer func() { t.length = time.Since(began).Round(time.Second) }()

	var group sync.WaitGroup
	var problems error // guarded by t.mu
	started := uint64(0)
	run := func(f func(context.Context, *rand.Rand)) {
		started++
		random := rand.New(rand.NewPCG(t.seed, started))
		group.Go(func() {
			err := rig.Catch(func() { f(ctx, random) })
			if err == nil || ctx.Err() != nil {
				return
			}
			if !errors.Is(err, errDone) {
				t.mu.Lock()
				problems = errors.Join(problems, err)
				t.mu.Unlock()
			}
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
			run(func(ctx context.Context, random *rand.Rand) {
				repeat(ctx, random, c.least, c.most, func(n int) { c.do(one, ctx, random, n) })
			})
		}
	}

	for _, c := range t.colleagues {
		run(c.work)
	}
	run(t.changeStatusDelay)
	run(t.playFaults)
	group.Wait()
	rig.Check(problems)
}

func (t *trial) count(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.counts[what]++
}
