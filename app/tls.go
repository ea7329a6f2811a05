package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/crypto/acme/autocert"

	"confab/app/datadir"
)

const (
	// certificateCheckInterval is the least time between two looks at the files of
	// the certificate; handshakes in between use the loaded one.
	certificateCheckInterval = time.Second

	httpPort  = "80"
	httpsPort = "443"
)

// openTLS prepares https as the settings have it: with a certificate in files, with
// certificates that are fetched for the named domains, or not at all.
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
			Cache:      autocert.DirCache(a.dir.File(datadir.CertificateDir)),
			Client:     a.ACME,
		}
		a.tls = a.certificates.TLSConfig()
	default:
		return nil
	}

	a.tls.MinVersion = tls.VersionTLS12
	a.openPlainHTTP()
	return nil
}

// openPlainHTTP listens on port 80 if https is on port 443. Browsers go there if no
// scheme is typed, and so does the certificate authority with its challenges. The
// server works without it, so a port that cannot be bound is only a warning.
func (a *App) openPlainHTTP() {
	host, port, err := net.SplitHostPort(a.Config.Server.Listen)
	if err != nil || port != httpsPort {
		return
	}

	if a.plainListener, err = listen(net.JoinHostPort(host, httpPort)); err != nil {
		a.plainListener = nil
		a.Log.Warn("http is not redirected to https", "error", err)
	}
}

// plainHandler redirects to https. The host comes from the settings, never from the
// request. Only GET and HEAD are redirected: another request has sent its body and its
// key unencrypted already, and its sender must notice.
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

// certificate is one in two files, which are read again. mu guards everything below it.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu        sync.Mutex
	loaded    *tls.Certificate
	checkedAt time.Time
	lastError string // logged for the files as they are now; "" if they can be used
}

func (c *certificate) load() error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return err
	}
	if c.loaded != nil && !pair.Leaf.Equal(c.loaded.Leaf) {
		c.log.Info("reloaded the certificate", "file", c.cert, "expires", pair.Leaf.NotAfter)
	}

	c.loaded = &pair
	return nil
}

// get implements tls.Config.GetCertificate. While the files cannot be used, the last
// certificate stays: they may be half written.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if time.Since(c.checkedAt) < certificateCheckInterval {
		return c.loaded, nil
	}

	c.checkedAt = time.Now()
	problem := ""
	if err := c.load(); err != nil {
		problem = err.Error()
	}
	if problem != "" && problem != c.lastError {
		c.log.Error("the new certificate cannot be used: keeping the previous one", "file", c.cert, "error", problem)
	}
	c.lastError = problem
	return c.loaded, nil
}
