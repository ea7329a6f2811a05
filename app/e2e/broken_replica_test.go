package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/datadir"
	"confab/app/replica"
	"confab/storage/objects/objectstest"
)

// TestBrokenStorageOfTheReplicaIsReported by status and doctor, while the server answers. Tests begin
// in the order of their files' names, and this one, which waits most of a minute, is to begin early.
func TestBrokenStorageOfTheReplicaIsReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault objectstest.Fault
		says  string
	}{
		"full":      {objectstest.Full, "the storage is full"},
		"denied":    {objectstest.Denied, "the access key may not do this"},
		"wrong key": {objectstest.WrongKey, "the storage refuses the access key"},
		"silent":    {objectstest.Silent, "did not answer in time"},
		"slow":      {objectstest.Slow(6 * time.Second), "did not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			store := objectstest.New(t)
			s := prepareServer(t)
			s.env = append(s.env, "CONFAB_REPLICA__URL="+store.Address("confab"),
				"CONFAB_REPLICA__ACCESS_KEY_ID="+objectstest.Key, "CONFAB_REPLICA__SECRET_ACCESS_KEY="+objectstest.Secret)
			s.start()
			command := func(args ...string) string {
				cmd := confab(t, append(args, "--data-dir", s.dir)...)
				cmd.Env = append(cmd.Env, s.env...)
				out, _ := cmd.CombinedOutput() // doctor finds other things, too
				return string(out)
			}
			status := func() (is replica.Status) { // as the command asks for it
				datadir.Dir(s.dir).Ask(t.Context(), datadir.CommandReplica, &is)
				return is
			}
			is.True(until(func() bool { return status().LastUploadAt != 0 }))

			store.Break(c.fault)
			label, n := "/v1/labels/"+insist(t, s, "label"), 0
			is.True(until(func() bool {
				n++ // something new waits to be sent
				s.mustSend("PATCH", label, fmt.Sprintf(`{"name":"label %d"}`, n))
				now := status()
				return now.LagSeconds != nil && *now.LagSeconds > replica.LagToWarn.Seconds() && strings.Contains(now.Error, c.says)
			}))
			said := command("replica", "status")
			is.True(strings.Contains(said, "would be lost with this machine") && strings.Contains(said, c.says))
			if name == "slow" {
				return // a check of one object succeeds, if one waits
			}
			report := command("doctor", "--quick")
			if !strings.Contains(report, "broken   replica") || !strings.Contains(report, c.says) {
				t.Error(report)
			}
		})
	}
}
