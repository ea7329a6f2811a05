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
	// maxSocketPath is what the system takes for a socket's name, with some room.
	maxSocketPath = 100
	// tellTimeout is longer than a server takes to stop.
	tellTimeout = 20 * time.Second
	tellPause   = 20 * time.Millisecond
	// addressTimeout leaves a health check the time to ask at that address.
	addressTimeout = 2 * time.Second
)

// serveControl listens on the socket by which commands of other processes make
// their changes take effect here at once.
func (a *App) serveControl(ctx context.Context) error {
	path, done, err := a.dir.socket()
	if err != nil {
		return err
	}
	defer done()
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // what a killed process left behind; we hold the lock
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, listener.Close())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /refresh", a.refresh)
	mux.HandleFunc("POST /flush", a.flush)
	mux.HandleFunc("POST /address", a.serveAddress)
	mux.HandleFunc("POST /jobs/{id}/cancel", a.cancelJob)
	mux.HandleFunc("POST /purge", a.servePurge)
	return serveUntil(ctx, newHTTPServer(mux, a.Log), func(server *http.Server) error { return server.Serve(listener) })
}

// refresh makes the server see what another process changed.
func (a *App) refresh(w http.ResponseWriter, _ *http.Request) {
	a.DB.Forget()
	a.runner.Rescan()
	w.WriteHeader(http.StatusNoContent)
}

// flush writes what the API log holds back, for somebody who wants to read it.
func (a *App) flush(w http.ResponseWriter, r *http.Request) {
	if err := a.api.Flush(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// whereabouts is where a server is found.
type whereabouts struct {
	Listen string `json:"listen"`
	Local  string `json:"local_url"` // from this machine
}

// serveAddress says where the server listens, which a flag or a port that was
// left open may have decided.
func (a *App) serveAddress(w http.ResponseWriter, _ *http.Request) {
	local, err := a.Config.Server.LocalURL()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(whereabouts{Listen: a.Config.Server.Listen, Local: local.String()}) // nobody may listen any more
}

// Address is where the server that runs on the directory listens, and how it is
// reached from this machine. Without one that answers, it is where the settings
// have it.
func (d DataDir) Address(ctx context.Context, settings config.Server) (listen string, local *url.URL, err error) {
	if served, err := d.Served(); err == nil && served {
		ctx, cancel := context.WithTimeout(ctx, addressTimeout)
		defer cancel()
		var at whereabouts
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

// cancelJob breaks off a running job whose row is gone, and sees what ended with it.
func (a *App) cancelJob(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.Error(w, "not a job's number", http.StatusBadRequest)
		return
	}
	a.runner.Cancel(id)
	a.refresh(w, r)
}

// socket is a path for the control socket that the system accepts. A long one
// goes through a file descriptor of the directory, which done closes.
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

// Tell posts a command to the server of the directory and waits for its word.
// Without a server there is nobody to tell. One that is starting or stopping
// has the time to answer or to be gone.
func (d DataDir) Tell(ctx context.Context, command string) error {
	ctx, cancel := context.WithTimeout(ctx, tellTimeout)
	defer cancel()
	for {
		served, err := d.Served()
		if err != nil || !served {
			return err
		}
		err = d.post(ctx, command, nil, nil)
		if err == nil || !betweenTimes(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(tellPause):
		}
	}
}

// betweenTimes tells the errors of a socket that is not open yet, or no more.
func betweenTimes(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrUnexpectedEOF)
}

// post sends one command to the control socket, with a body or without, and has
// the answer read, unless nobody wants it.
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
	res, err := exchange(conn, req)
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

// exchange makes one request over a connection. http.Transport would not tell that
// the server hung up before it had read the request: its error for that is its own.
func exchange(conn net.Conn, req *http.Request) (*http.Response, error) {
	req.Close = true
	if err := req.Write(conn); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(conn), req)
}
