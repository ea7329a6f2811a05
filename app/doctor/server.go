package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"confab/app/datadir"
)

// locateServer asks the server that runs on the directory where it listens: a flag may
// have changed it, or the port was 0. If the settings name an address that others can
// reach, that one stays for the checks that follow, because the next start listens there.
func (e *examination) locateServer(ctx context.Context) {
	listen, local, err := e.dir.Address(ctx, e.config.Server)
	if err != nil {
		return
	}

	e.listenAddress, e.localURL = listen, local
	if isLoopback(e.config.Server.Listen) {
		e.config.Server.Listen = listen
	}
}

// checkServer asks the server of the directory for its version, directly and by its public URL.
func (e *examination) checkServer(ctx context.Context) {
	if !e.served {
		start := "confab serve"
		if e.isSandbox {
			start = "confab sandbox"
		}
		e.warn("server", "Start it: "+start+".", "No server is running on %s.", string(e.dir))
		e.checkPublicName(ctx)
		return
	}

	if e.localURL == nil {
		e.ok("server", "A server is running.")
		return
	}

	version, err := getHealth(ctx, datadir.LocalClient(e.config.Server.CertificateName(), networkTime), e.localURL)
	switch {
	case err != nil:
		e.broken("server", "Check its log. If it was started with other settings, use the same file with --config.",
			"A server is running on %s but does not answer at %s: %s.", string(e.dir), e.localURL, errorText(err))
		return
	case version != e.Version:
		e.warn("server", "Restart it to run the installed version.",
			"The running server is version %s, and this is %s.", version, e.Version)
	default:
		e.ok("server", "Version %s answers at %s.", version, e.localURL)
	}

	e.checkPublicURL(ctx)
}

// checkPublicName checks that the name in the public URL can be resolved. Without a
// server that is all that can be checked.
func (e *examination) checkPublicName(ctx context.Context) {
	public, err := url.Parse(e.config.PublicURL())
	if err != nil || isLoopbackHost(public.Hostname()) {
		return
	}

	ctx, cancel := context.WithTimeout(ctx, networkTime)
	defer cancel()
	if _, err := net.DefaultResolver.LookupHost(ctx, public.Hostname()); err != nil {
		e.broken("public URL", "Fix server.public_url, or add an A or AAAA record for "+public.Hostname()+".",
			"%s cannot be resolved: %s.", public, errorText(err))
	}
}

func (e *examination) checkPublicURL(ctx context.Context) {
	public, err := url.Parse(e.config.PublicURL())
	if err != nil {
		return // the settings were checked
	}

	_, err = getHealth(ctx, e.http, public)
	_, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	slow, isNetwork := errors.AsType[net.Error](err)

	switch {
	case err == nil:
		e.ok("public URL", "%s reaches this server.", public)
		if e.provider != nil {
			e.checkCallbackURL(ctx)
		}
	case errors.Is(err, errNotConfab):
		e.broken("public URL", "Fix server.public_url, or the proxy or DNS for it.",
			"%s reaches another server: %s.", public, err)
	case isCertificate:
		e.broken("certificate", "Get a certificate for "+public.Hostname()+" that clients accept.", "%s: %s.", public, errorText(err))
	case isNetwork && slow.Timeout():
		e.warn("public URL", "Try it from outside: some networks cannot reach their own public address.",
			"%s does not answer from here.", public)
	default:
		e.broken("public URL", "Fix server.public_url, DNS, the proxy or the firewall.",
			"%s cannot be reached: %s.", public, errorText(err))
	}
}

var errNotConfab = errors.New("is not confab")

func getHealth(ctx context.Context, client *http.Client, base *url.URL) (version string, err error) {
	res, err := get(ctx, client, base.JoinPath("v1", "health").String())
	if err != nil {
		return "", err
	}
	defer res.Body.Close()

	var answer struct{ Data struct{ Version string } }
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<16)).Decode(&answer); err != nil || answer.Data.Version == "" {
		return "", fmt.Errorf("it answers %s, and %w", res.Status, errNotConfab)
	}
	return answer.Data.Version, nil
}

// get makes a request, whose answer the caller closes.
func get(ctx context.Context, client *http.Client, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

// renewalMargin is how long before its end a certificate should have been renewed.
const renewalMargin = 14 * 24 * time.Hour

func (e *examination) checkCertificateFile(cert, key string) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		e.broken("certificate", "Put a certificate chain and private key, both PEM files, where server.tls_cert and server.tls_key point.",
			"%v.", err)
		return
	}

	if info, err := os.Stat(key); err == nil && info.Mode().Perm()&0o077 != 0 {
		e.warn("certificate", "Run: chmod go= "+key, "Other users on this machine can read the private key %s.", key)
	}

	host := hostOf(e.config.PublicURL())
	if e.checkExpiry(pair.Leaf, "Renew "+cert+"; the server reloads it automatically.") {
		if err := pair.Leaf.VerifyHostname(host); err != nil && !isLoopbackHost(host) {
			e.broken("certificate", "Get a certificate for "+host+", or fix server.public_url.", "%s: %v.", cert, err)
			return
		}
		e.ok("certificate", "%s is valid until %s.", cert, pair.Leaf.NotAfter.Format(time.DateOnly))
	}
}

// checkExpiry reports whether a certificate is valid now and for a while to come.
func (e *examination) checkExpiry(leaf *x509.Certificate, advice string) bool {
	left := time.Until(leaf.NotAfter)
	switch {
	case left < 0:
		e.broken("certificate", advice, "The certificate expired on %s.", leaf.NotAfter.Format(time.DateOnly))
	case time.Now().Before(leaf.NotBefore):
		e.broken("certificate", "Check this machine's clock.",
			"The certificate is not valid before %s.", leaf.NotBefore.Format(time.RFC3339))
	case left < renewalMargin:
		e.warn("certificate", advice, "The certificate expires on %s.", leaf.NotAfter.Format(time.DateOnly))
	default:
		return true
	}
	return false
}

// checkDomains checks the conditions for fetching certificates, and those that were fetched.
func (e *examination) checkDomains(ctx context.Context, domains []string) {
	if _, port, err := net.SplitHostPort(e.config.Server.Listen); err == nil && port != "443" && len(domains) > 0 {
		e.warn("certificate", "Listen on port 443, or forward it here: Let's Encrypt uses that port.",
			"The server listens on port %s.", port)
	}

	for _, domain := range domains {
		found, err := net.DefaultResolver.LookupHost(ctx, domain)
		if err != nil {
			e.broken("certificate", "Add an A or AAAA record for "+domain+" that points to this machine.",
				"%s cannot be resolved: %v.", domain, err)
			continue
		}

		file := e.dir.File(filepath.Join(datadir.CertificateDir, domain)) // with the key, too
		pair, err := tls.LoadX509KeyPair(file, file)
		if err != nil {
			e.warn("certificate", "It is fetched on the first visit to https://"+domain+". Then check again.",
				"There is no certificate for %s yet (it resolves to %s).", domain, found[0])
			continue
		}

		if e.checkExpiry(pair.Leaf, "The server renews it automatically; check its log, and that port 443 of "+domain+" reaches it.") {
			e.ok("certificate", "The certificate for %s is valid until %s.", domain, pair.Leaf.NotAfter.Format(time.DateOnly))
		}
	}
}
