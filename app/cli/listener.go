package cli

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"syscall"

	"confab/app/config"
)

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

// isLoopback reports whether a listener's address can be reached from this
// machine only.
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
