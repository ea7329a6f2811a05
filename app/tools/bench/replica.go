package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

const (
	replicaRate        = 2000
	replicaConnections = 64
	replicaKills       = 100
	// restoredMessages make about a gigabyte.
	restoredMessages = 1_700_000
)

// replica measures what a replica costs a server, and what is lost without it.
func (b *bench) replica(ctx context.Context, o *installation) {
	store := b.self.StartStorage()
	defer store.Kill()
	with := b.startSibling(ctx, o, 0, func(s *server) { s.Env = append(s.Env, store.Settings()...) })
	defer with.close()

	b.replicaCost(ctx, o, with, store)
	b.replicaKills(ctx, with, store.Address("replica"))
	b.takeOver(ctx, o, with, store.Address("replica"))
	b.restoreCold(ctx, o)
}

// replicaCost measures a server with a replica beside one without.
func (b *bench) replicaCost(ctx context.Context, o *installation, with *server, store *rig.Storage) {
	compare := func(rate int, least float64, what string) {
		on := func(s *server) *series {
			sends := load{address: s.Address, connections: replicaConnections, rate: rate, request: s.message}
			return b.newSeries(sends, s.awaitSent, s.serverProcess())
		}
		base, s := on(o.server), on(with)
		base.name = "without"
		b.measureAll(ctx, base, s)
		b.table.addRatio(s, base, least, row{id: "P23", what: what})
	}

	watched, stop := context.WithCancel(ctx)
	defer stop()
	seen := make(chan replicaPeaks, 1)
	go func() { seen <- with.watchReplica(watched) }()
	compare(replicaRate, 0.98, fmt.Sprintf("POST message at %d/s, with a replica", replicaRate))
	compare(0, 0.6, "POST message, "+connectionsText(replicaConnections)+", with a replica")
	stop()
	peaks := <-seen

	b.table.addLimited(rig.Percentile(peaks.lags, 99), 1, " s", row{
		id: "P23", what: "lag of the replica, p99", detail: fmt.Sprintf("%d samples", len(peaks.lags)),
	})
	b.table.addLimited(megabytes(peaks.log), 256, " MB", row{id: "P23", what: "write-ahead log, at most"})
	b.table.addLimited(megabytes(peaks.child), 60, " MB", row{id: "P23", what: "memory of the child, at most"})

	store.Break(rig.StorageSilent)
	compare(replicaRate, 0.98, fmt.Sprintf("POST message at %d/s, while the storage is away", replicaRate))
	store.Break(rig.StorageSound)
}

type replicaPeaks struct {
	lags       []float64
	log, child int64
}

var lagMetric = regexp.MustCompile(`(?m)^confab_replica_lag_seconds (\S+)$`)

// watchReplica looks at the replica of a server until ctx ends.
func (s *server) watchReplica(ctx context.Context) (p replicaPeaks) {
	for ctx.Err() == nil {
		_, text, err := rig.Client{Base: s.URL()}.Do(ctx, rig.Request{Method: "GET", Path: "/metrics"})
		if found := lagMetric.FindSubmatch(text); err == nil && found != nil {
			lag, _ := strconv.ParseFloat(string(found[1]), 64) // which the server wrote
			p.lags = append(p.lags, lag)
		}
		if info, err := os.Stat(storage.DatabaseFile(s.Dir) + "-wal"); err == nil {
			p.log = max(p.log, info.Size())
		}
		p.child = max(p.child, s.ChildMemory())

		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return p
}

// replicaBehind is how far a replica may be behind that counts as complete.
const replicaBehind = 500 * time.Millisecond

// emptyDir makes a data directory that holds nothing but the key of the server.
func (b *bench) emptyDir(s *server) string {
	dir := rig.Must(os.MkdirTemp(b.dir, "empty-*"))
	key := rig.Must(os.ReadFile(filepath.Join(s.Dir, storage.MasterKeyFile)))
	rig.Check(os.WriteFile(filepath.Join(dir, storage.MasterKeyFile), key, 0o600))
	return dir
}

// restoreElsewhere restores the replica of a server, which verifies it, and returns how many
// messages it holds, of how many bytes, and how long that took.
func (b *bench) restoreElsewhere(s *server, replica string) (messages, bytes int64, took time.Duration) {
	other := &rig.Server{Program: s.Program, Dir: b.emptyDir(s), Env: s.Env}
	defer os.RemoveAll(other.Dir)
	began := time.Now()
	other.Command("restore", replica)
	took = time.Since(began)
	facts := rig.Must(storage.ReadCopy(storage.DatabaseFile(other.Dir), nil))
	return facts.Messages, fileSize(other.Dir), took
}

// replicaKills loses the machine of a server again and again while one client writes, and
// restores the replica elsewhere. What is there must be the first so many that were written.
func (b *bench) replicaKills(ctx context.Context, s *server, replica string) {
	kills := replicaKills
	if b.quick {
		kills /= 20
	}
	var most time.Duration
	for range kills {
		s.AwaitReplica(ctx, replicaBehind)
		before := s.countStored(ctx).Messages

		var acknowledged []time.Time
		for began := time.Now(); time.Since(began) < 1500*time.Millisecond; {
			s.create(s.messages(), `{"messaging_product":"chat","to":"`+personPhone(s.sent.Add(1))+`","type":"text","text":{"body":"x"}}`)
			acknowledged = append(acknowledged, time.Now())
		}
		killed := time.Now()
		s.Lose()
		found, _, _ := b.restoreElsewhere(s, replica)
		s.Start()

		kept := found - before // one may be there that was not acknowledged any more
		if kept < 0 {
			rig.Check(fmt.Errorf("%d messages were restored, and %d had been sent before", found, before))
		}
		if kept < int64(len(acknowledged)) {
			most = max(most, killed.Sub(acknowledged[kept]))
		}
	}
	b.table.addLimited(most.Seconds(), 1, " s", row{
		id: "P23", what: "lost with the machine, at most", detail: fmt.Sprintf("%d kills, each restored and verified", kills),
	})
}

// takeOver measures how long a standby takes to be the server, and counts what was sent twice.
func (b *bench) takeOver(ctx context.Context, o *installation, s *server, replica string) {
	standby := &rig.Server{Program: s.Program, Dir: b.emptyDir(s), Env: s.Env, Address: rig.Must(rig.FreeAddress())}
	process := s.Program.Start(os.Stderr, s.Env, "standby", replica, "--data-dir", standby.Dir, "--listen", standby.Address)
	defer process.Kill()
	process.WaitReady(standby.URL() + "/livez")
	s.AwaitReplica(ctx, replicaBehind)
	sleep(ctx, 5*time.Second) // until it has a copy

	began := time.Now()
	load{address: s.Address, connections: 4, rate: 200, length: 2 * time.Second, request: s.message}.run(ctx)
	killed := time.Now()
	s.Lose()
	standby.Command("promote")
	b.table.addLimited(time.Since(killed).Seconds(), 15, " s", row{id: "P23", what: "a standby promoted, from the loss on"})

	sleep(ctx, 40*time.Second) // those that count as begun wait for provider.reconcile_window
	twice, early := o.sentTwice(began, killed.Add(-time.Second))
	b.table.addLimited(float64(early), 0, "", row{
		id: "P23", what: "sent twice, called more than a second before the loss",
		detail: fmt.Sprintf("%d within the second", twice-early),
	})
}

// sentTwice counts the messages that the provider got twice, the first time since one time,
// and those of them that it first got before another one.
func (o *installation) sentTwice(since, before time.Time) (all, early int) {
	var list struct {
		Data []struct {
			At      time.Time `json:"created_at"`
			Request struct {
				Tag string `json:"biz_opaque_callback_data"`
			}
		}
	}
	o.provider.Call("GET", "/_sim/messages", "", &list)

	got := make(map[string][]time.Time)
	for _, m := range list.Data {
		got[m.Request.Tag] = append(got[m.Request.Tag], m.At)
	}
	for tag, times := range got {
		first := slices.MinFunc(times, time.Time.Compare)
		if len(times) > 1 && tag != "" && first.After(since) {
			all++
			if first.Before(before) {
				early++
			}
		}
	}
	return all, early
}

// restoreCold measures how long a large replica takes to be restored and verified.
func (b *bench) restoreCold(ctx context.Context, o *installation) {
	messages := min(restoredMessages, b.messages)
	if messages == 0 {
		return
	}
	replica := "file://" + rig.Must(os.MkdirTemp(b.dir, "replica-*"))
	large := b.startSibling(ctx, o, messages, func(s *server) { s.Env = append(s.Env, "CONFAB_REPLICA__URL="+replica) })
	defer large.close()
	large.AwaitReplica(ctx, replicaBehind)

	_, bytes, took := b.restoreElsewhere(large, replica)
	b.table.addLimited(took.Seconds()*(1<<30)/float64(bytes), 60, " s/GB", row{
		id: "P23", what: "a replica restored cold, and verified",
		detail: fmt.Sprintf("%.0f MB in %.1f s", megabytes(bytes), took.Seconds()),
	})
}
