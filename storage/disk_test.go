package storage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"

	"github.com/matryer/is"
)

// fullDisk is the story of a disk that fills up and is freed again.
type fullDisk struct {
	db         *storage.DB
	fill, free func() error
}

// play returns what went otherwise than promised: writes are refused as
// unavailable, reads go on, and nothing has to be restarted.
func (f fullDisk) play() error {
	if err := addOrganization(f.db, "before"); err != nil {
		return err
	}
	for range 2 {
		if err := f.fill(); err != nil {
			return err
		}
		for range 3 {
			began := time.Now()
			if err := f.db.Update(context.Background(), insertMany); !errors.Is(err, storage.ErrUnavailable) {
				return fmt.Errorf("writing to a full disk: %v", err)
			}
			if f.db.StalledAt().Before(began) {
				return errors.New("nobody is told that nothing could be stored")
			}
			var seen []string
			err := f.db.View(context.Background(), func(rx *storage.Rx) (err error) {
				seen, err = organizations(rx)
				return err
			})
			if err != nil || seen[len(seen)-1] != "before" {
				return fmt.Errorf("reading from a full disk: %v %v", seen, err)
			}
		}
		if err := f.free(); err != nil {
			return err
		}
		if err := f.db.Update(context.Background(), insertMany); err != nil {
			return fmt.Errorf("after the disk was freed: %w", err)
		}
	}
	var rows []int
	err := f.db.View(context.Background(), func(rx *storage.Rx) error {
		return rx.List(&rows, `SELECT count(*) FROM raw_callbacks`)
	})
	if err != nil || rows[0] != 100 {
		return fmt.Errorf("%v rows instead of 100: %v", rows, err)
	}
	return nil
}

// limited lets SQLite's own limit play the disk.
func limited(db *storage.DB) fullDisk {
	limit := func(pages string) error {
		return db.Update(context.Background(), func(tx *storage.Tx) error { return tx.Pragma("PRAGMA max_page_count = " + pages) })
	}
	return fullDisk{
		db:   db,
		fill: func() error { return limit("1") }, // it settles at the size the file has
		free: func() error { return limit("1073741823") },
	}
}

func TestFullFileRefusesWritesAndHeals(t *testing.T) {
	check(t, limited(open(t, newFile(t))).play())
}

// Mounting a disk of a few megabytes needs root or a namespace of our own; where
// the machine grants neither, the story of the full file must do.
func TestFullDiskRefusesWritesAndHeals(t *testing.T) {
	for _, flags := range []uintptr{syscall.CLONE_NEWNS, syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER} {
		p := newChild(t, "full disk", openDir(t), 0)
		p.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Unshareflags: syscall.CLONE_NEWNS}
		if flags&syscall.CLONE_NEWUSER != 0 {
			p.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: syscall.Getuid(), Size: 1}}
			p.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: syscall.Getgid(), Size: 1}}
		}
		out, err := p.CombinedOutput()
		switch {
		case err == nil:
			return
		case errors.Is(err, syscall.EPERM), strings.Contains(string(out), errNoMount.Error()):
			t.Logf("no small disk with flags %#x: %v %s", flags, err, out)
		default:
			t.Fatalf("%v: %s", err, out)
		}
	}
	t.Log("NO DISK COULD BE MOUNTED: a limit on the file stands in for it")
	check(t, limited(open(t, newFile(t))).play())
}

// SQLite rolls back by itself when the disk is full. Even if a caller overlooks that, the
// rest of the batch must not be written statement by statement.
func TestFullDiskThatIsOverlookedLosesTheWholeBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		story := limited(db)
		is.NoErr(story.fill())
		var undone int
		counted := func(fn func(*storage.Tx) error) func(*storage.Tx) error {
			return func(tx *storage.Tx) error {
				tx.OnUndo(func() { undone++ })
				return fn(tx)
			}
		}
		errs := batch(t, db, context.Background(),
			counted(insert("a")),
			counted(func(tx *storage.Tx) error {
				_ = insertMany(tx) // overlooked
				_ = insert("b")(tx)
				return nil
			}),
			counted(insert("c")))
		for _, err := range errs {
			is.True(errors.Is(err, storage.ErrUnavailable))
		}
		is.Equal(names(t, db), []string{"Acme"})
		is.Equal(undone, 2) // the third was not even begun
		is.NoErr(story.free())
		is.NoErr(addOrganization(db, "d"))
		is.Equal(names(t, db), []string{"Acme", "d"})
	})
}

func TestWriteThatSaysUnavailableItselfHarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		errs := batch(t, db, context.Background(), insert("a"), func(tx *storage.Tx) error {
			return errors.Join(insert("b")(tx), storage.ErrUnavailable)
		}, insert("c"))
		is.NoErr(errs[0])
		is.True(errors.Is(errs[1], storage.ErrUnavailable))
		is.NoErr(errs[2])
		is.Equal(names(t, db), []string{"Acme", "a", "c"})
	})
}
