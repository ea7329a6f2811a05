package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/datadir"
	"confab/app/replica"
	"confab/app/tools/rig"
	"confab/storage"
	"confab/storage/objects/objectstest"
)

// TestWithoutAReplicaThereIsNoChildAndNoNetwork: replica.url is what switches it on.
func TestWithoutAReplicaThereIsNoChildAndNoNetwork(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	store := objectstest.New(t)
	s := prepareServer(t)
	s.env = append(s.env, "AWS_ENDPOINT_URL="+store.URL, "AWS_ACCESS_KEY_ID="+objectstest.Key, "AWS_SECRET_ACCESS_KEY="+objectstest.Secret,
		"AWS_REGION=us-east-1", "CONFAB_REPLICA__ACCESS_KEY_ID=a", "CONFAB_REPLICA__SECRET_ACCESS_KEY=b")
	s.start()
	insist(t, s, "label")
	is.Equal(len(rig.ChildrenOf(s.cmd.Process.Pid)), 0)
	s.stop()
	is.Equal(store.Calls(), int64(0))
	for _, name := range []string{"replica", "replica.json", "replica.lock", "standby"} {
		_, err := os.Stat(filepath.Join(s.dir, name))
		is.True(errors.Is(err, os.ErrNotExist))
	}
	info, err := os.Stat(storage.DatabaseFile(s.dir) + "-wal")
	is.True(errors.Is(err, os.ErrNotExist) || info.Size() == 0) // the server folds its log itself
}

// TestBrokenStorageOfTheReplicaIsReported by status and doctor, while the server answers. All storages
// break at once, since most of the time is waited.
func TestBrokenStorageOfTheReplicaIsReported(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	type broken struct {
		fault objectstest.Fault
		says  string
		s     *server
		label string
	}
	slow := &broken{fault: objectstest.Slow(6 * time.Second), says: "did not answer in time"}
	all := []*broken{
		{fault: objectstest.Full, says: "the storage is full"},
		{fault: objectstest.Denied, says: "the access key may not do this"},
		{fault: objectstest.WrongKey, says: "the storage refuses the access key"},
		{fault: objectstest.Silent, says: "did not answer in time"},
		slow,
	}
	status := func(b *broken) (is replica.Status) { // as the command asks for it
		datadir.Dir(b.s.dir).Ask(t.Context(), datadir.CommandReplica, &is)
		return is
	}
	for _, b := range all {
		store := objectstest.New(t)
		b.s = prepareServer(t)
		b.s.env = append(b.s.env, "CONFAB_REPLICA__URL="+store.Address("confab"),
			"CONFAB_REPLICA__ACCESS_KEY_ID="+objectstest.Key, "CONFAB_REPLICA__SECRET_ACCESS_KEY="+objectstest.Secret)
		b.s.start()
		is.True(until(func() bool { return status(b).LastUploadAt != 0 }))
		store.Break(b.fault)
		b.label = "/v1/labels/" + insist(t, b.s, "label")
	}

	for _, b := range all {
		n := 0
		is.True(until(func() bool {
			n++ // something new waits to be sent
			b.s.mustSend("PATCH", b.label, fmt.Sprintf(`{"name":"label %d"}`, n))
			now := status(b)
			return now.LagSeconds != nil && *now.LagSeconds > replica.LagToWarn.Seconds() && strings.Contains(now.Error, b.says)
		}))
		command := func(args ...string) string {
			cmd := confab(t, append(args, "--data-dir", b.s.dir)...)
			cmd.Env = append(cmd.Env, b.s.env...)
			out, _ := cmd.CombinedOutput() // doctor finds other things, too
			return string(out)
		}
		said := command("replica", "status")
		is.True(strings.Contains(said, "would be lost with this machine") && strings.Contains(said, b.says))
		if b == slow {
			continue // a check of one object succeeds, if one waits
		}
		report := command("doctor", "--quick")
		if !strings.Contains(report, "broken   replica") || !strings.Contains(report, b.says) {
			t.Error(b.says, report)
		}
	}
}
