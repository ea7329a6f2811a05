package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"confab/app/replica"
	"confab/storage"
)

// openReplica prepares the replica, before anything is served: a superseded server must not serve.
func (a *App) openReplica() error {
	if a.Config.Replica.URL == "" {
		return nil
	}
	if err := replica.PrepareProcess(); err != nil {
		return err
	}
	key, err := storage.ReadMasterKey(string(a.dir), a.MasterKey)
	if err != nil {
		return err
	}
	o, err := a.replicaOptions(key)
	if err != nil {
		return err
	}

	if a.replica, err = replica.Open(context.Background(), o); err != nil {
		return fmt.Errorf("replica: %w", err)
	}
	a.metrics.watchReplica(a.replica)
	return nil
}

// replicaOptions are those of the replica, and of a standby, which has no database.
func (a *App) replicaOptions(key []byte) (replica.Options, error) {
	c := a.Config.Replica
	place, err := replica.PlaceOf(c)
	return replica.Options{
		Settings: replica.Settings{
			Place:         place,
			Dir:           string(a.dir),
			Interval:      c.Interval,
			SnapshotEvery: c.SnapshotEvery,
			Keep:          c.Keep,
		},
		DB:         a.DB,
		Key:        key,
		MaxBacklog: int64(c.MaxBacklog),
		Log:        a.Log,
	}, err
}

// fence returns an error if this process was stopped, and another server has taken over since.
func (a *App) fence(ctx context.Context) error {
	if a.replica == nil {
		return nil
	}
	return a.replica.Fence(ctx, a.work.Steady.Stops)
}

// fencedListener accepts connections on which nothing is answered once another server has taken
// over. What a request was doing when the process was stopped is lost, and is not acknowledged
// when it goes on.
type fencedListener struct {
	net.Listener
	fence func(context.Context) error
}

// Accept implements net.Listener.
func (l fencedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		return &fencedConn{tcp, l.fence}, err
	}
	return conn, err
}

type fencedConn struct {
	*net.TCPConn
	fence func(context.Context) error
}

// Write implements net.Conn.
func (c *fencedConn) Write(p []byte) (int, error) {
	if err := c.fence(context.Background()); err != nil {
		return 0, err
	}
	return c.TCPConn.Write(p)
}

func (m *metrics) watchReplica(r *replica.Replica) {
	m.watch("confab_replica_lag_seconds", "How much of what was written would be lost with this machine.",
		func() float64 { return *r.Status().LagSeconds })
	m.watch("confab_replica_backlog_bytes", "Changes that wait to be sent to the replica.",
		func() float64 { return float64(r.Status().BacklogBytes) })
	m.watch("confab_replica_verified_timestamp_seconds", "When a restore of the replica was last verified, 0 for never.",
		func() float64 { return float64(r.Status().LastVerifiedAt) / 1000 })
}

func (a *App) serveReplica(w http.ResponseWriter, _ *http.Request) {
	if a.replica == nil {
		http.Error(w, "there is no replica: set replica.url, and restart the server", http.StatusNotFound)
		return
	}
	// A client that has left is no reason to complain.
	_ = json.NewEncoder(w).Encode(a.replica.Status())
}

// replicaView is what the console shows of the replica; nil without one.
func (a *App) replicaView() any {
	if a.replica == nil {
		return nil
	}
	s := a.replica.Status()
	return struct {
		LagSeconds     *float64     `json:"lag_seconds"`
		BacklogBytes   int64        `json:"backlog_bytes"`
		LastVerifiedAt storage.Time `json:"last_verified_at"`
		Warnings       []string     `json:"warnings"`
	}{s.LagSeconds, s.BacklogBytes, s.LastVerifiedAt, append([]string{}, s.Warnings(time.Now())...)}
}
