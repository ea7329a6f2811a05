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
	replicaRate  = 2000
	replicaKills = 100
	// restoredMessages make about a gigabyte.
	restoredMessages = 1_700_000
)

// replica measures what a replica costs a server, and what is lost without it.
func (b *bench) replica(o *installation) {
	store := b.self.StartStorage()
	with := b.startSibling(o, 0, func(s *server) { s.Env = append(s.Env, store.Settings()...) })

	b.replicaCost(o, with, store)
	b.replicaKills(with, store.Address("replica"))
	b.takeOver(o, with, store.Address("replica"))
	b.restoreCold(o)
}

func (b *bench) replicaCost(o *installation, with *server, store *rig.Storage) {
	compare := func(rate int, least float64, what string) {
		on := func(s *server) *series {
			sends := load{address: s.Address, connections: 64, rate: rate, request: s.message}
			return b.newSeries(sends, s.awaitSent, s.serverProcess())
		}
		base, s := on(o.server), on(with)
		base.name = "without"
		b.measureAll(base, s)
		b.table.addRatio("P23", what, s, base, least)
	}

	var peaks replicaPeaks
	watched, stop := context.WithCancel(context.Background())
	defer stop()
	awaitPeaks := rig.Go(func() { peaks = with.watchReplica(watched) })
	compare(replicaRate, 0.98, fmt.Sprintf("POST message at %d/s, with a replica", replicaRate))
	compare(0, 0.6, "POST message, 64 connections, with a replica")
	stop()
	awaitPeaks()

	b.table.addLimited("P23", "lag of the replica, p99",
		rig.Percentile(peaks.lags, 99), 1, " s", fmt.Sprintf("%d samples", len(peaks.lags)))
	b.table.addLimited("P23", "write-ahead log, at most", megabytes(peaks.log), 256, " MB", "")
	b.table.addLimited("P23", "memory of the child, at most", megabytes(peaks.child), 60, " MB", "")

	store.Break(rig.StorageSilent)
	compare(replicaRate, 0.98, fmt.Sprintf("POST message at %d/s, while the storage is away", replicaRate))
	store.Break(rig.StorageSound)
}

type replicaPeaks struct {
	lags       []float64
	log, child int64
}

var lagMetric = regexp.MustCompile(`(?m)^confab_replica_lag_seconds (\S+)$`)

func (s *server) watchReplica(ctx context.Context) (p replicaPeaks) {
	for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		_, text, err := rig.Client{Base: s.URL()}.Do(context.Background(), rig.Request{Method: "GET", Path: "/metrics"})
		if found := lagMetric.FindSubmatch(text); err == nil && found != nil {
			lag, _ := strconv.ParseFloat(string(found[1]), 64) // which the server wrote
			p.lags = append(p.lags, lag)
		}
		if info, err := os.Stat(storage.DatabaseFile(s.Dir) + "-wal"); err == nil {
			p.log = max(p.log, info.Size())
		}
		p.child = max(p.child, s.ChildMemory())
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
	file := storage.DatabaseFile(other.Dir)
	return rig.Must(storage.ReadCopy(file, nil)).Messages, rig.Must(os.Stat(file)).Size(), took
}

// replicaKills loses the machine of a server again and again while one client writes, and
// restores the replica elsewhere. What is there must be the first so many that were written.
func (b *bench) replicaKills(s *server, replica string) {
	var most time.Duration
	kills := min(replicaKills, b.messages/20_000)
	for range kills {
		s.AwaitReplica(replicaBehind)
		before := s.countStored().Messages

		var acknowledged []time.Time
		for began := time.Now(); time.Since(began) < 1500*time.Millisecond; {
			s.create(s.messages(), textTo(personPhone(s.sent.Add(1))))
			acknowledged = append(acknowledged, time.Now())
		}
		killed := time.Now()
		s.Lose()
		found, _, _ := b.restoreElsewhere(s, replica)
		s.Start()

		kept := found - before // one may be there that was not acknowledged any more
		rig.Require(kept >= 0, "%d messages were restored, and %d had been sent before", found, before)
		if kept < int64(len(acknowledged)) {
			most = max(most, killed.Sub(acknowledged[kept]))
		}
	}
	b.table.addLimited("P23", "lost with the machine, at most",
		most.Seconds(), 1, " s", fmt.Sprintf("%d kills, each restored and verified", kills))
}

// takeOver measures how long a standby takes to be the server, and counts what was sent twice.
func (b *bench) takeOver(o *installation, s *server, replica string) {
	standby := &rig.Server{Program: s.Program, Dir: b.emptyDir(s), Env: s.Env, Address: rig.Must(rig.FreeAddress())}
	process := s.With(s.Env).Start(os.Stderr, "standby", replica, "--data-dir", standby.Dir, "--listen", standby.Address)
	process.WaitReady(standby.URL() + "/livez")
	s.AwaitReplica(replicaBehind)
	time.Sleep(5 * time.Second) // until it has a copy

	began := time.Now()
	load{address: s.Address, connections: 4, rate: 200, length: 2 * time.Second, request: s.message}.run()
	killed := time.Now()
	s.Lose()
	standby.Command("promote")
	b.table.addLimited("P23", "a standby promoted, from the loss on", time.Since(killed).Seconds(), 15, " s", "")

	time.Sleep(40 * time.Second) // those that count as begun wait for provider.reconcile_window
	twice, early := o.sentTwice(began, killed.Add(-time.Second))
	b.table.addLimited("P23", "sent twice, called more than a second before the loss",
		float64(early), 0, "", fmt.Sprintf("%d within the second", twice-early))
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

func (b *bench) restoreCold(o *installation) {
	replica := "file://" + rig.Must(os.MkdirTemp(b.dir, "replica-*"))
	replicated := func(s *server) { s.Env = append(s.Env, "CONFAB_REPLICA__URL="+replica) }
	large := b.startSibling(o, min(restoredMessages, b.messages), replicated)
	large.AwaitReplica(replicaBehind)

	_, bytes, took := b.restoreElsewhere(large, replica)
	b.table.addLimited("P23", "a replica restored cold, and verified",
		took.Seconds()*(1<<30)/float64(bytes), 60, " s/GB", fmt.Sprintf("%.0f MB in %.1f s", megabytes(bytes), took.Seconds()))
}
