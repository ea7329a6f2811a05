package app

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"confab/app/config"
)

const (
	// maxSocketPath is a little less than the 104 or 108 bytes that systems allow.
	maxSocketPath = 100
	// controlTimeout is longer than a server takes to stop.
	controlTimeout    = 20 * time.Second
	controlRetryPause = 20 * time.Millisecond
	// addressTimeout is short, because a health check asks for the address first
	// and must then still have time to call it.
	addressTimeout = 2 * time.Second
)

// The control socket connects a command with the server that runs on the same data
// directory, both of which have the database open:
//
//   - The server listens on confab.sock in the directory, from Run until it stops.
//     Only the user who runs it may connect (mode 0600).
//   - A command POSTs one request for each connection. /refresh tells the server that
//     the command changed the database, /flush that somebody wants to read the API
//     log, /address asks where it listens, /jobs/{id}/cancel breaks off a job, and
//     /purge deletes old data and reports its progress.
//   - Whether a server runs is known by the lock, not by the socket: a killed server
//     leaves its socket behind. While a server starts or stops it holds the lock and
//     does not answer, so a command tries again until one of the two changes.

// serveControl listens on the control socket until ctx ends.
func (a *App) serveControl(ctx context.Context) error {
	path, done, err := a.dir.socket()
	if err != nil {
		return err
	}
	defer done()

	// A socket that exists was left behind by a killed process: we hold the lock.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}

	listener, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, listener.Close())
	}

	mux := http.NewServeMux()
	mux.HandleFunc("POST /refresh", a.serveRefresh)
	mux.HandleFunc("POST /flush", a.serveFlush)
	mux.HandleFunc("POST /address", a.serveAddress)
	mux.HandleFunc("POST /jobs/{id}/cancel", a.serveCancelJob)
	mux.HandleFunc("POST /purge", a.servePurge)
	return serveUntil(ctx, newHTTPServer(mux, a.Log), func(server *http.Server) error { return server.Serve(listener) })
}

// serveRefresh drops what is cached from the database and looks for jobs, after
// another process has changed something.
func (a *App) serveRefresh(w http.ResponseWriter, _ *http.Request) {
	a.DB.DropCaches()
	a.runner.Rescan()
	w.WriteHeader(http.StatusNoContent)
}

// serveFlush writes the buffered part of the API log to the database, for a command
// that wants to read it.
func (a *App) serveFlush(w http.ResponseWriter, r *http.Request) {
	if err := a.api.Flush(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// serverAddress is the answer to /address.
type serverAddress struct {
	Listen string `json:"listen"`
	Local  string `json:"local_url"` // how this machine reaches it
}

// serveAddress answers where the server listens. The settings alone do not say it:
// a flag may have changed it, or the port was 0.
func (a *App) serveAddress(w http.ResponseWriter, _ *http.Request) {
	local, err := a.Config.Server.LocalURL()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}

	// A client that has left is no reason to complain.
	_ = json.NewEncoder(w).Encode(serverAddress{Listen: a.Config.Server.Listen, Local: local.String()})
}

// Address returns where the server that runs on the directory listens, and how it
// is reached from this machine. If none runs or answers, that is taken from the
// settings.
func (d DataDir) Address(ctx context.Context, settings config.Server) (listen string, local *url.URL, err error) {
	if served, err := d.Served(); err == nil && served {
		ctx, cancel := context.WithTimeout(ctx, addressTimeout)
		defer cancel()
		var at serverAddress
		err := d.post(ctx, "/address", nil, func(answer io.Reader) error {
			return json.NewDecoder(io.LimitReader(answer, 1<<12)).Decode(&at)
		})

		if err == nil {
			local, err = url.Parse(at.Local)
		}
		if err == nil {
			return at.Listen, local, nil
		}
	}

	local, err = settings.LocalURL()
	return settings.Listen, local, err
}

// serveCancelJob breaks off a running job that a command has deleted, and refreshes,
// because other rows may have changed with it.
func (a *App) serveCancelJob(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.Error(w, "not a job's number", http.StatusBadRequest)
		return
	}

	a.runner.Cancel(id)
	a.serveRefresh(w, r)
}

// socket returns a path for the control socket that is short enough for the system.
// For a long one it opens the directory and goes through its file descriptor, which
// done closes.
func (d DataDir) socket() (path string, done func(), err error) {
	path = d.file(socketFile)
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	if runtime.GOOS != "linux" {
		return "", nil, fmt.Errorf("the data directory's path is too long for a socket: %s", string(d))
	}

	dir, err := os.Open(string(d))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), socketFile), func() { dir.Close() }, nil
}

// Tell posts a command to the server of the directory and waits for its answer. If
// no server runs, it does nothing. While one starts or stops, it tries again until
// the server answers or is gone.
func (d DataDir) Tell(ctx context.Context, command string) error {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()

	for {
		served, err := d.Served()
		if err != nil || !served {
			return err
		}

		err = d.post(ctx, command, nil, nil)
		if err == nil || !notListening(err) {
			return err
		}

		select {
		case <-ctx.Done():
			return err
		case <-time.After(controlRetryPause):
		}
	}
}

// notListening reports whether an error means that the socket is not open yet, or
// not any more.
func notListening(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrUnexpectedEOF)
}

// post sends one command to the control socket, with a body or without. The answer
// goes to read, unless that is nil.
func (d DataDir) post(ctx context.Context, command string, body io.Reader, read func(io.Reader) error) error {
	path, done, err := d.socket()
	if err != nil {
		return err
	}
	defer done()

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://confab"+command, body)
	if err != nil {
		return err
	}

	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return fmt.Errorf("the running server did not answer: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()

	res, err := roundTrip(conn, req)
	if err != nil {
		return fmt.Errorf("the running server did not answer: %w", cmp.Or(ctx.Err(), err))
	}
	defer res.Body.Close()

	if res.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1024))
		return fmt.Errorf("the running server answered: %s", strings.TrimSpace(string(text)))
	}

	if read == nil {
		return nil
	}
	return read(res.Body)
}

// roundTrip makes one request over a connection. It does not use http.Transport,
// which hides behind an error of its own that the server hung up before it read the
// request; notListening must recognize that.
func roundTrip(conn net.Conn, req *http.Request) (*http.Response, error) {
	req.Close = true
	if err := req.Write(conn); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(conn), req)
}
