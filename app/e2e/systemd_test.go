package e2e

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app"
)

// TestASupervisorHearsHowTheServerIs plays systemd: it must hear that the server
// is ready, that it lives, and that it stops.
func TestASupervisorHearsHowTheServerIs(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	is.NoErr(err)
	defer socket.Close()
	hear := func() string {
		t.Helper()
		is.NoErr(socket.SetReadDeadline(time.Now().Add(30 * time.Second)))
		text := make([]byte, 4096)
		n, err := socket.Read(text)
		is.NoErr(err)
		return string(text[:n])
	}
	s := prepareServer(t)
	s.env = []string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=60000"}
	s.start()
	is.Equal(hear(), "READY=1\nSTATUS=serving http://"+s.address)
	for range 3 {
		is.Equal(hear(), "WATCHDOG=1")
	}
	is.NoErr(s.cmd.Process.Signal(syscall.SIGTERM))
	for said := hear(); said != "STOPPING=1"; said = hear() {
		is.Equal(said, "WATCHDOG=1")
	}
	is.NoErr(<-s.ended)
	is.True(!strings.Contains(s.output.String(), "supervisor"))
}

func TestSupervisorFrom(t *testing.T) {
	is := is.New(t)
	from := func(vars map[string]string) app.Supervisor {
		return app.SupervisorFromEnv(func(name string) string { return vars[name] })
	}
	is.Equal(from(nil), app.Supervisor{})
	is.Equal(from(map[string]string{"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "30000000"}), app.Supervisor{Socket: "/run/n", Watchdog: 30 * time.Second})
	is.Equal(from(map[string]string{"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "soon"}), app.Supervisor{Socket: "@n"})
	is.Equal(from(map[string]string{"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}), app.Supervisor{Socket: "@n"}) // meant for another process
}
