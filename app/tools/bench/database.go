package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"confab/app/tools/rig"
	"confab/jobs/queue"
	"confab/storage"
)

// limits measures how fast the disk syncs. The other limits of the machine are measured
// beside what they limit: HTTP in the part reading, the delivering client in drain.
func (b *bench) limits(ctx context.Context) {
	f := rig.Must(os.Create(filepath.Join(b.dir, "synced")))
	defer os.Remove(f.Name())
	defer f.Close()

	page := make([]byte, 4096)
	synced := b.newCalls(1, func(context.Context) error {
		if _, err := f.Write(page); err != nil {
			return err
		}
		return f.Sync()
	})
	b.measureAll(ctx, synced)
	b.table.add(row{
		what:   "machine: 4 KB appended and synced to the disk",
		figure: perSecond(synced.rate),
		detail: latencyText(synced.waits),
	})
}

// scratch is a database in a directory of its own, with one organization.
type scratch struct {
	*storage.DB
	dir  string
	org  storage.Organization
	team storage.Team
	seq  atomic.Int64
}

func (b *bench) newScratch() *scratch {
	s := &scratch{dir: rig.Must(os.MkdirTemp(b.dir, "scratch-*")), org: storage.Organization{Name: "Bench", Plan: "self_hosted"}}
	key := rig.Must(storage.LoadMasterKey(s.dir, ""))
	s.DB = rig.Must(storage.Open(storage.Options{Path: storage.DatabaseFile(s.dir), Schema: b.schema, MasterKey: key}))
	rig.Check(s.Update(context.Background(), func(tx *storage.Tx) (err error) {
		s.team, err = tx.InsertOrganization(&s.org)
		return err
	}))
	return s
}

func (s *scratch) remove() {
	s.Close()
	os.RemoveAll(s.dir)
}

// insert is the write that is measured: one small row.
func (s *scratch) insert(ctx context.Context) error {
	return s.Update(ctx, func(tx *storage.Tx) error {
		return tx.InsertLabel(&storage.Label{
			OrganizationID: s.org.ID,
			TeamID:         s.team.ID,
			Name:           fmt.Sprint("label ", s.seq.Add(1)),
			Color:          "gray",
		})
	})
}

// groupCommit compares callers that share commits with callers that each have a commit
// of their own. For the latter a mutex lets the same code run one at a time.
func (b *bench) groupCommit(ctx context.Context) {
	s := b.newScratch()
	defer s.remove()

	for _, callers := range []int{1, 8, 64} {
		var alone sync.Mutex
		shared := b.newCalls(callers, s.insert)
		single := b.newCalls(callers, func(ctx context.Context) error {
			alone.Lock()
			defer alone.Unlock()
			return s.insert(ctx)
		})
		b.measureAll(ctx, shared, single)
		b.table.add(row{
			what:   fmt.Sprintf("durable insert, group commit, callers: %d", callers),
			figure: perSecond(shared.rate),
			detail: fmt.Sprintf("%.1f× a transaction per caller (%s); %s, at most %.1f ms",
				shared.rate/single.rate, perSecond(single.rate), latencyText(shared.waits), ms(rig.Percentile(shared.waits, 100))),
		})
	}
}

// newCalls measures calls of f from several goroutines.
func (b *bench) newCalls(callers int, f func(context.Context) error) *series {
	return &series{measure: func(ctx context.Context) round {
		waits := make([][]time.Duration, callers)
		began := time.Now()
		rig.RunParallel(callers, func(i int) {
			for time.Since(began) < b.length {
				called := time.Now()
				rig.Check(f(ctx))
				waits[i] = append(waits[i], time.Since(called))
			}
		})

		all := slices.Concat(waits...)
		return round{count: len(all), waits: all}
	}}
}

// queue measures jobs that do nothing: 16 callers enqueue, 16 workers work.
func (b *bench) queue(ctx context.Context) {
	s := b.newScratch()
	defer s.remove()

	picked := make(chan time.Time, 1024)
	runner := queue.New(queue.Options{
		DB:      s.DB,
		Workers: 16,
		Poll:    time.Second,
		Grace:   time.Second,
		Log:     slog.New(slog.DiscardHandler),
		Kinds: []queue.Kind{
			{Name: "nothing", Handle: func(context.Context, storage.Job) (queue.Commit, error) { return nil, nil }},
			{Name: "watched", Handle: func(context.Context, storage.Job) (queue.Commit, error) {
				picked <- time.Now()
				return nil, nil
			}},
		},
	})

	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(running) }()
	defer func() { stop(); <-ended }()

	jobs := b.newCalls(16, func(ctx context.Context) error { return s.enqueue(ctx, "nothing") })
	jobs.cost.processes = []process{{"one process", loadGenerator.used}}
	jobs.after = func(ctx context.Context) {
		pollDatabase(ctx, s.DB, time.Millisecond, func(rx *storage.Rx) (bool, error) {
			left, err := rx.JobCounts()
			return len(left) == 0, err
		})
	}
	b.measureAll(ctx, jobs)
	b.table.addRate(jobs, row{id: "P7", what: "jobs enqueued and completed, 16 + 16"})
	b.measurePickUp(ctx, s, picked)
}

func (s *scratch) enqueue(ctx context.Context, kind string) error {
	return s.Update(ctx, func(tx *storage.Tx) error {
		_, err := tx.Enqueue(storage.NewJob{Kind: kind, Args: storage.AboutNoAccount{}})
		return err
	})
}

// measurePickUp measures the time from calling Update to the first line of the handler.
func (b *bench) measurePickUp(ctx context.Context, s *scratch, picked <-chan time.Time) {
	var waits []time.Duration
	for range 200 * b.rounds {
		began := time.Now()
		rig.Check(s.enqueue(ctx, "watched"))
		waits = append(waits, (<-picked).Sub(began))
		time.Sleep(time.Millisecond) // idle in between: this is latency, not load
	}

	b.table.add(row{
		what:   "job picked up after enqueueing began, idle",
		figure: fmt.Sprintf("%.2f ms", ms(rig.Percentile(waits, 50))),
		detail: latencyText(waits),
	})
}
