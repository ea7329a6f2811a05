package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

// maxLost is how much may be lost with the machine.
const maxLost = time.Second

// startStorage starts the storage of the replica and of media, and returns the settings.
func (t *trial) startStorage() (settings []string, err error) {
	if t.storage, err = t.self.StartStorage(); err != nil {
		return nil, err
	}
	return append(t.storage.Settings(), "CONFAB_MEDIA__STORE="+t.storage.Address("media"),
		"CONFAB_MEDIA__ACCESS_KEY_ID=key", "CONFAB_MEDIA__SECRET_ACCESS_KEY=secret"), nil
}

// replicaFaults are those of the storage, and the loss of the machine.
func (t *trial) replicaFaults() (all []fault) {
	if t.storage == nil {
		return nil
	}
	for name, how := range map[string]string{
		"storage refuses": rig.StorageDenied, "storage does not know the key": rig.StorageWrongKey,
		"storage full": rig.StorageFull, "storage slow": rig.StorageSlow,
	} {
		all = append(all, fault{name, func(ctx context.Context, length time.Duration) error {
			if err := t.storage.Break(how); err != nil {
				return err
			}
			sleep(ctx, length)
			return t.storage.Break(rig.StorageSound)
		}})
	}
	slices.SortFunc(all, func(a, b fault) int { return len(a.name) - len(b.name) })
	return append(all, fault{"machine lost", t.loseMachine})
}

// awaitReplica waits until the replica has what was acknowledged before.
func (t *trial) awaitReplica(ctx context.Context) error {
	for began := time.Now(); ; {
		var status struct {
			Lag float64 `json:"lag_seconds"`
		}
		out, err := t.server.Command("replica", "status", "--json")
		if err == nil {
			err = json.Unmarshal([]byte(out), &status)
		}
		switch {
		case err != nil:
			return err
		case status.Lag < maxLost.Seconds():
			return nil
		case time.Since(began) > time.Minute:
			return fmt.Errorf("the replica is %.1f s behind", status.Lag)
		case !sleep(ctx, 100*time.Millisecond):
			return nil
		}
	}
}

// loseMachine kills the server with its child, restores the replica elsewhere, and looks
// whether all is there that was acknowledged a moment before.
func (t *trial) loseMachine(ctx context.Context, _ time.Duration) (err error) {
	if err := t.awaitReplica(ctx); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(t.dir, "lost-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := &copied{Server: &rig.Server{Program: t.program, Dir: filepath.Join(dir, "data"), Log: t.server.Log, Env: t.server.Env}}
	if c.Address, err = rig.FreeAddress(); err != nil {
		return err
	}
	key, err := os.ReadFile(filepath.Join(t.server.Dir, storage.MasterKeyFile))
	if err := errors.Join(err, os.Mkdir(c.Dir, 0o700), os.WriteFile(filepath.Join(c.Dir, storage.MasterKeyFile), key, 0o600)); err != nil {
		return err
	}

	for _, one := range t.tenants {
		one.mu.Lock()
		c.before = append(c.before, maps.Clone(one.sent))
		one.mu.Unlock()
	}
	sleep(ctx, maxLost)
	t.server.Lose()
	_, err = c.Command("restore", t.storage.Address("replica"))
	if err := errors.Join(err, t.server.Start()); err != nil {
		return err
	}
	if _, err := c.Command("media", "move", "--to-files"); err != nil { // which fails if one is not there
		return err
	}

	// A copy that had the place of the replica would take over.
	c.Env = slices.Concat(t.server.Env, cutOff, []string{"CONFAB_REPLICA__URL=", "CONFAB_MEDIA__STORE="})
	defer c.Kill()
	if err := errors.Join(t.check(c), c.Stop()); err != nil {
		return err
	}
	return checkFile(c.Dir)
}
