package e2e

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app"
	"confab/app/config"
	"confab/storage/storagetest"
)

// locked is a log that is read while it is written.
type locked struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.String()
}

// serveWith runs a server with these settings in this process.
func serveWith(t *testing.T, o app.Options) (*app.App, *locked) {
	t.Helper()
	log := &locked{}
	if !filepath.IsAbs(o.Config.DataDir) {
		o.Config.DataDir = filepath.Join(t.TempDir(), "data")
	}
	o.Schema, o.Version = storagetest.Schema(t), "test"
	o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	a, err := app.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, a.Close()); err != nil {
			t.Error(err)
		}
	})
	return a, log
}

// issue writes a certificate with a number for hosts, and its key.
func issue(t *testing.T, dir string, serial int64, expires time.Time, hosts ...string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"}, NotBefore: expires.Add(-90 * 24 * time.Hour), NotAfter: expires,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// shown is the number of the certificate that a server shows to a new connection.
func shown(t *testing.T, address string) int64 {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// awaitShown waits for a certificate; any that comes before it must be the earlier one.
func awaitShown(t *testing.T, address string, before, want int64) {
	t.Helper()
	changed := until(func() bool {
		got := shown(t, address)
		if got != before && got != want {
			t.Fatalf("certificate %d is shown", got)
		}
		return got == want
	})
	if !changed {
		t.Fatalf("certificate %d is not shown", want)
	}
}

func TestACertificateIsReadAgainWhenItChanges(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir, soon := t.TempDir(), time.Now().Add(24*time.Hour)
	c := config.Default()
	c.Server.Listen = "127.0.0.1:0"
	c.Server.TLSCert, c.Server.TLSKey = issue(t, dir, 1, soon, "127.0.0.1")
	a, log := serveWith(t, app.Options{Config: c})
	address := strings.TrimPrefix(a.URL(), "https://")
	is.Equal(shown(t, address), int64(1))

	// Requests are answered, over HTTP/2 too, with a promise to stay on https.
	pool := x509.NewCertPool()
	text, err := os.ReadFile(c.Server.TLSCert)
	is.NoErr(err)
	is.True(pool.AppendCertsFromPEM(text))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	res, err := client.Get(a.URL() + "/livez")
	is.NoErr(err)
	res.Body.Close()
	is.Equal(res.StatusCode, 200)
	is.Equal(res.ProtoMajor, 2)
	is.Equal(res.Header.Get("Strict-Transport-Security"), "max-age=31536000")
	client.CloseIdleConnections()

	issue(t, dir, 2, soon, "127.0.0.1")
	awaitShown(t, address, 1, 2)

	// A file that is half written changes nothing, and is logged once.
	is.NoErr(os.WriteFile(c.Server.TLSKey, []byte("-----BEGIN PRI"), 0o600))
	is.True(until(func() bool {
		is.Equal(shown(t, address), int64(2))
		return strings.Contains(log.String(), "cannot be used: keeping the previous one")
	}))
	is.NoErr(os.Remove(c.Server.TLSKey))
	is.Equal(shown(t, address), int64(2))
	issue(t, dir, 3, soon, "127.0.0.1")
	awaitShown(t, address, 2, 3)

	// Old protocols are refused.
	_, err = tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11})
	is.True(err != nil)
}

func TestACertificateThatCannotBeUsedStopsTheStart(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := config.Default()
	c.DataDir, c.Server.Listen = filepath.Join(t.TempDir(), "data"), "127.0.0.1:0"
	c.Server.TLSCert, c.Server.TLSKey = issue(t, t.TempDir(), 1, time.Now(), "x.test")
	_, c.Server.TLSKey = issue(t, t.TempDir(), 2, time.Now(), "x.test")
	_, err := app.New(app.Options{Config: c, Schema: storagetest.Schema(t), Log: slog.New(slog.DiscardHandler)})
	is.True(strings.Contains(err.Error(), "server.tls_cert: "))
	c.Server.TLSKey = "missing.pem"
	_, err = app.New(app.Options{Config: c, Schema: storagetest.Schema(t), Log: slog.New(slog.DiscardHandler)})
	is.True(strings.Contains(err.Error(), "missing.pem"))
}

// TestHTTPLeadsToHTTPS needs the two real ports, on an address of its own.
func TestHTTPLeadsToHTTPS(t *testing.T) {
	t.Parallel()
	host := fmt.Sprintf("127.%d.%d.%d", 1+mathrand.IntN(250), mathrand.IntN(250), 1+mathrand.IntN(250)) // no one else's
	for _, port := range []string{"80", "443"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EADDRINUSE) {
			t.Skipf("port %s of %s is not to be had here: %v", port, host, err)
		}
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	is := is.New(t)
	c := config.Default()
	c.Server.Listen, c.Server.PublicURL = host+":443", "https://chat.example.com"
	c.Server.TLSCert, c.Server.TLSKey = issue(t, t.TempDir(), 1, time.Now().Add(time.Hour), host)
	_, _ = serveWith(t, app.Options{Config: c})
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequest("GET", "http://"+host+"/docs?x=1", nil)
	is.NoErr(err)
	req.Host = "evil.example.com"
	res, err := client.Do(req)
	is.NoErr(err)
	res.Body.Close()
	is.Equal(res.StatusCode, 301)
	is.Equal(res.Header.Get("Location"), "https://chat.example.com/docs?x=1") // not what the request says
	res, err = client.Post("http://"+host+"/v1/labels", "application/json", strings.NewReader("{}"))
	is.NoErr(err)
	text, _ := io.ReadAll(res.Body)
	res.Body.Close()
	is.Equal(res.StatusCode, 400)
	is.Equal(string(text), "use https\n")
}
