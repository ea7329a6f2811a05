package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"confab/app/rig"
)

// options are how much load there is and for how long.
type options struct {
	program rig.Program // confab
	self    rig.Program // this program, for the receivers
	schema  string      // text of schema.sql
	length  time.Duration
	rate    float64
	seed    uint64
}

// trial is one run: the processes, the tenants, and what was recorded.
type trial struct {
	options
	dir      string
	server   *rig.Server
	sim      *rig.Simulator
	receiver *receiverProcess
	tenants  []*tenant
	disk     *smallDisk // nil where none can be made
	health   *health

	mu     sync.Mutex
	faults map[string]int
}

// soak runs one trial and returns its report. The log of the server is kept if the trial
// failed.
func soak(ctx context.Context, o options) (*report, error) {
	dir, err := os.MkdirTemp("", "confab-soak-*")
	if err != nil {
		return nil, err
	}

	t := &trial{options: o, dir: dir, faults: make(map[string]int)}
	keep := true
	defer func() { t.clean(keep) }()

	if err := t.prepare(); err != nil {
		return nil, err
	}
	if err := t.runTraffic(ctx); err != nil {
		return nil, err
	}
	if err := t.settle(ctx); err != nil {
		return nil, err
	}

	r, err := t.audit()
	if err != nil {
		return nil, err
	}

	if keep = r.failed(); keep {
		r.keptDir = dir
	}
	return r, nil
}

// clean ends what still runs and removes what need not be kept.
func (t *trial) clean(keep bool) {
	if t.health != nil {
		t.health.stopWatching()
	}

	if t.server != nil {
		t.server.Kill()
	}
	if t.sim != nil && t.sim.Process != nil {
		t.sim.Kill()
	}
	if t.receiver != nil {
		t.receiver.Kill()
	}
	if t.disk != nil {
		t.disk.remove()
	}

	if !keep {
		os.RemoveAll(t.dir)
	}
}

// serverSettings are the settings of the server: as in practice, but without limits and
// with retries that fit into a trial.
var serverSettings = []string{
	"CONFAB_LOG__LEVEL=error",
	"CONFAB_PLANS__SELF_HOSTED__RATE_PER_SECOND=0",
	"CONFAB_PROVIDER__MESSAGES_PER_SECOND=0", "CONFAB_PROVIDER__PAIR_LIMIT=false",
	"CONFAB_PROVIDER__TIMEOUT=2s", "CONFAB_PROVIDER__RETRY_SCHEDULE=6s,6s,8s,8s,8s,8s", "CONFAB_PROVIDER__RECONCILE_WINDOW=6s",
	"CONFAB_WEBHOOKS__TIMEOUT=2s", "CONFAB_WEBHOOKS__RETRY_SCHEDULE=1s,2s,3s,5s,8s,13s,20s,30s",
	"CONFAB_SECURITY__ALLOW_INSECURE_URLS=true", "CONFAB_SECURITY__ALLOW_CIDRS=127.0.0.0/8",
}

// prepare starts everything and makes two tenants that know nothing of each other.
func (t *trial) prepare() (err error) {
	log, err := os.Create(filepath.Join(t.dir, "server.log"))
	if err != nil {
		return err
	}

	t.server = &rig.Server{Program: t.program, Dir: filepath.Join(t.dir, "data"), Log: log}
	if t.disk = newSmallDisk(filepath.Join(t.dir, "disk"), t.length); t.disk != nil {
		t.server.Dir = filepath.Join(t.disk.path, "data")
	}

	if t.server.Address, err = rig.FreeAddress(); err != nil {
		return err
	}

	t.sim, err = t.program.StartSimulator(filepath.Join(t.dir, "simulator"), t.server.URL()+"/provider/webhook", log,
		"--remember", t.messageCapacity())
	if err != nil {
		return err
	}
	settings := `{` + rig.Uncapped + `,"sent_ms":20,"delivered_ms":80,"read_ms":200,"template_review_ms":0}`
	if err := t.sim.Call("PATCH", "/_sim/settings", settings, nil); err != nil {
		return err
	}

	if t.receiver, err = startReceiver(t.self); err != nil {
		return err
	}

	t.server.Env = append(t.sim.Settings(), serverSettings...)
	if err := t.server.Start(); err != nil {
		return err
	}

	t.health = watchServer(t.server)

	for i, name := range []string{"Acme", "Umbrella"} {
		one, err := t.newTenant(name, i)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t.tenants = append(t.tenants, one)
	}
	return nil
}

// messageCapacity returns how many messages the simulator must remember: more than can be
// sent and received, because the audit asks for all of them.
func (t *trial) messageCapacity() string {
	// People write half as much as a tenant sends, and changes and echoes are fewer
	// still, so three times what is sent is more than enough.
	const tenants, factor = 2, 3
	return strconv.Itoa(1000 + int(tenants*factor*t.rate*t.length.Seconds()))
}

// runTraffic runs all clients and the faults for the length of the trial. The first error
// ends it.
func (t *trial) runTraffic(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, t.length)
	defer cancel()

	var group sync.WaitGroup
	problems := make(chan error, 64)
	started := uint64(0)

	run := func(f func(context.Context, *rand.Rand) error) {
		started++
		random := rand.New(rand.NewPCG(t.seed, started))
		group.Go(func() {
			if err := f(ctx, random); err != nil && ctx.Err() == nil {
				problems <- err
				cancel()
			}
		})
	}

	for _, one := range t.tenants {
		for range sendersAtOnce {
			run(one.sendMessages)
		}
		run(one.receiveMessages)
		run(one.readLists)
		run(one.labelContacts)
		run(one.changeSubscriptions)
	}

	run(t.playFaults)
	group.Wait()
	close(problems)

	var all error
	for err := range problems {
		all = errors.Join(all, err)
	}
	return all
}

// count counts a fault that was played.
func (t *trial) count(fault string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults[fault]++
}
