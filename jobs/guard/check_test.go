package guard

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/guard/guardtest"
)

func TestURLsAreJudgedBeforeAnythingIsSent(t *testing.T) {
	dns := &guardtest.NameServer{Answers: map[string][]string{
		"public.example":   {"93.184.216.34"},
		"public.example/6": {"2606:4700::1111"},
		"inside.example":   {"10.0.0.1"},
		"mixed.example":    {"93.184.216.34 10.0.0.1"},
		"v6only.example":   {""},
		"v6only.example/6": {"fd00::1"},
		"lan.example":      {"192.168.7.7"},
	}}
	allow := []netip.Prefix{netip.MustParsePrefix("192.168.7.0/24")}
	c := open(t, Options{Resolver: dns.Resolver(t), Allow: allow})

	blocked := &BlockedError{}
	for _, test := range []struct {
		url string
		err error
	}{
		{"https://public.example/hook?x=1", nil},
		{"https://public.example:8443/", nil},
		{"https://1.1.1.1/", nil},
		{"https://[2606:4700::1111]:443/", nil},
		{"https://not-there-yet.example/", nil}, // no answer is no objection
		{"https://lan.example/", nil},           // allowed
		{"https://inside.example/", blocked},
		{"https://mixed.example/", blocked},
		{"https://v6only.example/", blocked},
		{"https://127.0.0.1/", blocked},
		{"https://[::1]/", blocked},
		{"https://[::ffff:169.254.169.254]/", blocked},
		{"https://[64:ff9b::7f00:1]/", blocked},
		{"https://[fe80::1%25lo]/", blocked},
		{"https://localhost/", blocked},
		{"https://LOCALHOST./", blocked},
		{"https://any.localhost/", blocked},
		{"https://public.example./", nil},
		{"https://3com.example/", nil},
		{"https://0xab.example/", nil},
		{"https://example.0xyz/", nil},
		{"https://2130706433/", ErrURL},
		{"https://127.1/", ErrURL},
		{"https://0177.0.0.1/", ErrURL},
		{"https://0x7f000001/", ErrURL},
		{"https://127.0.0.0X1/", ErrURL},
		{"https://./", ErrURL},
		{"https://public..example/", ErrURL},
		{"https://" + strings.Repeat("a", 64) + ".example/", ErrURL},
		{"https://" + strings.Repeat("a.", 124) + "example/", ErrURL},
		{"http://public.example/", ErrURL},
		{"ftp://public.example/", ErrURL},
		{"//public.example/", ErrURL},
		{"public.example", ErrURL},
		{"https:public.example", ErrURL},
		{"https:///hook", ErrURL},
		{"https://:443/", ErrURL},
		{"https://</", ErrURL},
		{"https://a;b/", ErrURL},
		{"https://%31.example/", ErrURL},
		{"https://user@public.example/", ErrURL},
		{"https://user:secret@public.example/", ErrURL},
		{"https://user:secret@public.example:port/", ErrURL},
		{"https://public.example:0/", ErrURL},
		{"https://public.example:70000/", ErrURL},
		{"https://public.example/\x7f", ErrURL},
		{"", ErrURL},
	} {
		t.Run(test.url, func(t *testing.T) {
			is := is.New(t)
			err := c.CheckURL(t.Context(), test.url)
			if test.err == nil {
				is.NoErr(err)
				return
			}
			is.Equal(Reason(err), AddressBlocked)
			is.Equal(errors.Is(err, ErrURL), test.err == ErrURL)
			is.True(!strings.Contains(err.Error(), "secret"))
		})
	}
}

func TestAnInsecureURLIsAcceptedWhereTheOptionSaysSo(t *testing.T) {
	is := is.New(t)
	c := open(t, Options{AllowInsecure: true, Allow: loopback})
	is.NoErr(c.CheckURL(t.Context(), "http://127.0.0.1:8080/hook"))
	u, err := c.ParseURL("http://localhost:8080/hook")
	is.NoErr(err)
	is.Equal(u.Port(), "8080")
	only4 := open(t, Options{AllowInsecure: true, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	_, err = only4.ParseURL("http://localhost:8080/hook")
	is.NoErr(err)
}

func TestALookupThatTakesTooLongIsNoObjection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		dns := &guardtest.NameServer{Silent: true}
		c := open(t, Options{Resolver: dns.Resolver(t)})
		start := time.Now()
		is.NoErr(c.CheckURL(t.Context(), "https://slow.example/"))
		is.Equal(time.Since(start), lookupTimeout)
	})
}

func TestPlainHTTPMayBeForThisMachineOnly(t *testing.T) {
	is := is.New(t)
	local := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c := open(t, Options{Allow: local, AllowLocal: true})
	is.NoErr(c.CheckURL(t.Context(), "http://127.0.0.1:9/hook"))
	is.NoErr(c.CheckURL(t.Context(), "https://1.1.1.1/hook"))
	is.True(errors.Is(c.CheckURL(t.Context(), "http://1.1.1.1/hook"), ErrURL))
}
