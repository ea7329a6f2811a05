package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

// TestAServerThatIsStartingIsNotReady whatever answers at the address in the settings.
func TestAServerThatIsStartingIsNotReady(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer other.Close()
	dir := t.TempDir()
	lock, err := os.Create(filepath.Join(dir, "serve.lock"))
	is.NoErr(err)
	defer lock.Close()
	is.NoErr(unix.Flock(int(lock.Fd()), unix.LOCK_EX))

	cmd := confab(t, "ready", "--data-dir", dir)
	cmd.Env = append(cmd.Env, "CONFAB_SERVER__LISTEN="+other.Listener.Addr().String())
	out, err := cmd.CombinedOutput()
	is.True(err != nil)
	is.True(strings.Contains(string(out), "does not answer yet"))
}
