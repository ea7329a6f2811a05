package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/tools/rig"
	"confab/app/tools/rig/rigtest"
)

func TestMain(m *testing.M) {
	rigtest.Main(m, func(args []string) { fatal(roles[args[0]](args[1:])) })
}

// TestTwentySecondsOfEverything is a short soak: the long one is `make soak`.
func TestTwentySecondsOfEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	r, err := soak(t.Context(), options{
		program: rigtest.Confab(t),
		self:    rigtest.Self(),
		length:  20 * time.Second,
		rate:    10, // which leaves room for the tests of other packages
		seed:    1,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + r.String())
	if r.failed() {
		t.Errorf("%d discrepancies", r.discrepancies())
	}
	if r.sent == 0 || r.received == 0 || r.events == 0 {
		t.Error("nothing happened")
	}
}

// TestTheKeptDataOfAFailedTrialAreWhole: a server that was killed leaves its socket, which
// is no file to copy.
func TestTheKeptDataOfAFailedTrialAreWhole(t *testing.T) {
	is := is.New(t)
	one := &trial{dir: t.TempDir()}
	one.disk = &smallDisk{filepath.Join(one.dir, "disk")}
	one.server = &rig.Server{Dir: filepath.Join(one.disk.path, "data")}

	is.NoErr(os.MkdirAll(one.server.Dir, 0o700))
	is.NoErr(os.WriteFile(filepath.Join(one.server.Dir, "confab.db"), []byte("rows"), 0o600))
	is.NoErr(os.WriteFile(filepath.Join(one.server.Dir, "master.key"), []byte("key"), 0o600))
	socket, err := net.Listen("unix", filepath.Join(one.server.Dir, "confab.sock"))
	is.NoErr(err)
	defer socket.Close()

	one.clean(true)
	for name, want := range map[string]string{"confab.db": "rows", "master.key": "key"} {
		got, err := os.ReadFile(filepath.Join(one.dir, "data", name))
		is.NoErr(err)
		is.Equal(string(got), want)
	}
}
