package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"
)

// TestAServerWaitsForACommandThatWorksOnTheDirectory holds the lock as a purge
// without a server does.
func TestAServerWaitsForACommandThatWorksOnTheDirectory(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := prepareServer(t)
	f, err := os.OpenFile(filepath.Join(s.dir, "serve.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	is.NoErr(err)
	defer f.Close()
	is.NoErr(syscall.Flock(int(f.Fd()), syscall.LOCK_SH))
	says := refused(t, "serve", "--data-dir", s.dir, "--listen", s.address)
	is.True(strings.Contains(says, "is in use: a command such as purge is using this data directory; wait until it is done"))
	run(t, "orgs", "create", "Beta", "--data-dir", s.dir)      // other commands go on
	run(t, "purge", "--older-than", "1d", "--data-dir", s.dir) // and so does another purge
	is.NoErr(f.Close())
	s.start()
	says = refused(t, "serve", "--data-dir", s.dir, "--listen", freeAddress(t))
	is.True(strings.Contains(says, "is in use: a server is running on this data directory; stop it first"))
}
