package guard

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"go.uber.org/goleak"

	"confab/jobs/guard/guardtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// open makes a client that may reach this machine, and closes it at the end.
func open(t *testing.T, o Options) *Client {
	t.Helper()
	c := New(o)
	t.Cleanup(c.Close)
	return c
}

// serve starts a server and returns its URL under another name or address.
func serve(t *testing.T, h http.HandlerFunc) (url, port string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return server.URL, port
}

func hello(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }

func TestEveryClassOfAddressThatIsNotPublicIsBlocked(t *testing.T) {
	blocked := map[string]string{
		"loopback":                     "127.0.0.1",
		"loopback elsewhere":           "127.8.9.10",
		"IPv6 loopback":                "::1",
		"private 10":                   "10.1.2.3",
		"private 172":                  "172.16.0.1",
		"private 192":                  "192.168.1.1",
		"shared":                       "100.64.0.1",
		"unique local":                 "fd00::1",
		"link-local":                   "169.254.1.1",
		"IPv6 link-local":              "fe80::1",
		"IPv6 link-local with zone":    "fe80::1%lo",
		"metadata":                     "169.254.169.254",
		"IPv6 metadata":                "fd00:ec2::254",
		"unspecified":                  "0.0.0.0",
		"this network":                 "0.1.2.3",
		"IPv6 unspecified":             "::",
		"multicast":                    "224.0.0.1",
		"IPv6 multicast":               "ff02::1",
		"broadcast":                    "255.255.255.255",
		"reserved":                     "240.0.0.1",
		"documentation":                "203.0.113.7",
		"benchmarking":                 "198.18.0.1",
		"IPv4-mapped loopback":         "::ffff:127.0.0.1",
		"IPv4-mapped metadata":         "::ffff:169.254.169.254",
		"IPv4-compatible loopback":     "::127.0.0.1",
		"NAT64 loopback":               "64:ff9b::7f00:1",
		"NAT64 metadata":               "64:ff9b::a9fe:a9fe",
		"NAT64 local use":              "64:ff9b:1::7f00:1",
		"6to4 of a private address":    "2002:a00:1::",
		"Teredo":                       "2001:0:1::1",
		"IPv6 documentation":           "2001:db8::1",
		"deprecated IPv6 site-local":   "fec0::1",
		"IPv4 in IPv6, translated":     "::ffff:0:127.0.0.1",
		"discard-only":                 "100::1",
		"IPv6 documentation, new":      "3fff::1",
		"IPv4-mapped private, in full": "0:0:0:0:0:ffff:10.0.0.1",
	}
	p := newPolicy(Options{AllowInsecure: true})
	for name, addr := range blocked {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			err := p.checkAddr(netip.MustParseAddr(addr))
			is.Equal(Reason(err), AddressBlocked)
			is.True(!strings.Contains(err.Error(), addr)) // the text does not show our network
			is.Equal(Reason(p.checkDial("tcp", netip.AddrPortFrom(netip.MustParseAddr(addr), 80).String(), nil)), AddressBlocked)
		})
	}
}

func TestPublicAddressesPass(t *testing.T) {
	p := newPolicy(Options{})
	for _, addr := range []string{"1.1.1.1", "93.184.216.34", "172.15.0.1", "172.32.0.1", "::ffff:1.1.1.1", "2606:4700::1111"} {
		t.Run(addr, func(t *testing.T) {
			is := is.New(t)
			is.NoErr(p.checkAddr(netip.MustParseAddr(addr)))
			is.NoErr(p.checkDial("tcp", netip.AddrPortFrom(netip.MustParseAddr(addr), 443).String(), nil))
		})
	}
}

func TestAllowedPrefixesPassInEitherClothes(t *testing.T) {
	for _, test := range []struct {
		prefix, addr string
		ok           bool
	}{
		{"10.0.0.0/8", "10.1.2.3", true},
		{"10.0.0.0/8", "::ffff:10.1.2.3", true},
		{"::ffff:10.0.0.0/104", "10.1.2.3", true},
		{"10.0.0.0/8", "192.168.0.1", false},
		{"10.0.0.0/8", "169.254.169.254", false},
		{"::1/128", "::1", true},
		{"::1/128", "127.0.0.1", false},
		{"fe80::/10", "fe80::1%eth0", true},
		{"64:ff9b::/96", "64:ff9b::101:101", true},
	} {
		t.Run(test.prefix+" "+test.addr, func(t *testing.T) {
			is := is.New(t)
			p := newPolicy(Options{Allow: []netip.Prefix{netip.MustParsePrefix(test.prefix)}, AllowInsecure: true})
			is.Equal(p.checkAddr(netip.MustParseAddr(test.addr)) == nil, test.ok)
		})
	}
}

func TestARequestToThisMachineIsBlockedUnlessAllowed(t *testing.T) {
	is := is.New(t)
	url, port := serve(t, hello)

	_, err := open(t, Options{AllowInsecure: true}).Get(t.Context(), url)
	is.Equal(Reason(err), AddressBlocked)
	_, err = open(t, Options{AllowInsecure: true}).Get(t.Context(), "http://[::ffff:127.0.0.1]:"+port)
	is.Equal(Reason(err), AddressBlocked)
	_, err = open(t, Options{AllowInsecure: true}).Get(t.Context(), "http://localhost:"+port)
	is.Equal(Reason(err), AddressBlocked) // a name, found out only by its address
	is.True(!strings.Contains(err.Error(), "127.0.0.1"))

	res, err := open(t, Options{AllowInsecure: true, Allow: loopback}).Get(t.Context(), url)
	is.NoErr(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	is.NoErr(err)
	is.Equal(string(body), "hello")
}

func TestANameThatTurnsInwardAfterTheCheckIsBlockedAtConnectTime(t *testing.T) {
	is := is.New(t)
	_, port := serve(t, hello)
	dns := &guardtest.NameServer{Answers: map[string][]string{
		"rebind.example":   {"93.184.216.34", "127.0.0.1"},
		"rebind.example/6": {"2606:4700::1111", "::1"},
	}}
	c := open(t, Options{AllowInsecure: true, Resolver: dns.Resolver(t)})

	url := "http://rebind.example:" + port
	is.NoErr(c.CheckURL(t.Context(), url)) // still public
	_, err := c.Get(t.Context(), url)
	is.Equal(Reason(err), AddressBlocked) // no longer
	blocked, ok := errors.AsType[*BlockedError](err)
	is.True(ok)
	is.True(blocked.Addr.IsLoopback()) // the log may say
}

func TestANameIsReachedThroughTheInjectedResolver(t *testing.T) {
	is := is.New(t)
	_, port := serve(t, hello)
	dns := &guardtest.NameServer{Answers: map[string][]string{"hooks.example": {"127.0.0.1"}}}
	c := open(t, Options{AllowInsecure: true, Allow: loopback, Resolver: dns.Resolver(t)})

	res, err := c.Get(t.Context(), "http://hooks.example:"+port)
	is.NoErr(err)
	is.NoErr(res.Body.Close())
	_, err = c.Get(t.Context(), "http://nowhere.example:"+port)
	is.Equal(Reason(err), DNSFailure)
}

func TestAProxyFromTheEnvironmentIsIgnored(t *testing.T) {
	is := is.New(t)
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:9")
	t.Setenv("HTTPS_PROXY", "http://192.0.2.1:9")
	_, port := serve(t, hello)
	dns := &guardtest.NameServer{Answers: map[string][]string{"hooks.example": {"127.0.0.1"}}} // localhost would bypass a proxy anyway

	res, err := open(t, Options{AllowInsecure: true, Allow: loopback, Resolver: dns.Resolver(t)}).Get(t.Context(), "http://hooks.example:"+port)
	is.NoErr(err)
	is.NoErr(res.Body.Close())
}

func TestHTTPSReachesOnlyTrustedServers(t *testing.T) {
	is := is.New(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(hello))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	t.Cleanup(server.Close)

	_, err := open(t, Options{Allow: loopback}).Get(t.Context(), server.URL)
	is.Equal(Reason(err), TLSFailure) // no authority vouches for it

	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	res, err := open(t, Options{Allow: loopback, RootCAs: roots}).Get(t.Context(), server.URL)
	is.NoErr(err)
	is.NoErr(res.Body.Close())
	is.Equal(res.ProtoMajor, 2)

	dns := &guardtest.NameServer{Answers: map[string][]string{"other.test": {"127.0.0.1"}}}
	c := open(t, Options{Allow: loopback, RootCAs: roots, Resolver: dns.Resolver(t)})
	_, err = c.Get(t.Context(), strings.Replace(server.URL, "127.0.0.1", "other.test", 1))
	is.Equal(Reason(err), TLSFailure) // vouched for under another name
}

func TestEachStageThatFailsHasItsReason(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	silent, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	plain, _ := serve(t, hello)
	broken, _ := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	closed := listener(t, func(c net.Conn) { c.Close() })
	mute := listener(t, func(c net.Conn) { t.Cleanup(func() { c.Close() }) })

	for _, test := range []struct{ name, url, reason string }{
		{"nobody listens", "http://" + free(t), ConnectionRefused},
		{"hangs up at once", "http://" + closed, ConnectionFailed},
		{"hangs up in the middle", broken, ConnectionFailed},
		{"no TLS there", strings.Replace(plain, "http:", "https:", 1), TLSFailure},
		{"TLS hangs up", "https://" + closed, TLSFailure},
		{"TLS never answers", "https://" + mute, Timeout},
		{"never answers", "http://" + mute, Timeout},
		{"answer never ends", silent, Timeout},
		{"no such scheme", "ftp://127.0.0.1/", AddressBlocked},
		{"not a URL", "http://[::1", AddressBlocked},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			o := Options{AllowInsecure: true, Allow: loopback, Timeout: time.Minute, ConnectTimeout: time.Minute}
			if test.reason == Timeout { // others may take as long as a busy machine needs
				o.Timeout, o.ConnectTimeout = 200*time.Millisecond, 150*time.Millisecond
			}
			c := open(t, o)
			res, err := c.Get(t.Context(), test.url)
			if err == nil {
				_, err = io.ReadAll(res.Body)
				res.Body.Close()
			}
			is.Equal(Reason(err), test.reason)
		})
	}
}

func TestASilentNameServerIsADNSFailure(t *testing.T) {
	is := is.New(t)
	dns := &guardtest.NameServer{Silent: true}
	c := open(t, Options{Resolver: dns.Resolver(t), ConnectTimeout: 50 * time.Millisecond})
	_, err := c.Get(t.Context(), "https://slow.example")
	is.Equal(Reason(err), DNSFailure)
}

func TestACancelledRequestIsNoTimeout(t *testing.T) {
	is := is.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := open(t, Options{}).Get(ctx, "https://example.com")
	is.Equal(Reason(err), ConnectionFailed)
	is.Equal(Reason(nil), "")
	is.Equal(Reason(fmt.Errorf("fetch: %w", context.DeadlineExceeded)), Timeout)
}
