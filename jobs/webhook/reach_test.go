package webhook

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/jobs/guard"
	"confab/jobs/guard/guardtest"
)

// Every class of address that must not be reached, as a URL would spell it and
// as a name could lead there.
var inward = map[string]string{
	"loopback":                "127.0.0.1",
	"loopback elsewhere":      "127.9.9.9",
	"IPv6 loopback":           "::1",
	"private 10":              "10.1.2.3",
	"private 172":             "172.16.0.1",
	"private 192":             "192.168.1.1",
	"carrier-grade shared":    "100.64.0.1",
	"IPv6 unique local":       "fd00::1",
	"link-local":              "169.254.1.1",
	"IPv6 link-local":         "fe80::1",
	"metadata":                "169.254.169.254",
	"IPv6 metadata":           "fd00:ec2::254",
	"unspecified":             "0.0.0.0",
	"IPv6 unspecified":        "::",
	"multicast":               "224.0.0.1",
	"IPv6 multicast":          "ff02::1",
	"broadcast":               "255.255.255.255",
	"IPv4-mapped loopback":    "::ffff:127.0.0.1",
	"IPv4-mapped private":     "::ffff:10.0.0.1",
	"IPv4-mapped metadata":    "::ffff:169.254.169.254",
	"NAT64 of loopback":       "64:ff9b::7f00:1",
	"NAT64 of metadata":       "64:ff9b::a9fe:a9fe",
	"NAT64 local use":         "64:ff9b:1::7f00:1",
	"6to4 of a private":       "2002:a00:1::",
	"IPv4-compatible":         "::127.0.0.1",
	"IPv6 site-local, as was": "fec0::1",
}

func TestNoAttemptReachesAnAddressThatIsNotPublic(t *testing.T) {
	client := open(t, guard.Options{AllowInsecure: true})
	for name, address := range inward {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			out := client.Deliver(t.Context(), sample(t, "http://"+net.JoinHostPort(address, "80")+"/hook"))
			is.Equal(out.Code, guard.AddressBlocked)
			is.Equal(out.Message, "the endpoint's address is not public") // and not which one
			is.Equal(out.Status, 0)
		})
	}
}

// The name is public when the subscription is made and when it is checked; only
// the address that the connection would go to decides.
func TestANameThatTurnsInwardIsStoppedWhenTheConnectionIsMade(t *testing.T) {
	for name, address := range inward {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			key, public := "rebind.example", "93.184.216.34"
			if strings.Contains(address, ":") {
				key, public = "rebind.example/6", "2606:4700::1111"
			}
			dns := &guardtest.NameServer{Answers: map[string][]string{"rebind.example": {}, key: {public, address}}}
			network := guard.New(guard.Options{AllowInsecure: true, Resolver: dns.Resolver(t)})
			t.Cleanup(network.Close)
			is.NoErr(network.CheckURL(t.Context(), "http://rebind.example/hook")) // as at creation
			client := &Client{Transport: network.Transport()}
			is.Equal(client.Deliver(t.Context(), sample(t, "http://rebind.example/hook")).Code, guard.AddressBlocked)
		})
	}
}

func TestAllowedPrefixesAreReachedAndNothingBesideThem(t *testing.T) {
	is := is.New(t)
	handler, had := recorder(t)
	to := serve(t, handler)
	only := open(t, guard.Options{AllowInsecure: true, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	is.True(only.Deliver(t.Context(), sample(t, to)).Succeeded())
	is.Equal(len(had), 1)
	beside := strings.Replace(to, "127.0.0.1", "127.0.0.2", 1)
	is.Equal(only.Deliver(t.Context(), sample(t, beside)).Code, guard.AddressBlocked)
	is.Equal(len(had), 1)
}

func TestPlainHTTPNeedsToBeAllowed(t *testing.T) {
	is := is.New(t)
	handler, had := recorder(t)
	out := open(t, guard.Options{Allow: loopback}).Deliver(t.Context(), sample(t, serve(t, handler)))
	is.Equal(out.Code, guard.AddressBlocked)
	is.Equal(len(had), 0)
}

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	is := is.New(t)
	handler, proxied := recorder(t)
	proxy := serve(t, handler)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy)
	}
	dns := &guardtest.NameServer{Answers: map[string][]string{"hooks.example": {"127.0.0.1"}}} // localhost would bypass a proxy anyway
	out := open(t, guard.Options{AllowInsecure: true, Allow: loopback, Resolver: dns.Resolver(t)}).
		Deliver(t.Context(), sample(t, "http://hooks.example:"+port(closedAddress(t))))
	is.Equal(out.Code, guard.ConnectionRefused)
	is.Equal(len(proxied), 0)
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

func TestWhatWentWrongIsNamed(t *testing.T) {
	hanging := serve(t, hang)
	hangingUp := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.Close()
	})
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	dns := &guardtest.NameServer{Answers: map[string][]string{}}
	for _, test := range []struct {
		name, to, code, message string
	}{
		{"hangs", hanging, guard.Timeout, "the endpoint did not answer within 100ms"},
		{"hangs up", hangingUp, guard.ConnectionFailed, "the connection to the endpoint broke"},
		{"is not there", "http://" + closedAddress(t), guard.ConnectionRefused, "the endpoint refused the connection"},
		{"has no name", "http://nowhere.example", guard.DNSFailure, "the endpoint's name could not be resolved"},
		{"has a stranger's certificate", secure.URL, guard.TLSFailure, "no secure connection: tls: failed to verify certificate: x509: certificate signed by unknown authority"},
		{"speaks no TLS", strings.Replace(hanging, "http:", "https:", 1), guard.TLSFailure, "no secure connection: tls: first record does not look like a TLS handshake"},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			client := open(t, guard.Options{AllowInsecure: true, Allow: loopback, Resolver: dns.Resolver(t)})
			if test.code == guard.Timeout {
				client.Timeout = 100 * time.Millisecond
			}
			out := client.Deliver(t.Context(), sample(t, test.to))
			for tries := 1; out.Code == guard.Timeout && test.code != guard.Timeout && tries < 5; tries++ { // a busy machine may not shake hands in time
				out = client.Deliver(t.Context(), sample(t, test.to))
			}
			is.Equal(out.Code, test.code)
			is.Equal(out.Message, test.message)
			is.Equal(out.Status, 0)
			is.True(!strings.Contains(out.Message, "127.0.0.1"))
		})
	}
}

func TestAURLThatTheGuardRefusesIsNotCalled(t *testing.T) {
	is := is.New(t)
	d := sample(t, "https://example.com")
	d.URL = &url.URL{Scheme: "ftp", Host: "example.com"}
	is.Equal(here(t).Deliver(t.Context(), d).Code, guard.AddressBlocked)
}
