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

// options are how hard and how long to press.
type options struct {
	program rig.Program // confab
	self    rig.Program // this program, for the receivers
	schema  string      // text of schema.sql
	length  time.Duration
	rate    float64
	seed    uint64
}

// trial is one soak: the processes, the tenants, and what was found out.
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

// soak runs one trial and returns its findings. What the server logged is kept
// when there is something to explain.
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
	if err := t.press(ctx); err != nil {
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
		r.kept = dir
	}
	return r, nil
}

// clean ends what still runs and removes what need not be kept.
func (t *trial) clean(keep bool) {
	if t.health != nil {
		t.health.end()
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

// patience is how the server is set up: as in life, but with schedules that
// fit into a trial.
var patience = []string{
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
	if t.sim, err = t.program.StartSimulator(filepath.Join(t.dir, "simulator"), t.server.URL()+"/provider/webhook", log, "--remember", t.said()); err != nil {
		return err
	}
	if err := t.sim.Call("PATCH", "/_sim/settings", `{`+rig.Uncapped+`,"sent_ms":20,"delivered_ms":80,"read_ms":200,"template_review_ms":0}`, nil); err != nil {
		return err
	}
	if t.receiver, err = startReceiver(t.self); err != nil {
		return err
	}
	t.server.Env = append(t.sim.Settings(), patience...)
	if err := t.server.Start(); err != nil {
		return err
	}
	t.health = watch(t.server)
	for i, name := range []string{"Acme", "Umbrella"} {
		one, err := t.newTenant(name, i)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t.tenants = append(t.tenants, one)
	}
	return nil
}

// said is more messages than can be sent and received: the audit asks the provider
// for all of them.
func (t *trial) said() string {
	const tenants, allInAll = 2, 3 // what people write, and what is said of it, is less than what is sent twice over
	return strconv.Itoa(1000 + int(tenants*allInAll*t.rate*t.length.Seconds()))
}

// press lets traffic and faults go on for the length of the trial.
func (t *trial) press(ctx context.Context) error {
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
			run(one.send)
		}
		run(one.receive)
		run(one.read)
		run(one.tag)
		run(one.subscribe)
	}
	run(t.misbehave)
	group.Wait()
	close(problems)
	var all error
	for err := range problems {
		all = errors.Join(all, err)
	}
	return all
}

// count notes that a fault was played.
func (t *trial) count(fault string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults[fault]++
}
