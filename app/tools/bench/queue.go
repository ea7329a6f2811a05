package main

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"confab/app/tools/rig"
	"confab/jobs/queue"
	"confab/storage"
)

// scratch is a database in a directory of its own, with one organization.
type scratch struct {
	*storage.DB
	dir  string
	org  storage.Organization
	team storage.Team
}

func (b *bench) newScratch() *scratch {
	s := &scratch{dir: rig.Must(os.MkdirTemp(b.dir, "scratch-*")), org: storage.Organization{Name: "Bench", Plan: "self_hosted"}}
	key := rig.Must(storage.LoadMasterKey(s.dir, ""))
	s.DB = rig.Must(storage.Open(storage.Options{Path: storage.DatabaseFile(s.dir), Schema: b.schema, MasterKey: key}))
	rig.Cleanup(func() { s.Close() })
	rig.Check(s.Update(context.Background(), func(tx *storage.Tx) (err error) {
		s.team, err = tx.InsertOrganization(&s.org)
		return err
	}))
	return s
}

// queue measures jobs that do nothing: 16 callers enqueue, 16 workers work.
func (b *bench) queue(*installation) {
	s := b.newScratch()
	nothing := func(context.Context, storage.Job) (queue.Commit, error) { return nil, nil }
	runner := queue.New(queue.Options{
		DB:      s.DB,
		Workers: 16,
		Poll:    time.Second,
		Grace:   time.Second,
		Log:     slog.New(slog.DiscardHandler),
		Kinds:   []queue.Kind{{Name: "nothing", Handle: nothing}},
	})

	running, stop := context.WithCancel(context.Background())
	awaitEnd := rig.Go(func() { rig.Check(runner.Run(running)) })
	defer awaitEnd()
	defer stop()

	jobs := &series{measure: func() round { return b.enqueue(s) }, processes: []process{ownProcess("one process")}}
	jobs.after = func() {
		pollDatabase(s.DB, time.Millisecond, func(rx *storage.Rx) (bool, error) {
			left, err := rx.JobCounts()
			return len(left) == 0, err
		})
	}
	b.measureAll(jobs)
	b.table.addRate("P7", "jobs enqueued and completed, 16 + 16", jobs)
}

func (b *bench) enqueue(s *scratch) round {
	var count atomic.Int64
	began := time.Now()
	rig.RunParallel(16, func(int) {
		for ; time.Since(began) < b.length; count.Add(1) {
			rig.Check(s.Update(context.Background(), func(tx *storage.Tx) error {
				_, err := tx.Enqueue(storage.NewJob{Kind: "nothing", Args: storage.AboutNoAccount{}})
				return err
			}))
		}
	})
	return round{count: int(count.Load())}
}
