package e2e

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/config"
	"confab/storage/storagetest"
)

func TestNothingStandsAtATokenThatWasNotGiven(t *testing.T) {
	s := newSandbox(t)
	_, link := s.invite("Bakery", redirects)
	root, token := link[:strings.LastIndex(link, "/")+1], link[strings.LastIndex(link, "/")+1:]
	guessed := "csl_" + strings.Repeat("A", 24)
	for _, bad := range []string{
		"", "csl_", "x", guessed, token[:len(token)-1], token + "A", token + "=", token + "%0A", token + "%00", "CSL" + token[3:], strings.ToUpper(token),
		token[4:], "cus_" + token[4:], token + "/x", token + "/progress/", "%2e%2e/" + token, "..%2f" + token, token + ";x", token + "%20",
		strings.Repeat("a", 5000), "%ff%fe", "<script>alert(1)</script>", "assets", "assets/", "assets/../onboard.go", "assets/onboard.css", "progress",
	} {
		t.Run(bad[:min(len(bad), 40)], func(t *testing.T) {
			is := is.New(t)
			target, err := url.Parse(root)
			is.NoErr(err)
			raw := target.Scheme + "://" + target.Host + target.Path + strings.NewReplacer("<", "%3C", ">", "%3E").Replace(bad)
			got := ask(t, "GET", raw, nil)
			is.Equal(got.status, 404)
			is.True(!strings.Contains(got.body, "Bakery"))
			is.True(!strings.Contains(got.body, "<script>alert"))
			is.Equal(ask(t, "POST", raw, cancelling).status, 404)
		})
	}
	is.New(t).Equal(ask(t, "GET", link+"?a=<script>", nil).status, 200)
}

func TestNothingThatOthersWroteRunsInThePage(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newSandbox(t)
	evil := `"><script>alert(1)</script><img src=x onerror=alert(2)>{{.}}'` + "`</title></textarea>"
	storagetest.Exec(t, s.app.Config.DataDir, `UPDATE organizations SET name = ?`, evil)
	s.app.DB.DropCaches()
	_, link := s.invite(evil, `{}`)
	for _, got := range []seen{
		ask(t, "GET", link, nil), ask(t, "POST", link, connecting(evil, "no number "+evil)), ask(t, "POST", link, cancelling),
		ask(t, "GET", link+"/progress?account="+url.QueryEscape(evil), nil), ask(t, "POST", link, connecting(strings.Repeat(evil, 10), "")),
		ask(t, "POST", link, connecting(evil, "")),
	} {
		for _, bad := range []string{"<script>", "<img", "</textarea>", "onerror=alert(2)>"} {
			is.True(!strings.Contains(got.body, bad))
		}
		is.True(strings.Contains(got.body, "&lt;script&gt;"))
		is.True(strings.HasPrefix(got.header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self';"))
	}
}

func TestThePagesAreShutToOtherSites(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newSandbox(t)
	_, link := s.invite("Bakery", `{}`)
	for name, header := range map[string][]string{
		"another origin":   {"Origin: https://evil.test"},
		"another site":     {"Sec-Fetch-Site: cross-site"},
		"a sister":         {"Sec-Fetch-Site: same-site"},
		"a rebound name":   {"Host: evil.test"},
		"one that is near": {"Host: 127.0.0.1.evil.test:80"},
	} {
		got := ask(t, "POST", link, cancelling, header...)
		if got.status != 403 {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	is.Equal(ask(t, "GET", link, nil, "Host: evil.test").status, 403)
	is.Equal(ask(t, "GET", link, nil, "Origin: https://evil.test").status, 200) // a link may be followed from anywhere
	for _, host := range []string{"localhost:1", "127.0.0.1", "[::1]:80"} {
		is.Equal(ask(t, "GET", link, nil, "Host: "+host).status, 200)
	}
	got := ask(t, "DELETE", link, nil)
	is.Equal(got.status, 405)
	is.Equal(got.header.Get("Allow"), "GET, HEAD, POST")
	for _, answer := range []seen{ask(t, "GET", link, nil), ask(t, "GET", link+"x", nil), got, ask(t, "POST", link, cancelling)} {
		h := answer.header
		is.Equal(h.Get("Referrer-Policy"), "no-referrer")
		is.Equal(h.Get("X-Frame-Options"), "DENY")
		is.Equal(h.Get("X-Content-Type-Options"), "nosniff")
		is.Equal(h.Get("Cache-Control"), "no-store")
		is.Equal(h.Get("Content-Type"), "text/html; charset=utf-8")
		is.True(strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'"))
		is.True(!strings.Contains(h.Get("Content-Security-Policy"), "unsafe"))
	}
}

func TestAPublicNameIsKnown(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newSandbox(t, func(c *config.Config) { c.Server.PublicURL = "https://chat.test" })
	base := "http://" + s.app.Config.Server.Listen
	customer := s.call("POST", base+"/v1/customers", `{"name":"Bakery"}`)["id"].(string)
	link := s.call("POST", base+"/v1/customers/"+customer+"/setup_links", `{}`)["setup_url"].(string)
	is.True(strings.HasPrefix(link, "https://chat.test/onboard/csl_"))
	local := base + strings.TrimPrefix(link, "https://chat.test")
	is.Equal(ask(t, "GET", local, nil, "Host: chat.test").status, 200)
	is.Equal(ask(t, "POST", local, cancelling, "Host: chat.test", "Origin: https://chat.test").status, 200)
	is.Equal(ask(t, "GET", local, nil, "Host: other.test").status, 403)
}

func TestWhoTriesTokensIsSlowedDown(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newSandbox(t)
	_, link := s.invite("Bakery", `{}`)
	guess := func() (last seen) {
		for last.status != 429 {
			last = ask(t, "GET", link+"x", nil)
			if last.status != 404 && last.status != 429 {
				t.Fatalf("a wrong token was answered %d %s", last.status, last.body)
			}
		}
		return last
	}
	is.Equal(guess().header.Get("Retry-After"), "1")
	for ask(t, "GET", link, nil).status != 429 { // for any other request too, unless they were so slow that some time passed
		guess()
	}
	time.Sleep(time.Second) // after which the bucket has some again, by the clock
	is.Equal(ask(t, "GET", link, nil).status, 200)
}
