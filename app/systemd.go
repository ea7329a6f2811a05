package app

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"

	"confab/storage"
)

// Supervisor is the program that started this process and wants to be notified of its
// state, such as systemd. The zero value is none.
type Supervisor struct {
	Socket   string        // NOTIFY_SOCKET
	Watchdog time.Duration // a process that is silent for so long is restarted; 0 for never
}

// SupervisorFromEnv reads the variables that systemd sets.
func SupervisorFromEnv(getenv func(string) string) Supervisor {
	s := Supervisor{Socket: getenv("NOTIFY_SOCKET")}

	micros, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	if pid := getenv("WATCHDOG_PID"); err == nil && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		s.Watchdog = time.Duration(micros) * time.Microsecond
	}
	return s
}

// notifySupervisor sends the server's state to the supervisor, in the format of sd_notify(3).
func (a *App) notifySupervisor(state string) {
	if a.Supervisor.Socket == "" {
		return
	}

	// A name with a leading @ is an abstract socket, which net understands.
	conn, err := net.Dial("unixgram", a.Supervisor.Socket)
	if err == nil {
		_, err = conn.Write([]byte(state))
		conn.Close()
	}
	if err != nil {
		a.Log.Warn("could not notify the supervisor", "state", state, "error", err)
	}
}

// pingWatchdog notifies the supervisor regularly that the server is alive: that a read
// and a write of the database return. A server that hangs sends nothing and is restarted.
func (a *App) pingWatchdog(ctx context.Context) error {
	if a.Supervisor.Socket == "" || a.Supervisor.Watchdog <= 0 {
		<-ctx.Done()
		return nil
	}

	for tick := time.Tick(a.Supervisor.Watchdog / 3); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}

		// The results do not matter: a database that refuses quickly is not a process that hangs.
		_ = a.DB.View(ctx, (*storage.Rx).Ping)
		_ = a.DB.Update(ctx, func(*storage.Tx) error { return nil })
		a.notifySupervisor("WATCHDOG=1")
	}
}
