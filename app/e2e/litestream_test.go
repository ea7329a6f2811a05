package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// TestLitestreamKeepsAStandby replicates the database with Litestream while it is
// written, loses the machine, and serves what was restored elsewhere.
func TestLitestreamKeepsAStandby(t *testing.T) {
	program := tool(t, "litestream")
	is := is.New(t)
	s := prepareServer(t)
	sim := simulate(t, s)
	sim.connect(s)
	s.start()
	dir := filepath.Join(t.TempDir(), "replica")
	replica := "file://" + dir
	replicate := exec.Command(program, "replicate", storage.DatabaseFile(s.dir), replica)
	var log bytes.Buffer
	replicate.Stdout, replicate.Stderr = &log, &log
	is.NoErr(replicate.Start())
	t.Cleanup(func() { replicate.Process.Kill() })
	is.True(until(func() bool { // nothing else shows that the first copy is there
		_, err := os.Stat(dir)
		return err == nil
	}))

	sent := make(map[string]bool)
	for n := range 300 {
		sent[insistOnMessage(t, s, sim.Number, fmt.Sprint("message ", n), fmt.Sprintf("+1555000%04d", n))] = true
	}
	s.awaitNone(sim.Number, "queued", "pending")
	s.kill()
	is.NoErr(replicate.Process.Signal(os.Interrupt)) // it sends the rest before it ends
	if err := replicate.Wait(); err != nil {
		t.Fatalf("litestream: %v: %s", err, log.String())
	}

	standby := *s
	standby.dir = filepath.Join(t.TempDir(), "standby")
	is.NoErr(os.Mkdir(standby.dir, 0o700))
	out, err := exec.Command(program, "restore", "-o", storage.DatabaseFile(standby.dir), replica).CombinedOutput()
	if err != nil {
		t.Fatalf("litestream restore: %v: %s", err, out)
	}
	key, err := os.ReadFile(filepath.Join(s.dir, storage.MasterKeyFile)) // kept elsewhere, as the guide to backups says
	is.NoErr(err)
	is.NoErr(os.WriteFile(filepath.Join(standby.dir, storage.MasterKeyFile), key, 0o600))
	is.NoErr(storage.CheckDatabase(storage.DatabaseFile(standby.dir), nil))
	kept := storagetest.Select[string](t, standby.dir, "SELECT id FROM messages")
	for id := range sent {
		if !slices.Contains(kept, id) {
			t.Errorf("%s was lost", id)
		}
	}
	standby.start()
	for id := range sent {
		is.Equal(standby.mustSend("GET", "/v1/"+sim.Number+"/messages/"+id, "").status, 200)
	}
	is.Equal(len(sim.copies()), len(sent)) // the standby sends nothing twice
	is.Equal(insistOnMessage(t, &standby, sim.Number, "another", "+15550009999") != "", true)
}
