package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"confab/app/config"
	"confab/app/console"
	"confab/app/simulator"
	"confab/jobs/guard"
)

const (
	defaultSimulatorListen = "127.0.0.1:8081"

	// shutdownTimeout is short: the server stops before the simulator and may take
	// ten seconds, and both together should take less than fifteen.
	shutdownTimeout = 2 * time.Second

	fetchTimeout = 20 * time.Second // of a link in a message
)

// loopbackPrefixes are the addresses of this machine, which a sandbox may call beside public ones.
func loopbackPrefixes() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// simulatorHost serves a simulator on a listener of its own. After serve and stop,
// or without them, close saves its state.
type simulatorHost struct {
	*simulator.Server
	listener   net.Listener
	linkClient *guard.Client
	http       *http.Server
}

// newSimulatorHost makes a simulator that keeps its state under dir.
func newSimulatorHost(l net.Listener, dir string, log *slog.Logger, o simulator.Options) (*simulatorHost, error) {
	o.StateFile = filepath.Join(dir, "simulator", "state")
	o.Listen = l.Addr().String()
	o.PublicURL = localURL(l)
	o.Log = log.With("part", "simulator")

	// Links in messages are fetched, as the provider does; these may point to this machine, too.
	links := guard.New(guard.Options{
		Allow:         loopbackPrefixes(),
		AllowInsecure: true,
		Redirects:     guard.MaxRedirects,
		Timeout:       fetchTimeout,
	})
	o.Fetch = links.Do
	o.Refuses = guard.IsFetch
	o.Mark = func(r *http.Request) { r.Header.Set(guard.Header, "1") }

	sim, err := simulator.New(o)
	if err != nil {
		return nil, err
	}

	h := &simulatorHost{Server: sim, listener: l, linkClient: links}
	h.http = &http.Server{
		Handler:           sim,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	h.http.RegisterOnShutdown(sim.StopStreams)
	return h, nil
}

// offerPhone shows the phone to browsers, beside all that the provider answers.
func (h *simulatorHost) offerPhone() {
	phone := console.NewPhone(h.Server)
	h.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isPhone := strings.HasPrefix(r.URL.Path, console.PhonePath)
		switch {
		case isPhone && !h.Server.AllowsHost(r.Host):
			http.Error(w, "The host name is not one of the simulator's.", http.StatusForbidden)
		case isPhone:
			phone.ServeHTTP(w, r)
		case r.URL.Path == "/" && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html"):
			http.Redirect(w, r, console.PhonePath, http.StatusFound)
		default:
			h.Server.ServeHTTP(w, r)
		}
	})
}

func (h *simulatorHost) serve() error {
	if err := h.http.Serve(h.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("simulator: %w", err)
	}
	return nil
}

// stop ends serving when the requests in flight are answered, or after shutdownTimeout.
func (h *simulatorHost) stop() {
	grace, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()

	if h.http.Shutdown(grace) != nil {
		h.http.Close()
	}
}

// close saves the state and frees everything.
func (h *simulatorHost) close() error {
	h.linkClient.Close()
	return errors.Join(closeListener(h.listener), h.Server.Close())
}

// openListener listens on the address of a flag, whose name its errors have.
func openListener(address, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is already in use: choose another address with --%s (port 0 picks a free one)", address, flag)
	}
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return l, nil
}

// localURL is where a listener is reached from this machine.
func localURL(l net.Listener) string {
	u, err := config.Server{Listen: l.Addr().String()}.LocalURL()
	if err != nil {
		return "http://" + l.Addr().String()
	}
	return u.String()
}

// isLoopback reports whether a listener's address can be reached from this machine only.
func isLoopback(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().IsLoopback()
}

// allowedHosts are the names in the Host header of calls to the control API that
// are accepted beside loopback's: that of the public URL and, where other
// machines can reach it, the names and addresses of this machine.
func allowedHosts(publicURL string, exposed bool) []string {
	var names []string
	if u, err := url.Parse(publicURL); err == nil && u.Hostname() != "" {
		names = append(names, u.Hostname())
	}
	if !exposed {
		return names
	}

	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			names = append(names, p.Addr().String())
		}
	}
	return names
}

// closeListener closes a listener that may be closed already.
func closeListener(l net.Listener) error {
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

func isEmptyDirectory(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("data directory: %w", err)
	}
	return len(entries) == 0, nil
}
