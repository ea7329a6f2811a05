package main

import (
	"context"
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
	"CONFAB_PROVIDER__BASE_URL=http://127.0.0.1:1", "CONFAB_SECURITY__ALLOW_CIDRS=192.0.2.0/24",
	"CONFAB_WEBHOOKS__TIMEOUT=1s", "CONFAB_REPLICA__URL=",
}

// copied is another installation, restored from what the first has kept, that cannot send.
type copied struct {
	*rig.Server
	before []map[string]string // what was acknowledged to each tenant before
}

// withCopy makes a copy, does something with it, and looks for contradictions in its database then.
func (t *trial) withCopy(restore, do func(*copied)) {
	dir := rig.Must(os.MkdirTemp(t.dir, "copy-*"))
	defer os.RemoveAll(dir)
	c := &copied{Server: &rig.Server{
		Program: t.program, Dir: filepath.Join(dir, "data"), Log: t.server.Log, Env: t.server.Env, Address: rig.Must(rig.FreeAddress()),
	}}
	for _, one := range t.tenants {
		one.record(func() { c.before = append(c.before, maps.Clone(one.sent)) })
	}

	restore(c)
	do(c)
	c.Stop()
	found := rig.Must(storageaudit.FindInMotion(c.Dir))
	rig.Require(len(found) == 0, "contradictions in the copy: %v", found)
}

// restoreBackup takes a backup while everything goes on, and restores it.
func (t *trial) restoreBackup(c *copied) {
	file := c.Dir + ".tar.gz"
	t.server.Command("backup", file)
	c.Env = slices.Concat(t.server.Env, cutOff)
	c.Command("restore", file)
}

// check starts the copy, and looks whether it has what was acknowledged, and rests.
func (t *trial) check(c *copied) {
	c.Start()
	for i, one := range t.tenants {
		rig.Within(one.name, func() { one.checkCopy(c.URL(), maps.Clone(c.before[i])) })
	}
}

// putBack puts an older database back into a copy that has gone on since. It must notice that,
// and rest as a restored one does.
func (t *trial) putBack(ctx context.Context, _ time.Duration) {
	t.withCopy(t.restoreBackup, func(c *copied) {
		t.check(c)
		c.Stop()
		database := storage.DatabaseFile(c.Dir)
		older := rig.Must(os.ReadFile(database))

		c.Start()
		newClient(c.URL(), t.tenants[0].Key).create("/customers", `{"name":"Gone again"}`, "")
		sleep(ctx, 2*time.Second) // until the file of the epoch has it
		left := rig.Must(datadir.Dir(c.Dir).KeptProgress())
		c.Stop()

		rig.Check(os.Remove(database))
		rig.Check(os.WriteFile(database, older, 0o600))
		for _, beside := range []string{"-wal", "-shm"} {
			os.Remove(database + beside) // of the newer one, if they are there
		}
		t.check(c)
		kept := rig.Must(datadir.Dir(c.Dir).KeptProgress())
		rig.Require(kept.Epoch != left.Epoch, "an older database was put back, and no new epoch began")
	})
}

// checkCopy checks what a copy has of a tenant: every message that was acknowledged before,
// and no broadcast that goes on.
func (o *tenant) checkCopy(url string, before map[string]string) {
	there := newClient(url, o.Key)
	for _, m := range list[row](there, "/"+o.number+"/messages?limit=100&direction=outbound") {
		delete(before, m.ID)
	}

	// One whose time comes moves to the front of the list, which its reader may have passed.
	for id := range before {
		rig.Within(fmt.Sprintf("of %d messages that were not listed in the copy %s is not there", len(before), id), func() {
			there.get("/"+o.number+"/messages/"+id, nil)
		})
	}
	for _, b := range list[broadcastView](there, "/"+o.number+"/broadcasts?limit=100") {
		rig.Require(b.isOver() || b.Status == "paused", "broadcast %s is %s in the copy", b.ID, b.Status)
	}
}

const maxLost = time.Second

func (t *trial) startStorage() (settings []string) {
	t.storage = t.self.StartStorage()
	return append(t.storage.Settings(), "CONFAB_MEDIA__STORE="+t.storage.Address("media"),
		"CONFAB_MEDIA__ACCESS_KEY_ID=key", "CONFAB_MEDIA__SECRET_ACCESS_KEY=secret")
}

func (t *trial) replicaFaults() []fault {
	if t.storage == nil {
		return nil
	}

	breaks := func(name, how string) fault {
		return fault{name, func(ctx context.Context, length time.Duration) {
			t.storage.Break(how)
			sleep(ctx, length)
			t.storage.Break(rig.StorageSound)
		}}
	}
	all := []fault{
		breaks("storage full", rig.StorageFull),
		breaks("storage slow", rig.StorageSlow),
		breaks("storage refuses", rig.StorageDenied),
		breaks("storage does not know the key", rig.StorageWrongKey),
		{"machine lost", t.loseMachine},
	}
	if t.hasClock {
		all = append(all, fault{"machine lost whose clock is an hour ahead", func(ctx context.Context, length time.Duration) {
			t.setClock(time.Hour)
			defer t.setClock(0) // also when the trial ends meanwhile
			t.loseMachine(ctx, length)
		}})
	}
	return all
}

// loseMachine kills the server with its child, restores the replica elsewhere, and looks
// whether all is there that was acknowledged a moment before.
func (t *trial) loseMachine(context.Context, time.Duration) {
	t.server.AwaitReplica(maxLost)
	t.withCopy(func(c *copied) {
		key := rig.Must(os.ReadFile(filepath.Join(t.server.Dir, storage.MasterKeyFile)))
		rig.Check(os.Mkdir(c.Dir, 0o700))
		rig.Check(os.WriteFile(filepath.Join(c.Dir, storage.MasterKeyFile), key, 0o600))

		time.Sleep(maxLost)
		t.server.Lose()
		err := rig.Catch(func() { c.Command("restore", t.storage.Address("replica")) })
		t.server.Start()
		rig.Check(err)
		c.Command("media", "move", "--to-files") // which fails if one is not there

		c.Env = slices.Concat(t.server.Env, cutOff, []string{"CONFAB_MEDIA__STORE=", clockVariable + "="}) // its clock is right
	}, t.check)
}
