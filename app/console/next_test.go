package console

import (
	"net/url"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// FuzzNext holds that any target leads to a page below the console.
func FuzzNext(f *testing.F) {
	for _, wanted := range []string{"contacts", "/console/inbox/cnv_1?x=1", "//evil.test", "https://evil.test", "\\\\evil.test", "..", "a/../../b", "a?b\r\nc", "%2f%2fevil", "a#b"} {
		f.Add(wanted)
	}
	base, _ := url.Parse("https://confab.test/below/console/sign-in")
	f.Fuzz(func(t *testing.T, wanted string) {
		got := nextPage(wanted)
		if strings.ContainsAny(got, "\r\n\\ \x00") {
			t.Fatalf("%q", got)
		}
		u, err := url.Parse(got)
		if err != nil {
			t.Fatal(err)
		}
		at := base.ResolveReference(u)
		if at.Host != base.Host || at.Scheme != base.Scheme || !strings.HasPrefix(at.EscapedPath(), "/below/console/") || strings.Contains(at.EscapedPath(), "//") {
			t.Fatalf("%q leads to %s", wanted, at)
		}
		if nextPage(got) != got {
			t.Fatalf("%q becomes %q and then %q", wanted, got, nextPage(got))
		}
	})
}

// FuzzDevice holds that no text but our own is a known device.
func FuzzDevice(f *testing.F) {
	c := &Console{deviceKey: []byte("key")}
	const user = "01JQ0Z8M4T9V2X3W5Y6A7B8C9D"
	own := c.deviceEntry(user, "random")
	f.Add(own)
	f.Add(own + "~" + own)
	f.Add(user + ".random.x")
	f.Fuzz(func(t *testing.T, value string) {
		known := c.knownDevice(value, user) != ""
		if known && !strings.Contains(value, own) { // no one can forge another
			t.Fatalf("%q is known", value)
		}
		again := c.addDevice(value, user)
		if c.knownDevice(again, user) == "" || strings.Count(again, "~") >= maxDevices || strings.ContainsAny(again, "\r\n; ,\"") {
			t.Fatalf("%q became %q", value, again)
		}
	})
}

func TestADeviceKnowsItsAccounts(t *testing.T) {
	is := is.New(t)
	c, other := &Console{deviceKey: []byte("key")}, &Console{deviceKey: []byte("another")}
	value := ""
	for _, user := range []string{"a", "b", "a", "c", "d", "e", "f"} {
		value = c.addDevice(value, user)
	}
	for user, known := range map[string]bool{"f": true, "e": true, "d": true, "c": true, "a": true, "b": false} {
		is.Equal(c.knownDevice(value, user) != "", known) // the last five
	}
	is.Equal(other.knownDevice(value, "f"), "")
	is.Equal(c.knownDevice(strings.Replace(value, "f.", "z.", 1), "z"), "")
}
