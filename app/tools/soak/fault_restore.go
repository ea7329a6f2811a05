package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"confab/app/tools/rig"
	"confab/storage/storageaudit"
)

// cutOff are the settings of a server without a network: what a copy sent would come twice.
var cutOff = []string{
	"CONFAB_PROVIDER__BASE_URL=http://127.0.0.1:1", "CONFAB_SECURITY__ALLOW_CIDRS=192.0.2.0/24", "CONFAB_WEBHOOKS__TIMEOUT=1s",
}

// restoreCopy takes a backup while everything goes on, restores it somewhere else, and looks
// whether the copy has what was acknowledged before, and rests.
func (t *trial) restoreCopy(context.Context, time.Duration) error {
	dir, err := os.MkdirTemp(t.dir, "copy-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	before := make([]map[string]string, len(t.tenants))
	for i, one := range t.tenants {
		one.mu.Lock()
		before[i] = maps.Clone(one.sent)
		one.mu.Unlock()
	}
	file := filepath.Join(dir, "backup.tar.gz")
	if _, err := t.server.Command("backup", file); err != nil {
		return err
	}

	replica := &rig.Server{Program: t.program, Dir: filepath.Join(dir, "data"), Log: t.server.Log}
	if replica.Address, err = rig.FreeAddress(); err != nil {
		return err
	}
	replica.Env = append(append(replica.Env, t.server.Env...), cutOff...)
	if _, err := replica.Command("restore", file); err != nil {
		return err
	}
	if err := replica.Start(); err != nil {
		return err
	}
	defer replica.Kill()

	for i, one := range t.tenants {
		if err := one.checkCopy(replica.URL(), before[i]); err != nil {
			return err
		}
	}
	if err := replica.Stop(); err != nil {
		return err
	}

	found, err := storageaudit.FindInMotion(replica.Dir)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%d contradictions in the copy, among them %s: %s", len(found), found[0].Rule, found[0].Where)
	}
	return err
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

	// One whose time comes moves to the front of the list, which whoever reads it may have passed.
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
