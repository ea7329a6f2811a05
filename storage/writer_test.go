package storage_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

// batch runs closures in one group commit and returns their outcomes. It must be
// called in a bubble: a write that waits on a channel holds the writer until
// all of them are queued.
func batch(t *testing.T, db *storage.DB, ctx context.Context, fns ...func(*storage.Tx) error) []error {
	t.Helper()
	open := block(t, db)
	outcomes := make([]chan error, len(fns))
	for i, fn := range fns {
		outcomes[i] = make(chan error, 1)
		go func() { outcomes[i] <- db.Update(ctx, fn) }()
		synctest.Wait() // so that they are queued in order
	}
	open()
	errs := make([]error, len(fns))
	for i := range fns {
		errs[i] = <-outcomes[i]
	}
	return errs
}

// block holds the writer until the returned function is called.
func block(t *testing.T, db *storage.DB) (open func()) {
	gate, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- db.Update(context.Background(), func(*storage.Tx) error {
			<-gate
			return nil
		})
	}()
	synctest.Wait()
	return func() {
		t.Helper()
		close(gate)
		check(t, <-ended)
	}
}

// insert is a write that stores an organization.
func insert(name string) func(*storage.Tx) error {
	return func(tx *storage.Tx) error {
		_, err := tx.InsertOrganization(&storage.Organization{Name: name, Plan: "free"})
		return err
	}
}

func TestWritesThatFailUndoOnlyThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var sizes []int
		o := newFile(t)
		o.OnCommit = func(c storage.Commit) { sizes = append(sizes, c.Writes) }
		db := open(t, o)
		var committed, reserved atomic.Int64
		fns := make([]func(*storage.Tx) error, 200)
		for i := range fns {
			fns[i] = func(tx *storage.Tx) error {
				reserved.Add(1)
				tx.OnUndo(func() { reserved.Add(-1) })
				tx.AfterCommit(func() { committed.Add(1) })
				if err := insert(fmt.Sprint(i))(tx); err != nil {
					return err
				}
				switch {
				case i%10 == 0:
					panic(i)
				case i%5 == 0:
					return fmt.Errorf("no %d", i)
				}
				return nil
			}
		}
		errs := batch(t, db, context.Background(), fns...)
		var failed int
		want := []string{"Acme"}
		for i, err := range errs {
			switch {
			case i%10 == 0:
				failed++
				p, ok := errors.AsType[*storage.PanicError](err)
				is.True(ok)
				is.Equal(p.Value, i)
				is.Equal(err.Error(), fmt.Sprintf("panic: %d", i))
				is.True(len(p.Stack) > 0)
			case i%5 == 0:
				failed++
				is.Equal(err.Error(), fmt.Sprintf("no %d", i))
			default:
				is.NoErr(err)
				want = append(want, fmt.Sprint(i))
			}
		}
		is.Equal(failed, 40)
		is.Equal(names(t, db), want)           // Acme and exactly 160 more
		is.Equal(committed.Load(), int64(160)) // never for a failed one, never twice
		is.Equal(reserved.Load(), int64(160))  // what was done twice was undone once
		synctest.Wait()
		is.True(slices.Contains(sizes, len(fns))) // it was one batch
	})
}

func TestWriteThatFailsBeforeWritingDisturbsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		var ran, undone int
		counted := func(fn func(*storage.Tx) error) func(*storage.Tx) error {
			return func(tx *storage.Tx) error {
				ran++
				return fn(tx)
			}
		}
		errs := batch(t, db, context.Background(),
			counted(insert("a")),
			counted(func(tx *storage.Tx) error {
				tx.OnUndo(func() { undone++ })
				tx.AfterCommit(func() { undone = 100 })
				_, err := tx.Organization("org_none")
				return err
			}),
			counted(insert("b")),
			counted(func(tx *storage.Tx) error { return tx.DeleteLabel(1, "lbl_none") })) // changes no row
		is.NoErr(errs[0])
		is.True(errors.Is(errs[1], storage.ErrNotFound))
		is.NoErr(errs[2])
		is.True(errors.Is(errs[3], storage.ErrNotFound))
		is.Equal(names(t, db), []string{"Acme", "a", "b"})
		is.Equal(ran, 4) // no one had to start over
		is.Equal(undone, 1)
	})
}

func TestWriteOfOneRowThatIsRefusedDisturbsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		twice := func(tx *storage.Tx) error {
			return tx.Run(`INSERT INTO teams (public_id, organization_id, name, created_at) VALUES ('team_1', 1, 'x', 0)`)
		}
		errs := batch(t, db, context.Background(), twice, twice, insert("a"))
		is.NoErr(errs[0])
		is.True(errors.Is(errs[1], storage.ErrConflict))
		is.NoErr(errs[2])
	})
}

func TestAfterCommitRunsWhenOthersCanSeeTheChange(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	var seen []string
	err := db.Update(context.Background(), func(tx *storage.Tx) error {
		tx.AfterCommit(func() { seen = names(t, db) })
		return insert("a")(tx)
	})
	is.NoErr(err)
	is.Equal(seen, []string{"Acme", "a"}) // and before Update returned
}

func TestWriteCancelledBeforeItsTurnLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		ctx, cancel := context.WithCancel(context.Background())
		open := block(t, db)
		cancelled, neighbour := make(chan error, 1), make(chan error, 1)
		go func() { cancelled <- db.Update(ctx, insert("queued")) }()
		go func() { neighbour <- addOrganization(db, "neighbour") }()
		synctest.Wait()
		cancel()
		open()
		is.Equal(<-cancelled, context.Canceled)
		is.NoErr(<-neighbour)
		is.Equal(db.Update(ctx, insert("late")), context.Canceled)
		is.Equal(names(t, db), []string{"Acme", "neighbour"})
	})
}

// Cancelling the context of a statement makes SQLite roll everything back.
func TestWriteCancelledWhileItRunsDestroysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		ctx, cancel := context.WithCancel(context.Background())
		errs := batch(t, db, ctx, insert("a"), func(tx *storage.Tx) error {
			if err := insert("b")(tx); err != nil {
				return err
			}
			cancel()
			return insert("c")(tx)
		})
		is.Equal(errs, make([]error, 2))
		is.Equal(names(t, db), []string{"Acme", "a", "b", "c"})
	})
}

func TestWriteWaitsOneSecondForAPlaceInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		open := block(t, db)
		outcomes := make(chan error, storage.QueueSize)
		for range storage.QueueSize {
			go func() { outcomes <- db.Update(context.Background(), func(*storage.Tx) error { return nil }) }()
		}
		synctest.Wait()

		began := time.Now()
		err := addOrganization(db, "one too many")
		is.True(errors.Is(err, storage.ErrUnavailable))
		is.Equal(time.Since(began), time.Second)

		ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
		defer cancel()
		is.Equal(db.Update(ctx, insert("impatient")), context.DeadlineExceeded)

		patient := make(chan error, 1)
		go func() { patient <- addOrganization(db, "patient") }()
		time.Sleep(time.Second / 2) // of the bubble's time
		open()
		is.NoErr(<-patient)
		for range storage.QueueSize {
			is.NoErr(<-outcomes)
		}
		is.Equal(names(t, db), []string{"Acme", "patient"})
	})
}

func TestCloseFinishesWhatWasQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		o := newFile(t)
		db, err := storage.Open(o)
		is.NoErr(err)
		open := block(t, db)
		outcomes := make(chan error, 300)
		for i := range cap(outcomes) { // more than one commit takes
			go func() { outcomes <- addOrganization(db, fmt.Sprint(i)) }()
		}
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- db.Close() }()
		synctest.Wait()
		is.True(errors.Is(addOrganization(db, "late"), storage.ErrUnavailable))
		open()
		is.NoErr(<-closed)
		for range cap(outcomes) {
			is.NoErr(<-outcomes)
		}
		is.Equal(column(t, o.Path, "SELECT count(*) FROM organizations"), []string{"301"})
	})
}

func TestWriteOfAnotherProcessOnlyDelays(t *testing.T) {
	is := is.New(t)
	data := openDir(t)
	db := storagetest.OpenDir(t, data)
	p := newChild(t, "hold", data, 0)
	tell, err := p.StdinPipe()
	is.NoErr(err)
	hear, err := p.StdoutPipe()
	is.NoErr(err)
	is.NoErr(p.Start())
	lines := bufio.NewScanner(hear)
	is.True(lines.Scan())
	is.Equal(lines.Text(), "locked")

	var before []string
	done := make(chan error, 1)
	go func() {
		done <- db.Update(context.Background(), func(tx *storage.Tx) (err error) {
			before, err = organizations(&tx.Rx)
			return errors.Join(err, insert("ours")(tx))
		})
	}()
	is.Equal(names(t, db), nil) // reading goes on
	_, err = io.WriteString(tell, "theirs\n")
	is.NoErr(err)
	is.NoErr(<-done)
	is.True(lines.Scan())
	is.Equal(lines.Text(), "done")
	is.NoErr(p.Wait())
	is.Equal(before, []string{"theirs"}) // ours came after theirs
	is.Equal(names(t, db), []string{"theirs", "ours"})
}

func TestCommitIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var seen []storage.Commit
		o := newFile(t)
		o.OnCommit = func(c storage.Commit) { seen = append(seen, c) }
		db := open(t, o)
		open := block(t, db)
		done := make(chan error, 1)
		go func() { done <- addOrganization(db, "a") }()
		time.Sleep(3 * time.Second)
		open()
		is.NoErr(<-done)
		synctest.Wait()
		is.Equal(len(seen), 2)
		is.Equal(seen[0], storage.Commit{Writes: 1, Took: 3 * time.Second})
		is.Equal(seen[1], storage.Commit{Writes: 1, Waited: 3 * time.Second})
	})
}

func TestAWriteThatNobodyWaitsForRidesOnTheNextCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var sizes []int
		o := newFile(t)
		o.Patience = time.Millisecond
		o.OnCommit = func(c storage.Commit) { sizes = append(sizes, c.Writes) }
		db := open(t, o)
		soon := make(chan error, 2)
		patiently := func(name string) {
			go func() { soon <- db.UpdateSoon(t.Context(), insert(name)) }()
			synctest.Wait()
		}

		sizes = nil
		patiently("first")
		patiently("second")
		is.Equal(len(sizes), 0) // both are held
		is.NoErr(db.Update(t.Context(), insert("third")))
		is.NoErr(<-soon)
		is.NoErr(<-soon)
		synctest.Wait()
		is.Equal(sizes, []int{3})

		patiently("fourth") // and no one comes
		is.NoErr(<-soon)
		synctest.Wait()
		is.Equal(sizes, []int{3, 1})

		patiently("fifth")
		db.Close() // which waits for no one
		is.NoErr(<-soon)
	})
}
