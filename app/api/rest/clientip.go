package rest

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientIP is the address of the caller: the peer's, or behind trusted proxies
// the last one in X-Forwarded-For that is not a trusted proxy itself.
func clientIP(r *http.Request, trusted []netip.Prefix) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}

	addr := normalizeAddr(peer.Addr())
	if !isTrusted(addr, trusted) {
		return addr.String()
	}

	// The nearest proxy wrote the last hop, so the list is walked from its end, for as
	// long as the address that vouches for the next one is a trusted proxy.
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !isTrusted(addr, trusted) {
			break
		}
		next, ok := parseHop(strings.TrimSpace(hop))
		if !ok {
			break
		}
		addr = next
	}

	return addr.String()
}

// networkOf is what counts as one caller where callers are counted: an address of
// IPv4, and of IPv6 the /64 network, which one subscriber has to itself.
func networkOf(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil || addr.Is4() {
		return ip
	}

	prefix, err := addr.Prefix(64)
	if err != nil {
		return ip
	}
	return prefix.String()
}

// parseHop reads an address as proxies write it, some of them with the port.
func parseHop(hop string) (netip.Addr, bool) {
	if withPort, err := netip.ParseAddrPort(hop); err == nil {
		return normalizeAddr(withPort.Addr()), true
	}
	addr, err := netip.ParseAddr(strings.Trim(hop, "[]"))
	return normalizeAddr(addr), err == nil
}

// normalizeAddr is an address in the form that prefixes match: IPv4 not mapped into
// IPv6, and without a zone, because no prefix contains one that has a zone.
func normalizeAddr(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

func isTrusted(addr netip.Addr, trusted []netip.Prefix) bool {
	return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(addr) })
}
