package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

// limits measures how fast the disk syncs. The other limits of the machine are measured
// beside what they limit: HTTP in the part reading, the delivering client in drain.
func (b *bench) limits(ctx context.Context) error {
	f, err := os.Create(filepath.Join(b.dir, "synced"))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()

	page := make([]byte, 4096)
	synced := b.newCalls(1, func(context.Context) error {
		if _, err := f.Write(page); err != nil {
			return err
		}
		return f.Sync()
	})
	if err := b.measureAll(ctx, synced); err != nil {
		return err
	}
	b.table.add(row{
		what:   "machine: 4 KB appended and synced to the disk",
		figure: perSecond(synced.rate),
		detail: latencyText(synced.waits),
	})
	return nil
}

// scratch is a database in a directory of its own, with one organization.
type scratch struct {
	*storage.DB
	dir  string
	org  storage.Organization
	team storage.Team
	seq  atomic.Int64
}

func (b *bench) newScratch() (*scratch, error) {
	dir, err := os.MkdirTemp(b.dir, "scratch-*")
	if err != nil {
		return nil, err
	}

	key, err := storage.LoadMasterKey(dir, "")
	if err != nil {
		return nil, err
	}
	db, err := storage.Open(storage.Options{Path: storage.DatabaseFile(dir), Schema: b.schema, MasterKey: key})
	if err != nil {
		return nil, err
	}

	s := &scratch{DB: db, dir: dir, org: storage.Organization{Name: "Bench", Plan: "self_hosted"}}
	return s, db.Update(context.Background(), func(tx *storage.Tx) (err error) {
		s.team, err = tx.InsertOrganization(&s.org)
		return err
	})
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
func (b *bench) groupCommit(ctx context.Context) error {
	s, err := b.newScratch()
	if err != nil {
		return err
	}
	defer s.remove()

	for _, callers := range []int{1, 8, 64} {
		var alone sync.Mutex
		shared := b.newCalls(callers, s.insert)
		single := b.newCalls(callers, func(ctx context.Context) error {
			alone.Lock()
			defer alone.Unlock()
			return s.insert(ctx)
		})
		if err := b.measureAll(ctx, shared, single); err != nil {
			return err
		}

		b.table.add(row{
			what:   fmt.Sprintf("durable insert, group commit, callers: %d", callers),
			figure: perSecond(shared.rate),
			detail: fmt.Sprintf("%.1f× a transaction per caller (%s); %s, at most %.1f ms",
				shared.rate/single.rate, perSecond(single.rate), latencyText(shared.waits), ms(percentile(shared.waits, 100))),
		})
	}
	return nil
}

// newCalls measures calls of f from several goroutines.
func (b *bench) newCalls(callers int, f func(context.Context) error) *series {
	return &series{measure: func(ctx context.Context) (round, error) {
		waits := make([][]time.Duration, callers)
		began := time.Now()
		err := rig.RunParallel(callers, func(i int) error {
			for time.Since(began) < b.length {
				called := time.Now()
				if err := f(ctx); err != nil {
					return err
				}
				waits[i] = append(waits[i], time.Since(called))
			}
			return nil
		})

		all := slices.Concat(waits...)
		return round{count: len(all), waits: all}, err
	}}
}
