package rest

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestTheClientIsTheLastHopThatIsNotTrusted(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("fe80::/10")}
	tests := []struct {
		name    string
		peer    string
		headers []string
		want    string
	}{
		{"no proxy", "203.0.113.7:1234", nil, "203.0.113.7"},
		{"a stranger's word", "203.0.113.7:1234", []string{"198.51.100.1"}, "203.0.113.7"},
		{"one proxy", "10.0.0.1:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a proxy that says nothing", "10.0.0.1:1234", nil, "10.0.0.1"},
		{"a proxy that says an empty word", "10.0.0.1:1234", []string{""}, "10.0.0.1"},
		{"two proxies", "10.0.0.1:1234", []string{"198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"a forged first hop", "10.0.0.1:1234", []string{"6.6.6.6, 198.51.100.1"}, "198.51.100.1"},
		{"several headers", "10.0.0.1:1234", []string{"6.6.6.6", "198.51.100.1, 10.0.0.9"}, "198.51.100.1"},
		{"all trusted", "10.0.0.1:1234", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"garbage", "10.0.0.1:1234", []string{"198.51.100.1, unknown"}, "10.0.0.1"},
		{"garbage behind a proxy", "10.0.0.1:1234", []string{"unknown, 10.0.0.2"}, "10.0.0.2"},
		{"with a port", "10.0.0.1:1234", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"IPv6", "[fd00::1]:1234", []string{"2001:db8::7"}, "2001:db8::7"},
		{"IPv6 in brackets", "[fd00::1]:1234", []string{"[2001:db8::7]"}, "2001:db8::7"},
		{"IPv6 with a port", "[fd00::1]:1234", []string{"[2001:db8::7]:443"}, "2001:db8::7"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:1234", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"a zone on a trusted peer", "[fe80::1%eth0]:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a zone that is a tale", "10.0.0.1:1234", []string{"2001:db8::7%\x1b[31m"}, "2001:db8::7"},
		{"spaces", "10.0.0.1:1234", []string{" \t198.51.100.1 \t"}, "198.51.100.1"},
		{"no address at all", "@", []string{"198.51.100.1"}, "@"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.headers}}
			is.New(t).Equal(clientIP(r, trusted), tt.want)
		})
	}
}

func TestTheAddressesOfOneSubscriberAreOneNetwork(t *testing.T) {
	is := is.New(t)
	for ip, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "2001:db8::1": "2001:db8::/64", "2001:db8::ffff:1": "2001:db8::/64", "2001:db8:0:1::1": "2001:db8:0:1::/64", "@": "@", "": "",
	} {
		is.Equal(networkOf(ip), want)
	}
}

// FuzzClientIP looks for a header that makes something else of the client than
// an address.
func FuzzClientIP(f *testing.F) {
	trusted := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	for _, seed := range []string{"", "1.2.3.4", "1.2.3.4:5, [::1]:6", "::ffff:1.2.3.4%x", "[fe80::1%25]", ",,,", "[[[", "1.2.3.4, x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		r := &http.Request{RemoteAddr: "192.0.2.1:1", Header: http.Header{"X-Forwarded-For": {header}}}
		got := clientIP(r, trusted)
		addr, err := netip.ParseAddr(got)
		if err != nil || addr.Zone() != "" || addr.Is4In6() {
			t.Errorf("%q is no plain address", got)
		}
		if last := header[strings.LastIndex(header, ",")+1:]; got != "192.0.2.1" && strings.TrimSpace(last) == "" {
			t.Errorf("%q comes from behind an empty hop", got)
		}
		if clientIP(r, nil) != "192.0.2.1" {
			t.Error("without trusted proxies the header counts")
		}
	})
}
