package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"confab/storage"
)

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
		var alone, mu sync.Mutex
		var waits []time.Duration
		timed := func(ctx context.Context) error {
			began := time.Now()
			err := s.insert(ctx)
			mu.Lock()
			defer mu.Unlock()
			waits = append(waits, time.Since(began))
			return err
		}

		medians, err := b.interleave(ctx,
			func() (float64, error) { return measureRate(ctx, callers, b.length, timed) },
			func() (float64, error) {
				return measureRate(ctx, callers, b.length, func(ctx context.Context) error {
					alone.Lock()
					defer alone.Unlock()
					return s.insert(ctx)
				})
			})
		if err != nil {
			return err
		}

		b.table.add(row{
			what:   fmt.Sprintf("durable insert, group commit, callers: %d", callers),
			figure: perSecond(medians[0]),
			detail: fmt.Sprintf("%.1f× a transaction per caller (%s); %s, at most %.1f ms",
				medians[0]/medians[1], perSecond(medians[1]), latencyText(waits), ms(percentile(waits, 100))),
		})
	}
	return nil
}

// measureRate calls f from several goroutines for a time, and returns calls per second.
func measureRate(ctx context.Context, callers int, length time.Duration, f func(context.Context) error) (float64, error) {
	var (
		group sync.WaitGroup
		done  atomic.Int64
		fault atomic.Pointer[error]
	)

	began := time.Now()
	for range callers {
		group.Go(func() {
			for time.Since(began) < length {
				if err := f(ctx); err != nil {
					fault.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}

	group.Wait()
	if err := fault.Load(); err != nil {
		return 0, *err
	}

	return float64(done.Load()) / time.Since(began).Seconds(), nil
}
