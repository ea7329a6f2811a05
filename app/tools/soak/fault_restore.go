package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"confab/app/datadir"
	"confab/app/tools/rig"
	"confab/storage"
	"confab/storage/storageaudit"
)

// cutOff are the settings of a server without a network: what a copy sent would come twice, and one
// that had the place of the replica would take over.
var cutOff = []string{
	"CONFAB_PROVIDER__BASE_URL=http://127.0.0.1:1", "CONFAB_SECURITY__ALLOW_CIDRS=192.0.2.0/24", "CONFAB_WEBHOOKS__TIMEOUT=1s", "CONFAB_REPLICA__URL=",
}

// copied is another installation, restored from a backup, that cannot send.
type copied struct {
	*rig.Server
	before []map[string]string // what was acknowledged to each tenant when the backup began
}

// copyInto takes a backup while everything goes on, and restores it in a directory.
func (t *trial) copyInto(dir string) (*copied, error) {
	c := &copied{Server: &rig.Server{Program: t.program, Dir: filepath.Join(dir, "data"), Log: t.server.Log}}
	for _, one := range t.tenants {
		one.mu.Lock()
		c.before = append(c.before, maps.Clone(one.sent))
		one.mu.Unlock()
	}

	file := filepath.Join(dir, "backup.tar.gz")
	if _, err := t.server.Command("backup", file); err != nil {
		return nil, err
	}
	address, err := rig.FreeAddress()
	if err != nil {
		return nil, err
	}
	c.Address, c.Env = address, slices.Concat(t.server.Env, cutOff)
	_, err = c.Command("restore", file)
	return c, err
}

// check starts the copy, and looks whether it has what was acknowledged, and rests.
func (t *trial) check(c *copied) error {
	if err := c.Start(); err != nil {
		return err
	}
	for i, one := range t.tenants {
		if err := one.checkCopy(c.URL(), maps.Clone(c.before[i])); err != nil {
			return err
		}
	}
	return nil
}

// restoreCopy restores a backup somewhere else.
func (t *trial) restoreCopy(context.Context, time.Duration) error {
	return t.withCopy(t.check)
}

// withCopy does something with a copy, and looks for contradictions in its database then.
func (t *trial) withCopy(do func(*copied) error) error {
	dir, err := os.MkdirTemp(t.dir, "copy-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	c, err := t.copyInto(dir)
	if err != nil {
		return err
	}
	defer c.Kill()

	if err := do(c); err != nil {
		return err
	}
	if err := c.Stop(); err != nil {
		return err
	}
	return checkFile(c.Dir)
}

// checkFile looks for contradictions in the database of a copy that was stopped.
func checkFile(dir string) error {
	found, err := storageaudit.FindInMotion(dir)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%d contradictions in the copy, among them %s: %s", len(found), found[0].Rule, found[0].Where)
	}
	return err
}

// putBack puts an older database back into a copy that has gone on since. It must notice that,
// and rest as a restored one does.
func (t *trial) putBack(ctx context.Context, _ time.Duration) error {
	return t.withCopy(func(c *copied) error {
		if err := errors.Join(t.check(c), c.Stop()); err != nil {
			return err
		}
		database := storage.DatabaseFile(c.Dir)
		older, err := os.ReadFile(database)
		if err != nil {
			return err
		}

		if err := c.Start(); err != nil {
			return err
		}
		if err := newClient(c.URL(), t.tenants[0].Key).post("/customers", `{"name":"Gone again"}`, "", nil); err != nil {
			return err
		}
		sleep(ctx, 2*time.Second) // until the file of the epoch has it
		left, err := datadir.Dir(c.Dir).KeptProgress()
		if err := errors.Join(err, c.Stop()); err != nil {
			return err
		}

		if err := errors.Join(os.Remove(database), os.WriteFile(database, older, 0o600)); err != nil {
			return err
		}
		for _, beside := range []string{"-wal", "-shm"} {
			os.Remove(database + beside) // of the newer one, if they are there
		}
		if err := t.check(c); err != nil {
			return err
		}

		now, err := datadir.Dir(c.Dir).KeptProgress()
		if err == nil && now.Epoch == left.Epoch {
			err = errors.New("an older database was put back, and no new epoch began")
		}
		return err
	})
}

// checkCopy checks what a copy has of a tenant: every message that was acknowledged before,
// and no broadcast that goes on.
func (o *tenant) checkCopy(url string, before map[string]string) error {
	there := newClient(url, o.Key)
	listed, err := list[row](there, "/"+o.number+"/messages?limit=100&direction=outbound")
	if err != nil {
		return err
	}
	for _, m := range listed {
		delete(before, m.ID)
	}

	// One whose time comes moves to the front of the list, which its reader may have passed.
	for id := range before {
		if err := there.get("/"+o.number+"/messages/"+id, nil); err != nil {
			return fmt.Errorf("%s: of %d messages that were not listed in the copy %s is not there: %w", o.name, len(before), id, err)
		}
	}

	broadcasts, err := list[broadcastView](there, "/"+o.number+"/broadcasts?limit=100")
	for _, b := range broadcasts {
		if !b.isOver() && b.Status != "paused" {
			return fmt.Errorf("%s: broadcast %s is %s in the copy", o.name, b.ID, b.Status)
		}
	}
	return err
}
