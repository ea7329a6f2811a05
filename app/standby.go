package app

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"confab/app/datadir"
	"confab/app/replica"
	"confab/storage"
)

// ServeStandby keeps a copy of what the server at replica.url sends until ctx ends, or until
// it is promoted: from then on it is the server, on the same listener.
func ServeStandby(ctx context.Context, o Options) error {
	a := newApp(o)
	promoted, by, err := a.standBy(ctx)
	if err == nil && promoted {
		err = a.runPromoted(ctx, by)
	}
	return errors.Join(err, a.Close())
}

// runPromoted runs the server that an actor has made of the standby.
func (a *App) runPromoted(ctx context.Context, by storage.Actor) error {
	if err := a.open(); err != nil {
		return err
	}
	generation := a.replica.Status().Generation
	err := a.DB.Update(context.Background(), func(tx *storage.Tx) error {
		return tx.Audit(0, by, "replica.promoted", "generation", generation)
	})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// standBy follows the replica until ctx ends or the standby is promoted, and then says by whom.
func (a *App) standBy(ctx context.Context) (promoted bool, by storage.Actor, err error) {
	by.Type = storage.ActorCommandLine
	s, err := a.openStandby()
	if err != nil {
		return false, by, err
	}
	if err := a.openListeners(); err != nil {
		return false, by, err
	}

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parts, ctx := errgroup.WithContext(ctx)
	serve := func(l net.Listener, h http.Handler, secure *tls.Config) {
		parts.Go(func() error {
			second, err := listenAgain(l)
			if err != nil {
				return err
			}
			return a.serveListener(ctx, second, h, secure)
		})
	}
	serve(a.listener, a.standbyHandler(s), a.tls)
	serve(a.metricsListener, a.standbyHandler(s), nil)
	serve(a.plainListener, a.plainHandler(), nil)
	parts.Go(func() error { return a.serveStandbyControl(ctx, s, &by) })
	parts.Go(func() error {
		defer stop()
		promoted = s.Run(ctx)
		return nil
	})

	a.notifySupervisor("READY=1\nSTATUS=standby of " + a.Config.Replica.URL)
	a.Log.Info("standing by", "url", a.URL(), "replica", a.Config.Replica.URL, "data_dir", string(a.dir), "version", a.Version)
	err = parts.Wait()
	return promoted, by, err
}

// openStandby locks the data directory, which must hold no database yet.
func (a *App) openStandby() (*replica.Standby, error) {
	if err := a.lockDir(); err != nil {
		return nil, err
	}
	exists, err := a.dir.Exists()
	if err != nil {
		return nil, err
	}
	if exists {
		return nil, fmt.Errorf("%s holds a database: start it with 'confab serve', or choose an empty directory", string(a.dir))
	}

	key, err := storage.ReadMasterKey(string(a.dir), a.MasterKey)
	if err != nil {
		return nil, fmt.Errorf("a standby needs the master key of the server: put %s into %s, or set CONFAB_MASTER_KEY: %w",
			storage.MasterKeyFile, string(a.dir), err)
	}
	o, err := a.replicaOptions(key)
	if err != nil {
		return nil, err
	}
	return replica.NewStandby(o)
}

// listenAgain makes a second listener of the same socket. When it is closed, the first one
// stays open, and connections wait there.
func listenAgain(l net.Listener) (net.Listener, error) {
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return nil, nil
	}
	f, err := tcp.File()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return net.FileListener(f)
}

// standbyHandler says that this is no server yet.
func (a *App) standbyHandler(s *replica.Standby) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lag, problem, ok := s.Lag()
		state := fmt.Sprintf("standby, %.1f s behind", lag.Seconds())
		if !ok {
			state = "standby, without a copy yet: " + problem
		}

		status := http.StatusServiceUnavailable
		switch r.URL.Path {
		case "/livez":
			serveLive(w, r)
			return
		case "/readyz":
			http.Error(w, state, status)
			return
		case "/":
			status = http.StatusOK
		default:
			w.Header().Set("Retry-After", "10")
		}

		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `<!doctype html><html lang="en"><title>confab standby</title><h1>This is a standby</h1>`+
			`<p>It keeps a copy of another confab server's data, and serves nothing itself. State: `+html.EscapeString(state)+`.</p>`+
			`<p>If that server is lost, run <code>confab promote</code> on this machine.</p></html>`+"\n")
	})
}

// serveStandbyControl answers the commands of a standby. Whoever promotes it becomes by.
func (a *App) serveStandbyControl(ctx context.Context, s *replica.Standby, by *storage.Actor) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+datadir.CommandAddress, a.serveAddress)
	mux.HandleFunc("POST "+datadir.CommandReplica, func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(s.Status()) // the command may have left
	})
	mux.HandleFunc("POST "+datadir.CommandRefresh, func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler) // it is for a server, which this will be soon if somebody asks
	})
	mux.HandleFunc("POST "+datadir.CommandPromote, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a large copy is checked for long
		name, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<10))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}

		began, err := s.Promote(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		if len(name) > 0 {
			by.Name = new(string(name))
		}
		_ = json.NewEncoder(w).Encode(began) // the command may have left
	})
	return a.serveControlMux(ctx, mux)
}
