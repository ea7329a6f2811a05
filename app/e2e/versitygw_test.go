package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage/objects/objectstest"
)

// TestVersitygwKeepsAReplica replicates to object storage that others have made, restores from
// it, and takes over.
func TestVersitygwKeepsAReplica(t *testing.T) {
	program := tool(t, "versitygw")
	is := is.New(t)
	address, dir := freeAddress(t), t.TempDir()
	is.NoErr(os.Mkdir(filepath.Join(dir, "bucket"), 0o755))
	gateway := exec.Command(program, "--access", objectstest.Key, "--secret", objectstest.Secret, "--port", address, "posix", dir)
	is.NoErr(gateway.Start())
	t.Cleanup(func() {
		gateway.Process.Kill()
		gateway.Wait()
	})

	s := prepareServer(t)
	place := "s3://bucket/confab?region=us-east-1&endpoint=http://" + address
	s.env = append(s.env, "CONFAB_REPLICA__URL="+place,
		"CONFAB_REPLICA__ACCESS_KEY_ID="+objectstest.Key, "CONFAB_REPLICA__SECRET_ACCESS_KEY="+objectstest.Secret)
	command := func(args ...string) (string, bool) {
		cmd := confab(t, args...)
		cmd.Env = append(cmd.Env, s.env...)
		out, err := cmd.CombinedOutput()
		return string(out), err == nil
	}
	is.True(until(func() bool { _, ok := command("config", "check"); return ok }))
	s.start()
	insist(t, s, "label")
	is.True(until(func() bool {
		out, _ := command("replica", "status", "--data-dir", s.dir)
		return strings.Contains(out, "Behind          0.0 s") && !strings.Contains(out, "Last upload     never")
	}))

	next := *s
	next.dir, next.address, next.args = filepath.Join(t.TempDir(), "standby"), freeAddress(t), []string{"standby", place}
	is.NoErr(os.Mkdir(next.dir, 0o700))
	key, err := os.ReadFile(filepath.Join(s.dir, "master.key"))
	is.NoErr(err)
	is.NoErr(os.WriteFile(filepath.Join(next.dir, "master.key"), key, 0o600))
	next.start()
	s.stop()
	is.True(until(func() bool { _, ok := command("promote", "--data-dir", next.dir); return ok }))
	is.Equal(len(next.labels()["label"]), 1)
	next.stop()
}
