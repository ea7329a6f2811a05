package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"time"

	"confab/app/datadir"
)

// renewalMargin is how long before its end a certificate should have been renewed.
const renewalMargin = 14 * 24 * time.Hour

// checkCertificate checks the certificate in the files that the settings name, or those
// that the server fetches for the domains in the settings.
func (e *examination) checkCertificate(ctx context.Context) {
	s := e.config.Server
	switch {
	case s.TLSCert != "":
		e.checkCertificateFile(s.TLSCert, s.TLSKey)
	case len(s.TLSDomains) > 0:
		e.checkDomains(ctx, s.TLSDomains)
	}
}

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
	if _, port, err := net.SplitHostPort(e.config.Server.Listen); err == nil && port != "443" {
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
