package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/crypto/acme"

	"confab/app"
	"confab/app/config"
)

const acmeDomain = "chat.example.test"

// domainOptions are the settings of a server that fetches its certificate.
func domainOptions(t *testing.T, address string, client *acme.Client) app.Options {
	c := config.Default()
	c.DataDir, c.Server.Listen, c.Server.TLSDomains = filepath.Join(t.TempDir(), "data"), address, []string{acmeDomain}
	return app.Options{Config: c, ACME: client}
}

// visit asks a server for its state under a name, and verifies its certificate.
func visit(address, name string, roots *x509.CertPool) error {
	transport := &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: roots, ServerName: name},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		},
	}
	res, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Get("https://" + name + "/livez")
	if err != nil {
		return err
	}
	return res.Body.Close()
}

func TestACertificateIsFetchedForTheDomains(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	address := freeAddress(t)
	ca := newAuthority(t, func() string { return address })
	roots := x509.NewCertPool()
	roots.AddCert(ca.root)
	o := domainOptions(t, address, &acme.Client{DirectoryURL: ca.url + "/directory"})
	t.Run("first", func(t *testing.T) {
		is := is.New(t)
		serveWith(t, o)
		is.NoErr(visit(address, acmeDomain, roots))
		is.NoErr(visit(address, acmeDomain, roots))
		is.True(visit(address, "evil.example.test", roots) != nil) // only the names in the settings
	})
	is.Equal(ca.orders.Load(), int64(1))
	t.Run("again", func(t *testing.T) {
		is := is.New(t)
		serveWith(t, o)
		is.NoErr(visit(address, acmeDomain, roots)) // it was kept
	})
	is.Equal(ca.orders.Load(), int64(1))
	kept, err := os.Stat(filepath.Join(o.Config.DataDir, "certificates"))
	is.NoErr(err)
	is.Equal(kept.Mode().Perm(), os.FileMode(0o700))
}

// TestPebbleIssuesACertificate has the certificate issued by Pebble, the test
// server of those who run Let's Encrypt.
func TestPebbleIssuesACertificate(t *testing.T) {
	program := tool(t, "pebble")
	is := is.New(t)
	address, api, management := freeAddress(t), freeAddress(t), freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	dir := t.TempDir()
	cert, key := issue(t, dir, 1, time.Now().Add(time.Hour), "127.0.0.1")
	settings, err := json.Marshal(map[string]any{"pebble": map[string]any{"listenAddress": api, "managementListenAddress": management,
		"certificate": cert, "privateKey": key, "httpPort": 1, "tlsPort": json.Number(port), "keyAlgorithm": "ecdsa",
		"profiles": map[string]any{"default": map[string]any{"description": "test", "validityPeriod": 7776000}}}})
	is.NoErr(err)
	file := filepath.Join(dir, "pebble.json")
	is.NoErr(os.WriteFile(file, settings, 0o600))
	cmd := exec.Command(program, "-config", file, "-strict", "-dnsserver", namesHere(t))
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	is.NoErr(cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // its own certificate is the test's
	var text []byte
	is.True(until(func() bool {
		res, err := insecure.Get("https://" + management + "/roots/0")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		text, err = io.ReadAll(res.Body)
		is.NoErr(err)
		return true
	}))
	block, _ := pem.Decode(text)
	is.True(block != nil)
	root, err := x509.ParseCertificate(block.Bytes)
	is.NoErr(err)
	roots := x509.NewCertPool()
	roots.AddCert(root)
	serveWith(t, domainOptions(t, address, &acme.Client{DirectoryURL: "https://" + api + "/dir", HTTPClient: insecure}))
	is.NoErr(visit(address, acmeDomain, roots))
}

// tool finds a program that not every machine has.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not here: 'make outside' fetches it and runs this test", name)
	}
	return path
}

// namesHere serves DNS over TCP: every name is this machine.
func namesHere(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answerNames(conn)
		}
	}()
	return l.Addr().String()
}

// answerNames answers the questions of one connection, each after its length.
func answerNames(conn net.Conn) {
	defer conn.Close()
	for {
		var size uint16
		if binary.Read(conn, binary.BigEndian, &size) != nil {
			return
		}
		query := make([]byte, size)
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		answer := answerTo(query)
		conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
	}
}

// answerTo answers a question for an address of IPv4 with 127.0.0.1, and any
// other with nothing.
func answerTo(query []byte) []byte {
	const header = 12
	end := header
	for end < len(query) && query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5 // the last label, type and class
	if end > len(query) {
		return nil
	}
	answer := append([]byte(nil), query[:end]...)
	copy(answer[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}) // an answer to one question, with nothing yet
	if strings.HasSuffix(string(answer), "\x00\x01\x00\x01") {
		answer[7] = 1
		answer = append(answer, 0xc0, header, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1)
	}
	return answer
}
