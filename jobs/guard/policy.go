package guard

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

type policy struct {
	allow    []netip.Prefix // may be reached although they are not public
	insecure bool           // http is allowed
	local    bool           // http is allowed to this machine
	public   *ssrf.Guardian // knows which addresses are public
}

func newPolicy(o Options) policy {
	p := policy{insecure: o.AllowInsecure, local: o.AllowLocal, public: ssrf.New(ssrf.WithAnyPort())}
	for _, prefix := range o.Allow {
		if prefix.Addr().Is4In6() && prefix.Bits() >= 96 { // IPv4 is the form in which addresses are compared
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		p.allow = append(p.allow, prefix)
	}
	return p
}

// checkDial is called by net.Dialer just before it connects: the name has been
// resolved, and the address is the one that will be used.
func (p policy) checkDial(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return &BlockedError{}
	}
	return p.checkAddr(target.Addr())
}

// checkAddr refuses an address that is neither public nor allowed.
func (p policy) checkAddr(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	isAllowed := slices.ContainsFunc(p.allow, func(prefix netip.Prefix) bool { return prefix.Contains(addr) })
	if !isAllowed && p.public.SafeAddr(addr) != nil {
		return &BlockedError{Addr: addr}
	}
	return nil
}

// IsLocalHost reports whether a host is this machine, by name or address.
func IsLocalHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil && addr.IsLoopback() {
		return true
	}
	return strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost")
}

// checkURL checks everything that needs no DNS lookup.
func (p policy) checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("%w: must be an https URL", ErrURL)
	case u.Scheme == "http" && !p.insecure && !(p.local && IsLocalHost(u.Hostname())):
		return fmt.Errorf("%w: must be an https URL", ErrURL)
	case u.Opaque != "" || u.Hostname() == "":
		return fmt.Errorf("%w: has no host", ErrURL)
	case u.User != nil:
		return fmt.Errorf("%w: must not carry a user name or password", ErrURL)
	}
	if port, err := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16); err != nil || port == 0 {
		return fmt.Errorf("%w: has no valid port", ErrURL)
	}

	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		return p.checkAddr(addr)
	}
	return p.checkName(u.Hostname())
}

// checkName checks a host that is not an IP address. The names of this machine
// are known without a lookup (RFC 6761): they are allowed if one of the loopback
// addresses is.
func (p policy) checkName(host string) error {
	switch {
	case !IsHostname(host):
		return fmt.Errorf("%w: has no valid host", ErrURL)
	case !IsLocalHost(strings.TrimSuffix(host, ".")), p.checkAddr(netip.IPv6Loopback()) == nil:
		return nil
	}
	return p.checkAddr(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
}

// IsHostname reports whether a host of a URL can be a DNS name. url.Parse accepts
// characters that no name has. It also accepts short forms of addresses, such as
// 127.1 and 0x7f000001, which some resolvers understand; these are refused here.
func IsHostname(host string) bool {
	if len(host) > 253 || strings.ContainsAny(host, "<>\"'`^{}|\\%!$&()*+,;=:@/?#[] ") {
		return false
	}

	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	isBad := slices.ContainsFunc(labels, func(label string) bool { return label == "" || len(label) > 63 })
	return !isBad && !isNumeric(labels[len(labels)-1])
}

// isNumeric reports whether a label is a number, which no top-level domain is.
func isNumeric(label string) bool {
	digits, hex := strings.CutPrefix(strings.ToLower(label), "0x")
	if hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(digits, "0123456789") == ""
}

// IsAddress reports whether a host is an IP address without a zone, which could be any text.
func IsAddress(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == ""
}
