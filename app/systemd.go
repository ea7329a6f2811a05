package app

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"

	"confab/storage"
)

// Supervisor is who started the process, such as systemd, and wants to hear how
// it is. The zero value is nobody.
type Supervisor struct {
	Socket   string        // NOTIFY_SOCKET
	Watchdog time.Duration // it restarts the process that was silent for so long; 0 if it does not
}

// SupervisorFrom reads the variables that systemd sets.
func SupervisorFrom(getenv func(string) string) Supervisor {
	s := Supervisor{Socket: getenv("NOTIFY_SOCKET")}
	micros, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	if pid := getenv("WATCHDOG_PID"); err == nil && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		s.Watchdog = time.Duration(micros) * time.Microsecond
	}
	return s
}

// tell sends a message, in the words of sd_notify(3).
func (s Supervisor) tell(state string) error {
	if s.Socket == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.Socket, Net: "unixgram"}) // a leading @ is an abstract one
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte(state))
	return err
}

// tellSupervisor says what has become of the server.
func (a *App) tellSupervisor(state string) {
	if err := a.Supervisor.tell(state); err != nil {
		a.Log.Warn("tell the supervisor", "state", state, "error", err)
	}
}

// keepAlive tells the supervisor again and again that the server lives: that a
// read and a write come back, however they end. One that hangs says no more.
func (a *App) keepAlive(ctx context.Context) error {
	if a.Supervisor.Socket == "" || a.Supervisor.Watchdog <= 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(a.Supervisor.Watchdog / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		_ = a.DB.View(ctx, (*storage.Rx).Ping)
		_ = a.DB.Update(ctx, func(*storage.Tx) error { return nil })
		a.tellSupervisor("WATCHDOG=1")
	}
}
