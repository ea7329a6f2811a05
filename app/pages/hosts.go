package pages

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Hosts are the names under which pages are shown, besides those of this machine.
type Hosts []string

// NewHosts adds the host of a public URL to some names.
func NewHosts(publicURL string, names ...string) Hosts {
	if u, err := url.Parse(publicURL); err == nil {
		names = append(slices.Clone(names), u.Hostname())
	}
	return names
}

// Known admits the names of this machine and the configured ones: a page
// elsewhere that resolves its own name to us is none of these.
func (h Hosts) Known(hostport string) bool {
	host := hostport
	if name, _, err := net.SplitHostPort(hostport); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if addr, err := netip.ParseAddr(host); err == nil && addr.IsLoopback() || strings.EqualFold(host, "localhost") {
		return true
	}
	return slices.ContainsFunc(h, func(name string) bool { return name != "" && strings.EqualFold(name, host) })
}

// Guard lets only requests for a known host through.
func (h Hosts) Guard(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !h.Known(r.Host) {
			http.Error(w, "This address is not ours. Use the one in server.public_url, or localhost.", http.StatusForbidden)
			return
		}
		serve(w, r)
	}
}
