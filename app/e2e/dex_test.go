package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/crypto/bcrypt"

	"confab/app/config"
	"confab/storage"
	"confab/storage/storagetest"
)

const dexSettings = `
issuer: http://%[1]s/dex
storage: {type: memory}
web: {http: %[1]s}
oauth2: {skipApprovalScreen: true}
enablePasswordDB: true
staticClients:
- {id: confab, name: confab, secret: hush, redirectURIs: ["http://%[2]s/console/oidc/callback"]}
staticPasswords:
- {email: ada@example.com, username: ada, userID: "1", hash: %[3]q}
- {email: eve@example.com, username: eve, userID: "2", hash: %[3]q}
`

// Dex is an identity provider that others wrote.
func TestPeopleSignInThroughDex(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dex := tool(t, "dex")
	at, ours := freeAddress(t), freeAddress(t)
	hash, err := bcrypt.GenerateFromPassword([]byte(goodPassword), bcrypt.DefaultCost)
	is.NoErr(err)
	file := filepath.Join(t.TempDir(), "dex.yaml")
	is.NoErr(os.WriteFile(file, fmt.Appendf(nil, dexSettings, at, ours, hash), 0o600))
	cmd := exec.Command(dex, "serve", file)
	cmd.Stderr = t.Output()
	is.NoErr(cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	issuer := "http://" + at + "/dex"
	s := newStage(t, func(c *config.Config) {
		c.Server.Listen, c.Server.PublicURL = ours, "http://"+ours
		c.OIDC.Issuer, c.OIDC.ClientID, c.OIDC.ClientSecret, c.OIDC.Name = issuer, "confab", "hush", "Dex"
	})
	s.joined("ada@example.com", storage.RoleAgent)
	s.becomesTrue(func() bool { return s.browser().open("GET", "/console/oidc/start", nil).status == 302 })

	b := s.browser()
	is.Equal(b.open("GET", signInAtDex(t, b.open("GET", "/console/oidc/start", nil).location.String(), "ada@example.com"), nil).status, 303)
	status, _ := b.me()
	is.Equal(status, 200)
	is.Equal(storagetest.Select[string](t, s.app.Config.DataDir, `SELECT issuer FROM user_identities`), []string{issuer})
	b = s.browser()
	got := b.open("GET", signInAtDex(t, b.open("GET", "/console/oidc/start", nil).location.String(), "eve@example.com"), nil)
	is.Equal(got.status, 403) // whom nobody has invited
	is.True(strings.Contains(got.body, "eve@example.com"))
}

// signInAtDex signs in on Dex's own pages, and returns with what path the browser would come back.
func signInAtDex(t *testing.T, target, email string) string {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.Path, "/console/") {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	send := func(method, target string, form url.Values) (*http.Response, string) {
		r, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		got, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		body, _ := io.ReadAll(got.Body)
		return got, string(body)
	}

	page, body := send("GET", target, nil)
	action := regexp.MustCompile(`<form[^>]*action="([^"]+)"`).FindStringSubmatch(body)
	if action == nil {
		t.Fatalf("%s %s", page.Status, body)
	}
	to, err := page.Request.URL.Parse(strings.ReplaceAll(action[1], "&amp;", "&"))
	if err != nil {
		t.Fatal(err)
	}
	got, body := send("POST", to.String(), url.Values{"login": {email}, "password": {goodPassword}})
	back, err := got.Location()
	if err != nil {
		t.Fatalf("%s %s", got.Status, body)
	}
	return back.RequestURI()
}
