package doctor

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"confab/app/config"
	"confab/app/datadir"
	"confab/app/replica"
)

// checkSettings loads the settings as a server does, and returns whether they can be used.
func (e *examination) checkSettings() bool {
	c, err := config.Load(e.Sources)
	if err == nil && c.Replica.URL != "" {
		err = replica.PrepareProcess() // before anything is asked over TLS, whose roots are read once
	}
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			e.broken("settings", "Fix it; 'confab config check' shows the values in effect, and 'confab init -' every setting.",
				"%s.", strings.TrimSpace(line))
		}
		return false
	}

	e.config, e.dir = c, datadir.Dir(c.DataDir)
	e.ok("settings", "All settings are valid.")

	for _, unknown := range c.UnknownVariables {
		e.warn("variables", "Fix its name or remove it: it has no effect.", "%s", unknown)
	}
	return true
}

// checkExposure checks for settings that are unsafe together: a public address without https.
func (e *examination) checkExposure() {
	c := e.config
	exposed := !isLoopback(c.Server.Listen)
	u, err := url.Parse(c.PublicURL())
	secure := err == nil && u.Scheme == "https"

	switch {
	case exposed && !c.Server.TLS() && !secure:
		e.warn("exposure",
			"Serve https with server.tls_domains or server.tls_cert, or put an https proxy in front, and set server.public_url.",
			"%s on %s without https: API keys cross the network unencrypted.", e.listenPhrase(), c.Server.Listen)
	case exposed && c.Security.AllowInsecureURLs:
		e.warn("exposure", "Unset security.allow_insecure_urls: it is for development only.",
			"Webhooks may use http addresses, where anyone on the network path can read them.")
	default:
		e.ok("exposure", "%s on %s, public URL %s.", e.listenPhrase(), c.Server.Listen, c.PublicURL())
	}

	if secure && !c.Server.TLS() && len(c.Server.TrustedProxies) == 0 {
		e.warn("proxy", "Add the proxy to server.trusted_proxies, so that logs and limits see client addresses.",
			"server.public_url is https but confab serves http, so there is a proxy in front, but none is trusted.")
	}
}

// listenPhrase begins a sentence about the address. It depends on whether the address
// comes from a running server, from the last run of a sandbox or from the settings.
func (e *examination) listenPhrase() string {
	switch {
	case e.served && sameAddress(e.listenAddress, e.config.Server.Listen):
		return "Listens"
	case e.isSandbox:
		return "Last listened"
	default:
		return "Configured to listen"
	}
}

// sameAddress reports whether two addresses to listen on are the same. A server that is
// set to 0.0.0.0 says that it listens on [::].
func sameAddress(a, b string) bool {
	normalize := func(address string) string {
		host, port, _ := net.SplitHostPort(address)
		if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
			return ":" + port
		}
		return address
	}
	return normalize(a) == normalize(b)
}

// isLoopback reports whether an address is reached from this machine only.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopbackHost(host)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func isLoopbackHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// errorText is the text of an error as it fits into a sentence: without the URL that
// net/http adds, and without a full stop.
func errorText(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return strings.TrimSuffix(err.Error(), ".")
}
