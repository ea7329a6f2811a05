package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/config"
)

func TestPagesAreShownUnderTheirOwnNamesOnly(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newSandbox(t, func(c *config.Config) { c.Server.PublicURL = "https://chat.test" })
	base := "http://" + s.app.Config.Server.Listen
	for path, status := range map[string]int{"/docs": 200, "/docs/page.css": 200, "/docs/nothing": 404, "/console/": 302, "/console": 302, "/onboard/csl_none": 404, "/onboard/assets/none": 404} {
		referrer := "no-referrer"
		if strings.HasPrefix(path, "/console") {
			referrer = "same-origin" // its forms have to say where they come from
		}
		for _, host := range []string{"chat.test", "CHAT.TEST:443", "localhost:8080", "127.0.0.1", "[::1]:80"} {
			got := ask(t, "GET", base+path, nil, "Host: "+host)
			is.Equal(got.status, status) // under a name of its own
			is.Equal(got.header.Get("Referrer-Policy"), referrer)
		}
		for _, host := range []string{"evil.test", "chat.test.evil.test", "127.0.0.1.evil.test", "10.0.0.1:80"} {
			got := ask(t, "GET", base+path, nil, "Host: "+host)
			is.Equal(got.status, 403) // under another's
			is.Equal(got.header.Get("Referrer-Policy"), referrer)
		}
	}
	is.Equal(ask(t, "POST", base+"/docs", nil, "Origin: https://evil.test").status, 405)     // there is nothing to change
	is.Equal(ask(t, "POST", base+"/console/", nil, "Origin: https://evil.test").status, 403) // wherever it goes
	is.Equal(ask(t, "GET", base+"/v1/health", nil, "Host: elsewhere.test").status, 200)      // the API is no page
}

func TestTheLogShowsNeitherSetupTokensNorMediaNames(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPlatform(t)
	for _, path := range []string{"/onboard/csl_secret", "/onboard/csl_secret/progress?account=secret", "/media/secret/secret.png", "/docs/secret", "/console/secret", "/secret"} {
		ask(t, "GET", p.app.URL()+path, nil)
	}
	for _, route := range []string{"path=/onboard/:token", "path=/media/:token", "path=/docs", "path=/console/", `path=""`} {
		if !until(func() bool { return strings.Contains(p.log.read(), route) }) { // it may be written after the answer
			t.Fatalf("no line with %s", route)
		}
	}
	is.True(!strings.Contains(p.log.read(), "secret"))
}

func TestTheDocumentationSaysWhereTheKeyGoes(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	guide, err := os.ReadFile("../pages/guides/backups.md")
	is.NoErr(err)
	text := strings.Join(strings.Fields(string(guide)), " ")
	for _, sentence := range []string{
		"A backup holds the database, the media and `master.key`", "leave it out with `--without-key`", "Without the key, you can't use the backup",
	} {
		is.True(strings.Contains(text, sentence)) // is in the guide
	}
	help := run(t, "backup", "--help")
	is.True(strings.Contains(help, "The archive contains master.key") && strings.Contains(help, "--without-key"))
}
