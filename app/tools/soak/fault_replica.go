package main

import (
	"context"
	"errors"
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

	all = append(all, fault{"machine lost", t.loseMachine})
	if t.hasClock {
		all = append(all, fault{"machine lost whose clock is an hour ahead", func(ctx context.Context, length time.Duration) error {
			if err := t.setClock(time.Hour); err != nil {
				return err
			}
			return errors.Join(t.loseMachine(ctx, length), t.setClock(0))
		}})
	}
	return all
}

// loseMachine kills the server with its child, restores the replica elsewhere, and looks
// whether all is there that was acknowledged a moment before.
func (t *trial) loseMachine(ctx context.Context, _ time.Duration) (err error) {
	waits, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := t.server.AwaitReplica(waits, maxLost); err != nil && ctx.Err() == nil {
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

	c.Env = slices.Concat(t.server.Env, cutOff, []string{"CONFAB_MEDIA__STORE=", clockVariable + "="}) // its clock is right
	defer c.Kill()
	if err := errors.Join(t.check(c), c.Stop()); err != nil {
		return err
	}
	return checkFile(c.Dir)
}
