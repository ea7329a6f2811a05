package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
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
func (b *bench) replica(ctx context.Context, o *installation) error {
	store, err := b.self.StartStorage()
	if err != nil {
		return err
	}
	defer store.Kill()
	replicates := func(s *server) error {
		s.Env = append(s.Env, store.Settings()...)
		return nil
	}
	with, err := b.startSibling(ctx, o, 0, replicates)
	if err != nil {
		return err
	}
	defer with.close()

	if err := b.replicaCost(ctx, o, with, store); err != nil {
		return err
	}
	if err := b.replicaKills(ctx, with); err != nil {
		return err
	}
	if err := b.takeOver(ctx, o, with, store); err != nil {
		return err
	}
	return b.restoreCold(ctx, o)
}

// replicaCost measures a server with a replica beside one without.
func (b *bench) replicaCost(ctx context.Context, o *installation, with *server, store *rig.Storage) error {
	watched, stop := context.WithCancel(ctx)
	defer stop()
	seen := make(chan replicaPeaks, 1)
	go func() { seen <- with.watchReplica(watched) }()

	compare := func(rate int, least float64, what string, restore func() error) error {
		on := func(s *server) *series {
			sends := load{address: s.Address, connections: replicaConnections, rate: rate, request: s.message}
			return b.newSeries(sends, s.awaitSent, s.serverProcess())
		}
		base, s := on(o.server), on(with)
		base.name = "without"
		err := b.measureAll(ctx, base, s)
		if restore != nil {
			err = errors.Join(err, restore())
		}
		if err == nil {
			b.table.addRatio(s, base, least, row{id: "P23", what: what, callbacks: callbacksOff})
		}
		return err
	}
	if err := compare(replicaRate, 0.98, fmt.Sprintf("POST message at %d/s, with a replica", replicaRate), nil); err != nil {
		return err
	}
	if err := compare(0, 0.6, "POST message, "+connectionsText(replicaConnections)+", with a replica", nil); err != nil {
		return err
	}
	stop()
	peaks := <-seen

	b.table.addLimited(percentile(peaks.lags, 99), 1, " s", row{
		id: "P23", what: "lag of the replica, p99", detail: fmt.Sprintf("%d samples", len(peaks.lags)),
	})
	b.table.addLimited(megabytes(peaks.log), 256, " MB", row{id: "P23", what: "write-ahead log, at most"})
	b.table.addLimited(megabytes(peaks.child), 60, " MB", row{id: "P23", what: "memory of the child, at most"})

	if err := store.Break(rig.StorageSilent); err != nil {
		return err
	}
	return compare(replicaRate, 0.98, fmt.Sprintf("POST message at %d/s, while the storage is away", replicaRate),
		func() error { return store.Break(rig.StorageSound) })
}

// replicaPeaks is what was seen of a replica.
type replicaPeaks struct {
	lags       []float64
	log, child int64
}

var lagMetric = regexp.MustCompile(`(?m)^confab_replica_lag_seconds (\S+)$`)

// watchReplica looks at the replica of a server until ctx ends.
func (s *server) watchReplica(ctx context.Context) (p replicaPeaks) {
	for ctx.Err() == nil {
		if lag, err := s.replicaLag(); err == nil {
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

// replicaLag is how far the replica is behind by the server's metrics.
func (s *server) replicaLag() (float64, error) {
	res, err := http.Get(s.URL() + "/metrics")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}

	found := lagMetric.FindSubmatch(text)
	if found == nil {
		return 0, errors.New("there is no metric of the lag")
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

// replicaBehind is how far a replica may be behind that counts as complete.
const replicaBehind = 500 * time.Millisecond

// emptyDir makes a data directory that holds nothing but the key of the server.
func (b *bench) emptyDir(s *server) (string, error) {
	dir, err := os.MkdirTemp(b.dir, "empty-*")
	if err != nil {
		return "", err
	}
	key, err := os.ReadFile(filepath.Join(s.Dir, storage.MasterKeyFile))
	return dir, errors.Join(err, os.WriteFile(filepath.Join(dir, storage.MasterKeyFile), key, 0o600))
}

// restoreElsewhere restores the replica of a server, which verifies it, and returns how many
// messages it holds, of how many bytes, and how long that took.
func (b *bench) restoreElsewhere(s *server) (messages, bytes int64, took time.Duration, err error) {
	dir, err := b.emptyDir(s)
	if err != nil {
		return 0, 0, 0, err
	}
	defer os.RemoveAll(dir)
	other := &rig.Server{Program: s.Program, Dir: dir, Env: s.Env}
	began := time.Now()
	if _, err := other.Command("restore", s.replicaURL()); err != nil {
		return 0, 0, 0, err
	}
	took = time.Since(began)
	facts, err := storage.ReadCopy(storage.DatabaseFile(dir), nil)
	return facts.Messages, fileSize(dir), took, err
}

// replicaURL is where the settings of the server have its replica.
func (s *server) replicaURL() string {
	for _, setting := range s.Env {
		if url, ok := strings.CutPrefix(setting, "CONFAB_REPLICA__URL="); ok {
			return url
		}
	}
	return ""
}

// replicaKills loses the machine of a server again and again while one client writes, and
// restores the replica elsewhere. What is there must be the first so many that were written.
func (b *bench) replicaKills(ctx context.Context, s *server) error {
	kills := replicaKills
	if b.quick {
		kills /= 20
	}
	var most time.Duration
	for range kills {
		if err := s.AwaitReplica(ctx, replicaBehind); err != nil {
			return err
		}
		before, err := storage.Query(ctx, s.db, func(rx *storage.Rx) (n int64, err error) {
			there, err := rx.CountPurge(storage.PurgeScope{Before: storage.Now().Add(time.Hour)})
			return there.Messages, err
		})
		if err != nil {
			return err
		}

		var acknowledged []time.Time
		for began := time.Now(); time.Since(began) < 1500*time.Millisecond; {
			body := `{"messaging_product":"chat","to":"` + personPhone(s.sent.Add(1)) + `","type":"text","text":{"body":"x"}}`
			if err := s.api.Call("POST", s.messages(), body, nil); err != nil {
				return err
			}
			acknowledged = append(acknowledged, time.Now())
		}
		killed := time.Now()
		s.Lose()
		found, _, _, err := b.restoreElsewhere(s)
		if err := errors.Join(err, s.Start()); err != nil {
			return err
		}

		kept := found - before // one may be there that was not acknowledged any more
		if kept < 0 {
			return fmt.Errorf("%d messages were restored, and %d had been sent before", found, before)
		}
		if kept < int64(len(acknowledged)) {
			most = max(most, killed.Sub(acknowledged[kept]))
		}
	}
	b.table.addLimited(most.Seconds(), 1, " s", row{
		id: "P23", what: "lost with the machine, at most", detail: fmt.Sprintf("%d kills, each restored and verified", kills),
	})
	return nil
}

// takeOver measures how long a standby takes to be the server, and counts what was sent twice.
func (b *bench) takeOver(ctx context.Context, o *installation, s *server, store *rig.Storage) error {
	dir, err := b.emptyDir(s)
	if err != nil {
		return err
	}
	address, err := rig.FreeAddress()
	if err != nil {
		return err
	}
	standby := &rig.Server{Program: s.Program, Dir: dir, Env: s.Env, Address: address}
	process, err := s.Program.Start(os.Stderr, s.Env, "standby", store.Address("replica"), "--data-dir", dir, "--listen", address)
	if err != nil {
		return err
	}
	defer process.Kill()
	if err := errors.Join(process.WaitReady(standby.URL()+"/livez"), s.AwaitReplica(ctx, replicaBehind)); err != nil {
		return err
	}
	select {
	case <-time.After(5 * time.Second): // until it has a copy
	case <-ctx.Done():
		return ctx.Err()
	}

	sends := load{address: s.Address, connections: 4, rate: 200, length: 2 * time.Second, request: s.message}
	began := time.Now()
	if _, err := sends.run(ctx); err != nil {
		return err
	}
	killed := time.Now()
	s.Lose()
	if _, err := standby.Command("promote"); err != nil {
		return err
	}
	b.table.addLimited(time.Since(killed).Seconds(), 15, " s", row{id: "P23", what: "a standby promoted, from the loss on"})

	// Those that count as begun wait for provider.reconcile_window.
	select {
	case <-time.After(40 * time.Second):
	case <-ctx.Done():
		return ctx.Err()
	}
	twice, early, err := o.sentTwice(began, killed.Add(-time.Second))
	if err == nil {
		b.table.addLimited(float64(early), 0, "", row{
			id: "P23", what: "sent twice, called more than a second before the loss",
			detail: fmt.Sprintf("%d within the second", twice-early),
		})
	}
	return err
}

// sentTwice counts the messages that the provider got twice, the first time since one time,
// and those of them that it first got before another one.
func (o *installation) sentTwice(since, before time.Time) (all, early int, err error) {
	var list struct {
		Data []struct {
			At      time.Time `json:"created_at"`
			Request struct {
				Tag string `json:"biz_opaque_callback_data"`
			}
		}
	}
	if err := o.provider.Call("GET", "/_sim/messages", "", &list); err != nil {
		return 0, 0, err
	}

	first, copies := make(map[string]time.Time), make(map[string]int)
	for _, m := range list.Data {
		if was, ok := first[m.Request.Tag]; !ok || m.At.Before(was) {
			first[m.Request.Tag] = m.At
		}
		copies[m.Request.Tag]++
	}
	for tag, n := range copies {
		if n > 1 && tag != "" && first[tag].After(since) {
			all++
			if first[tag].Before(before) {
				early++
			}
		}
	}
	return all, early, nil
}

// restoreCold measures how long a large replica takes to be restored and verified.
func (b *bench) restoreCold(ctx context.Context, o *installation) error {
	messages := min(restoredMessages, b.messages)
	if messages == 0 {
		return nil
	}
	place, err := os.MkdirTemp(b.dir, "replica-*")
	if err != nil {
		return err
	}
	large, err := b.startSibling(ctx, o, messages, func(s *server) error {
		s.Env = append(s.Env, "CONFAB_REPLICA__URL=file://"+place)
		return nil
	})
	if err != nil {
		return err
	}
	defer large.close()
	if err := large.AwaitReplica(ctx, replicaBehind); err != nil {
		return err
	}

	_, bytes, took, err := b.restoreElsewhere(large)
	if err == nil {
		b.table.addLimited(took.Seconds()*(1<<30)/float64(bytes), 60, " s/GB", row{
			id: "P23", what: "a replica restored cold, and verified",
			detail: fmt.Sprintf("%.0f MB in %.1f s", megabytes(bytes), took.Seconds()),
		})
	}
	return err
}
