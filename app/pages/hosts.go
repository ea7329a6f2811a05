package pages

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Hosts are the host names under which pages are served, besides those of this machine.
type Hosts []string

// Contains reports whether a Host header names this machine or one of the hosts. Anything
// else may be DNS rebinding: a page elsewhere whose name resolves to our address, and
// that would pass for the same origin.
func (h Hosts) Contains(hostport string) bool {
	host := hostport
	if name, port, err := net.SplitHostPort(hostport); err == nil && strings.Trim(port, "0123456789") == "" {
		host = name
	}

	host = strings.Trim(host, "[]")
	if addr, err := netip.ParseAddr(host); err == nil && addr.IsLoopback() || strings.EqualFold(host, "localhost") {
		return true
	}

	return slices.ContainsFunc(h, func(name string) bool { return name != "" && strings.EqualFold(name, host) })
}

// Guard refuses requests for a host that is not known.
func (h Hosts) Guard(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !h.Contains(r.Host) {
			http.Error(w, "Unknown address. Use the one in server.public_url, or localhost.", http.StatusForbidden)
			return
		}
		serve(w, r)
	}
}
