package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/acme/autocert"
)

const (
	// certificateEvery is how often a handshake looks whether the files changed.
	certificateEvery = time.Second

	httpPort  = "80"
	httpsPort = "443"
)

// openTLS prepares what the settings say about https: a certificate in files,
// one that is fetched for the domains they name, or none.
func (a *App) openTLS() error {
	c := a.Config.Server
	switch {
	case c.TLSCert != "":
		files := &certificate{cert: c.TLSCert, key: c.TLSKey, log: a.Log}
		if err := files.load(); err != nil {
			return fmt.Errorf("server.tls_cert: %w", err)
		}
		a.tls = &tls.Config{GetCertificate: files.get}
	case len(c.TLSDomains) > 0:
		a.certificates = &autocert.Manager{
			Prompt:     autocert.AcceptTOS,
			HostPolicy: autocert.HostWhitelist(c.TLSDomains...),
			Cache:      autocert.DirCache(a.dir.file(certificateDir)),
			Client:     a.ACME,
		}
		a.tls = a.certificates.TLSConfig()
	default:
		return nil
	}
	a.tls.MinVersion = tls.VersionTLS12
	a.openPlain()
	return nil
}

// openPlain listens on the port of http beside that of https, where others lead
// people who type no scheme, and where certificates may be proven. It is no more
// than a service: where the port is not to be had, it is done without.
func (a *App) openPlain() {
	host, port, err := net.SplitHostPort(a.Config.Server.Listen)
	if err != nil || port != httpsPort {
		return
	}
	if a.plainListener, err = net.Listen("tcp", net.JoinHostPort(host, httpPort)); err != nil {
		a.plainListener = nil
		a.Log.Warn("http is not redirected to https", "error", err)
	}
}

// plainHandler leads to https. The way there is taken from the settings, never
// from the request. What is not merely read has been sent in the open already:
// that must not go unnoticed.
func (a *App) plainHandler() http.Handler {
	redirect := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "use https", http.StatusBadRequest)
			return
		}
		http.Redirect(w, r, a.URL()+r.URL.RequestURI(), http.StatusMovedPermanently)
	})
	if a.certificates != nil {
		return a.certificates.HTTPHandler(redirect)
	}
	return redirect
}

// certificate is a certificate in files, read again when they have changed.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	loaded  *tls.Certificate
	stamps  [2]stamp
	looked  time.Time
	trouble string // with the files as they are now, told once
}

// stamp tells one content of a file from the next without reading it.
type stamp struct {
	modified time.Time
	size     int64
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path) // through links, which some tools swap
	if err != nil {
		return stamp{}, err
	}
	return stamp{info.ModTime(), info.Size()}, nil
}

// load reads the files, if they have changed since.
func (c *certificate) load() error {
	var stamps [2]stamp
	for i, path := range []string{c.cert, c.key} {
		var err error
		if stamps[i], err = stampOf(path); err != nil {
			return err
		}
	}
	if c.loaded != nil && stamps == c.stamps {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return err
	}
	if c.loaded != nil {
		c.log.Info("read the certificate again", "file", c.cert, "expires", pair.Leaf.NotAfter)
	}
	c.loaded, c.stamps = &pair, stamps
	return nil
}

// get implements tls.Config.GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= certificateEvery {
		c.looked = time.Now()
		c.refresh()
	}
	return c.loaded, nil
}

// refresh reads the files if they have changed, and keeps the last certificate
// while they cannot be used: they may be half written.
func (c *certificate) refresh() {
	err := c.load()
	if err == nil {
		c.trouble = ""
		return
	}
	if c.trouble != err.Error() {
		c.trouble = err.Error()
		c.log.Error("the certificate has changed and cannot be used: the last one stays", "file", c.cert, "error", err)
	}
}
