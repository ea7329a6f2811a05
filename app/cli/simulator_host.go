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
	"syscall"
	"time"

	"confab/app/config"
	"confab/app/simulator"
	"confab/jobs/guard"
)

const (
	defaultSimulatorListen = "127.0.0.1:8081"

	// shutdownTimeout is short: the server, which may need the provider until its
	// own end, has ten seconds before it, and both have fifteen.
	shutdownTimeout = 2 * time.Second

	fetchTimeout = 20 * time.Second

	simulatorLock = "simulator.lock"
)

// loopbackPrefixes is what a sandbox may reach beside public addresses.
func loopbackPrefixes() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// simulatorHost serves a simulator on a listener of its own.
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

	// A link in a message is fetched as the provider would, but from this machine too.
	links := guard.New(guard.Options{Allow: loopbackPrefixes(), AllowInsecure: true, Redirects: guard.MaxRedirects, Timeout: fetchTimeout})
	o.Fetch = &http.Client{Transport: guardedTransport{links}}

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
	return h, nil
}

// guardedTransport is a guarded client as a transport, which is what the simulator can
// be given.
type guardedTransport struct{ *guard.Client }

func (g guardedTransport) RoundTrip(req *http.Request) (*http.Response, error) { return g.Do(req) }

// serve serves until stop.
func (h *simulatorHost) serve() error {
	if err := h.http.Serve(h.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("simulator: %w", err)
	}
	return nil
}

// stop answers what was asked, unless that takes too long.
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

// closeListener closes a listener that may be closed already.
func closeListener(l net.Listener) error {
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// openListener opens an address that a flag names.
func openListener(address, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is taken: choose another address with --%s (port 0 is any free one)", address, flag)
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

// isLoopback tells whether an address that is listened on is reached from this
// machine only.
func isLoopback(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().IsLoopback()
}

// allowedHosts are the names under which the control surface may be called beside
// loopback's: that of the public URL and, where other machines reach us, those
// of the system.
func allowedHosts(publicURL string, open bool) []string {
	var names []string
	if u, err := url.Parse(publicURL); err == nil && u.Hostname() != "" {
		names = append(names, u.Hostname())
	}

	if !open {
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

// lockDirectory takes a directory for one process. The system frees it when the
// process ends, however that happens.
func lockDirectory(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, simulatorLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}

	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%s is in use: a simulator runs on this data directory; stop it first, or choose another directory with --data-dir", dir)
	}

	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// isEmptyDirectory tells whether a directory holds nothing, or is not there.
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
