package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

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
