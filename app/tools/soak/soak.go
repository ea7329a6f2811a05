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
func soak(ctx context.Context, o options) (*report, error) {
	dir, err := os.MkdirTemp("", "confab-soak-*")
	if err != nil {
		return nil, err
	}

	t := &trial{options: o, dir: dir, report: &report{counts: make(map[string]int)}}
	running, stop := context.WithCancel(ctx)
	defer stop()
	r, err := t.run(running)
	if ctx.Err() != nil {
		t.clean(false)
		return nil, ctx.Err()
	}

	keep := err != nil || r.failed()
	t.clean(keep)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, keptIn(dir))
	}
	if keep {
		r.keptDir = dir
	}
	return r, nil
}

// run takes the steps of the trial. It takes no further one after ctx has ended.
func (t *trial) run(ctx context.Context) (*report, error) {
	for _, step := range []func(context.Context) error{t.prepare, t.openConsoles, t.runTraffic, t.settle} {
		if err := errors.Join(step(ctx), ctx.Err()); err != nil {
			return nil, err
		}
	}
	return t.audit()
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
func (t *trial) prepare(ctx context.Context) (err error) {
	log, err := os.Create(filepath.Join(t.dir, "server.log"))
	if err != nil {
		return err
	}
	if t.played, err = os.Create(filepath.Join(t.dir, "faults.log")); err != nil {
		return err
	}

	t.server = &rig.Server{Program: t.program, Dir: filepath.Join(t.dir, "data"), Log: log}
	if t.disk = newSmallDisk(filepath.Join(t.dir, "disk"), t.length); t.disk != nil {
		t.server.Dir = filepath.Join(t.disk.path, "data")
	}
	if t.server.Address, err = rig.FreeAddress(); err != nil {
		return err
	}

	if err := t.startProvider(log); err != nil {
		return err
	}
	if t.receiver, err = t.self.StartReceiver(); err != nil {
		return err
	}

	t.server.Env = append(t.sim.Settings(), serverSettings...)
	t.server.Env = append(t.server.Env, "CONFAB_PROVIDER__BASE_URL="+t.proxy.url,
		"CONFAB_PROVIDER__RECONCILE_WINDOW="+t.reconcileWindow().String(), clockVariable+"="+t.clockFile())
	if t.replica {
		settings, err := t.startStorage()
		if err != nil {
			return err
		}
		t.server.Env = append(t.server.Env, settings...)
	}
	if err := t.server.Start(); err != nil {
		return err
	}

	go t.health.watch(ctx, t.server)

	for i, name := range []string{"Acme", "Umbrella"} {
		one, err := t.newTenant(name, i)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t.tenants = append(t.tenants, one)
	}
	if err := errors.Join(t.makeGreedy(), t.makeClock()); err != nil {
		return err
	}
	return t.tryClock()
}

// startProvider starts the simulator and the proxy between it and the server.
func (t *trial) startProvider(log io.Writer) (err error) {
	t.sim, err = t.program.StartSimulator(filepath.Join(t.dir, "simulator"), t.server.URL()+"/provider/webhook", log,
		"--remember", t.messageCapacity())
	if err != nil {
		return err
	}

	settings := `{` + rig.Uncapped + `,"template_review_ms":0}`
	if err := t.sim.Call("PATCH", "/_sim/settings", settings, nil); err != nil {
		return err
	}
	if err := t.setStatusDelay(0); err != nil {
		return err
	}

	t.proxy, err = newSlowProxy(t.sim.URL)
	return err
}

// tryClock finds out whether the server's clock can be set.
func (t *trial) tryClock() error {
	err := t.setClock(time.Hour)
	t.hasClock = err == nil
	if errors.Is(err, errClock) && !t.needClock {
		return nil
	}
	return errors.Join(err, t.setClock(0))
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
func (t *trial) runTraffic(ctx context.Context) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, t.length)
	defer cancel()
	defer func() { t.length = time.Since(began).Round(time.Second) }()

	var group sync.WaitGroup
	problems := make(chan error, 64)
	started := uint64(0)

	run := func(f func(context.Context, *rand.Rand) error) {
		started++
		random := rand.New(rand.NewPCG(t.seed, started))
		group.Go(func() {
			err := f(ctx, random)
			if err == nil || ctx.Err() != nil {
				return
			}
			if !errors.Is(err, errDone) {
				problems <- err
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
			run(func(ctx context.Context, random *rand.Rand) error {
				return repeat(ctx, random, c.least, c.most, func(n int) error { return c.do(one, ctx, random, n) })
			})
		}
	}

	for _, c := range t.colleagues {
		run(c.work)
	}
	run(t.changeStatusDelay)
	run(t.playFaults)
	group.Wait()
	close(problems)

	var all error
	for err := range problems {
		all = errors.Join(all, err)
	}
	return all
}

// count counts something that was done.
func (t *trial) count(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.counts[what]++
}
