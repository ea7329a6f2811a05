package e2e

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app"
	"confab/app/config"
	"confab/app/limit"
	"confab/app/password"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

const goodPassword = "correct horse battery"

// invitePerson invites somebody, and returns the user and the path of the link.
func (s *stage) invitePerson(email, role string) (storage.User, string) {
	s.t.Helper()
	var u storage.User
	var token string
	storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) (err error) {
		u, token, err = tx.InviteUser(storage.Invitee{OrganizationID: s.tenant.Organization.ID, DefaultTeamID: s.tenant.Team.ID, Name: "Ada", Email: email, Role: role})
		return err
	})
	return u, "/console/welcome/" + token
}

// browser keeps cookies as a browser does, and says where its requests come from.
type browser struct {
	s       *stage
	base    string
	cookies map[string]string
}

func (s *stage) browser() *browser {
	return &browser{s: s, base: "http://" + s.app.Config.Server.Listen, cookies: make(map[string]string)}
}

// open sends a request; without a header it comes from the page itself.
func (b *browser) open(method, path string, form url.Values, header ...string) seen {
	b.s.t.Helper()
	var pairs []string
	for name, value := range b.cookies {
		pairs = append(pairs, name+"="+value)
	}
	if len(pairs) > 0 {
		header = append(header, "Cookie: "+strings.Join(pairs, "; "))
	}
	if method != "GET" && !strings.Contains(strings.Join(header, "\n"), "Sec-Fetch-Site") && !strings.Contains(strings.Join(header, "\n"), "Origin") {
		header = append(header, "Sec-Fetch-Site: same-origin")
	}
	got := ask(b.s.t, method, b.base+path, form, header...)
	for _, cookie := range (&http.Response{Header: got.header}).Cookies() {
		b.cookies[cookie.Name] = cookie.Value
		if cookie.MaxAge < 0 {
			delete(b.cookies, cookie.Name)
		}
	}
	return got
}

// session is the cookie of the session.
func (b *browser) session() string {
	for name, value := range b.cookies {
		if strings.Contains(name, "confab_session") {
			return value
		}
	}
	return ""
}

func (b *browser) signIn(email, password string, more ...string) seen {
	b.s.t.Helper()
	return b.open("POST", "/console/sign-in", url.Values{"email": {email}, "password": {password}}, more...)
}

// me is the status of the person's own resource, and its name.
func (b *browser) me() (int, string) {
	b.s.t.Helper()
	got := b.open("GET", "/console/api/v1/me", nil)
	var body struct {
		Data struct{ User struct{ Name string } }
	}
	json.Unmarshal([]byte(got.body), &body)
	return got.status, body.Data.User.Name
}

func TestAnInvitedPersonJoinsSignsOutAndInAgain(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	u, link := s.invitePerson("Ada@example.com", storage.RoleAgent)
	b := s.browser()
	for range 2 { // opening changes nothing
		got := b.open("GET", link, nil)
		is.Equal(got.status, 200)
		is.True(strings.Contains(got.body, s.tenant.Organization.Name))
		is.Equal(len(b.cookies), 0)
	}
	for _, form := range []url.Values{{"name": {"Ada"}, "password": {"short"}}, {"name": {""}, "password": {goodPassword}}, {"name": {"Ada Lovelace"}, "password": {"ada lovelace"}}, {"name": {"x"}, "password": {"ada@EXAMPLE.com"}}} {
		is.Equal(b.open("POST", link, form).status, 400)
	}
	got := b.open("POST", link, url.Values{"name": {"Ada Lovelace"}, "password": {goodPassword}})
	is.Equal(got.status, 303)
	is.Equal(got.location.Path, "/console/inbox")
	status, name := b.me()
	is.Equal(status, 200)
	is.Equal(name, "Ada Lovelace")
	page := b.open("GET", "/console/inbox", nil)
	is.Equal(page.status, 200)
	is.True(!strings.Contains(page.body, "Webhooks")) // an agent sees what it may use

	used := s.browser().open("GET", link, nil)
	is.Equal(used.status, 410)
	is.True(strings.Contains(used.body, "Ask an admin of "+s.tenant.Organization.Name))
	is.Equal(s.browser().open("POST", link, url.Values{"name": {"Eve"}, "password": {goodPassword}}).status, 410)
	is.Equal(s.browser().open("GET", "/console/welcome/none", nil).status, 404)
	is.Equal(s.browser().open("GET", "/console/welcome", nil).status, 404)

	is.Equal(b.open("POST", "/console/sign-out", nil).status, 303)
	status, _ = b.me()
	is.Equal(status, 401)
	is.Equal(b.signIn("ada@example.com", "wrong password").status, 401)
	is.True(until(func() bool {
		return len(storagetest.Select[string](t, s.app.Config.DataDir, `SELECT id FROM audit WHERE action = 'user.sign_in_failed'`)) == 1
	}))
	in := b.open("POST", "/console/sign-in", url.Values{"email": {"ADA@example.COM"}, "password": {goodPassword}, "next": {"/console/contacts?label=x"}})
	is.Equal(in.status, 303)
	is.Equal(in.location.RequestURI(), "/console/contacts?label=x")
	status, _ = b.me()
	is.Equal(status, 200)

	var actions []string
	storagetest.View(t, s.app.DB, func(rx *storage.Rx) error {
		all, err := rx.LatestAudit(u.OrganizationID, 0, 100)
		for _, e := range all {
			actions = append(actions, e.Action)
		}
		return err
	})
	is.Equal(actions, []string{"user.joined", "user.signed_in", "user.signed_out", "user.sign_in_failed", "user.signed_in"})
}

func TestPagesNeedASessionAndCarryTheirHeaders(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	b := s.browser()
	for path, next := range map[string]string{
		"/console/contacts": "contacts", "/console/inbox/cnv_1?x=1": "inbox/cnv_1?x=1", "/console/": "inbox", "/console/nothing": "nothing", "/console/inbox%2fcnv_1": "inbox/cnv_1",
	} {
		got := b.open("GET", path, nil)
		is.Equal(got.status, 302)
		is.Equal(got.location.Path, "/console/sign-in")
		is.Equal(got.location.Query().Get("next"), next)
		is.True(!strings.HasPrefix(got.header.Get("Location"), "/")) // relative, for proxies
	}
	is.Equal(b.open("GET", "/console", nil).location.Path, "/console/")
	for _, path := range []string{"/console/sign-in", "/console/contacts", "/console/welcome/x", "/console/api/v1/me", "/console/api/none"} {
		h := b.open("GET", path, nil).header
		is.Equal(h.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types confab-worker; worker-src 'self'; manifest-src 'self'")
		is.Equal(h.Get("Cross-Origin-Opener-Policy"), "same-origin")
		is.Equal(h.Get("Referrer-Policy"), "same-origin")
		is.Equal(h.Get("X-Content-Type-Options"), "nosniff")
		is.Equal(h.Get("Cache-Control"), "no-store")
	}
	sheet := b.open("GET", "/console/sign-in", nil).body
	_, sheet, _ = strings.Cut(sheet, `rel="stylesheet" href="`)
	sheet, _, _ = strings.Cut(sheet, `"`)
	asset := b.open("GET", "/console/"+sheet, nil)
	is.Equal(asset.status, 200)
	is.Equal(asset.header.Get("Cache-Control"), "public, max-age=31536000, immutable")
	is.Equal(asset.header.Get("Content-Type"), "text/css; charset=utf-8")
	is.Equal(b.open("GET", "/console/assets/none.css", nil).status, 404)
	for path, want := range map[string][]string{ // browsers ask for these without a session
		"sw.js": {"text/javascript; charset=utf-8", "no-cache"}, "manifest.webmanifest": {"application/manifest+json", "no-store"},
	} {
		got := b.open("GET", "/console/"+path, nil)
		is.Equal(got.status, 200)
		is.Equal([]string{got.header.Get("Content-Type"), got.header.Get("Cache-Control")}, want)
	}
	is.Equal(b.open("GET", "/console/sign-out", nil).status, 405)
	is.Equal(b.open("DELETE", "/console/sign-in", nil).status, 405)

	is.Equal(b.open("GET", "/", nil, "Accept: text/html,*/*").header.Get("Location"), "console/")
	is.Equal(b.open("GET", "/", nil).status, 404)
	is.Equal(b.open("GET", "/", nil, "Accept: application/json").status, 404)
}

func TestAConsoleThatIsSwitchedOffIsNotThere(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, func(c *config.Config) { c.Console.Enabled = false })
	b := s.browser()
	for _, path := range []string{"/console", "/console/", "/console/sign-in", "/console/api/v1/me", "/console/assets/x"} {
		is.Equal(b.open("GET", path, nil).status, 404)
	}
	is.Equal(b.open("GET", "/", nil, "Accept: text/html").status, 404)
	is.Equal(b.signIn("a@b.test", "x").status, 404)
}

// hashedPassword is goodPassword as it is stored. It is hashed once: that takes longer than many
// a test.
var hashedPassword = sync.OnceValues(func() (string, error) {
	return password.NewHasher().Hash(context.Background(), limit.Holder{}, goodPassword)
})

// member is a browser in which somebody new is signed in, by a link for that: invitations are
// tested where they are what a test is about.
func (s *stage) member(name, email, role string, header ...string) (*browser, storage.User) {
	s.t.Helper()
	hash, err := hashedPassword()
	if err != nil {
		s.t.Fatal(err)
	}

	u, _ := s.invitePerson(email, role)
	u.Name = name
	var token string
	storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) (err error) {
		if err := errors.Join(tx.UpdateUser(&u), tx.SetPassword(u.ID, hash), tx.EndUserInvitations(u.ID)); err != nil {
			return err
		}
		token, _, err = tx.InsertSignInLink(u)
		return err
	})
	b := s.browser()
	if got := b.open("POST", "/console/link/"+token, nil, header...); got.status != http.StatusSeeOther {
		s.t.Fatal(got.body)
	}
	return b, u
}

// joined is member for somebody whose name does not matter.
func (s *stage) joined(email, role string) (*browser, storage.User) {
	s.t.Helper()
	return s.member("Ada Lovelace", email, role)
}

func TestTheCookieIsForThisServerOnly(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for public, want := range map[string]string{
		"":                       "confab_session_PORT; HttpOnly; Lax",
		"http://chat.test":       "confab_session; HttpOnly; Lax",
		"https://chat.test":      "__Host-confab_session; Secure; HttpOnly; Lax",
		"https://chat.test:8443": "__Host-confab_session_8443; Secure; HttpOnly; Lax",
	} {
		s := newStage(t, func(c *config.Config) { c.Server.PublicURL = public })
		_, port, _ := strings.Cut(s.app.Config.Server.Listen, ":")
		_, link := s.invitePerson("ada@example.com", storage.RoleAgent)
		got := s.browser().open("POST", link, url.Values{"name": {"Ada Lovelace"}, "password": {goodPassword}})
		is.Equal(got.status, 303)
		cookie := (&http.Response{Header: got.header}).Cookies()[0]
		seen := cookie.Name
		if cookie.Secure {
			seen += "; Secure"
		}
		if cookie.HttpOnly {
			seen += "; HttpOnly"
		}
		if cookie.SameSite == http.SameSiteLaxMode {
			seen += "; Lax"
		}
		is.Equal(seen, strings.Replace(want, "PORT", port, 1))
		is.Equal(cookie.Path, "/")
		is.Equal(cookie.Domain, "")
		is.Equal(len(cookie.Value), 43) // 32 bytes
		stored := storagetest.Select[string](t, s.app.Config.DataDir, `SELECT hex(token_hash) FROM user_sessions`)
		hash := storage.TokenHash(cookie.Value)
		is.Equal(stored, []string{strings.ToUpper(hexOf(hash[:]))})
	}
}

func TestForgedAndPlantedCookiesOpenNothing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	b, u := s.joined("ada@example.com", storage.RoleAdmin)
	real := b.session()
	name := ""
	for n := range b.cookies {
		if strings.Contains(n, "session") {
			name = n
		}
	}
	stored := storagetest.Select[string](t, s.app.Config.DataDir, `SELECT hex(token_hash) FROM user_sessions`)[0]
	for _, forged := range []string{"x", strings.Repeat("A", 43), real[:42] + "~", real + "A", strings.ToLower(real), stored, u.ID, "' OR 1=1 --", strings.Repeat("A", 4000)} {
		is.Equal(ask(t, "GET", b.base+"/console/api/v1/me", nil, "Cookie: "+name+"="+forged).status, 401)
		is.Equal(ask(t, "GET", b.base+"/console/inbox", nil, "Cookie: "+name+"="+forged).status, 302)
	}
	is.Equal(ask(t, "GET", b.base+"/console/api/v1/me", nil, "Authorization: Bearer "+s.tenant.Secret).status, 401) // a key is no session
	is.Equal(ask(t, "GET", b.base+"/v1/me", nil, "Cookie: "+name+"="+real).status, 401)                             // nor the other way

	// Fixation: someone who plants a cookie does not share the session that begins.
	victim := s.browser()
	victim.cookies[name] = strings.Repeat("P", 43)
	is.Equal(victim.signIn("ada@example.com", goodPassword).status, 303)
	is.True(victim.session() != strings.Repeat("P", 43))
	planted := s.browser()
	planted.cookies[name] = real // the planter's own session
	is.Equal(planted.signIn("ada@example.com", goodPassword).status, 303)
	is.True(planted.session() != real)
	status, _ := b.me()
	is.Equal(status, 401) // and it has ended
}

func TestOtherSitesCanDoNothing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, func(c *config.Config) { c.Server.CORSOrigins = []string{"*"} })
	b, _ := s.joined("ada@example.com", storage.RoleAdmin)
	form := url.Values{"email": {"ada@example.com"}, "password": {goodPassword}}
	_, link := s.invitePerson("bo@example.com", storage.RoleAgent)
	for _, from := range [][]string{
		{"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"}, {"Origin: https://evil.test"}, {"Origin: null"},
		{"Origin: http://" + s.app.Config.Server.Listen + ".evil.test"}, {"Sec-Fetch-Site: cross-site", "Origin: http://" + s.app.Config.Server.Listen},
	} {
		for _, path := range []string{"/console/sign-in", "/console/sign-out", link, "/console/api/v1/labels", "/console/api/keys"} {
			got := b.open("POST", path, form, from...)
			is.Equal(got.status, 403) // path
			is.Equal(got.header.Get("Access-Control-Allow-Origin"), "")
		}
	}
	// A request with a session that does not say where it comes from is not a browser's.
	var cookies []string
	for name, value := range b.cookies {
		cookies = append(cookies, name+"="+value)
	}
	cookie := "Cookie: " + strings.Join(cookies, "; ")
	is.Equal(ask(t, "POST", b.base+"/console/api/v1/labels", nil, cookie).status, 403)
	is.Equal(ask(t, "POST", b.base+"/console/sign-out", nil, cookie).status, 403)
	is.Equal(ask(t, "DELETE", b.base+"/console/api/keys/"+s.tenant.Key.ID, nil, cookie).status, 403)
	is.Equal(ask(t, "POST", b.base+"/console/sign-out", nil, cookie, "Origin: "+b.base).status, 303)
	is.Equal(ask(t, "POST", b.base+"/console/sign-in", form).status, 303) // without a session nothing can be forged

	// DNS rebinding: another name that leads here.
	for _, path := range []string{"/console/sign-in", "/console/inbox", "/console/api/v1/me", "/console/assets/x", link} {
		is.Equal(b.open("GET", path, nil, "Host: evil.test").status, 403)
		is.Equal(b.open("POST", path, form, "Host: evil.test", "Origin: http://evil.test").status, 403)
	}
}

func TestNextLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	signedIn, _ := s.joined("ada@example.com", storage.RoleAgent)
	for next, want := range map[string]string{
		"contacts": "/console/contacts", "/console/inbox/cnv_1": "/console/inbox/cnv_1", "settings/keys?a=b%0d": "/console/settings/keys?a=b%0D",
		"": "/console/inbox", "//evil.test": "/console/inbox", "https://evil.test/": "/console/inbox", "/\\evil.test": "/console/inbox", "\\\\evil.test": "/console/inbox",
		"javascript:alert(1)": "/console/inbox", "/console//evil.test": "/console/inbox", "/console/../v1": "/console/inbox", "../v1": "/console/inbox",
		"/v1/me": "/console/inbox", "contacts\r\nSet-Cookie: a=b": "/console/inbox", "/console/%2f%2fevil.test": "/console/inbox", "sign-out": "/console/inbox",
		"/console/\t/evil.test": "/console/inbox", "api/v1/me": "/console/inbox", "@evil.test": "/console/inbox", "inbox#//evil": "/console/inbox", strings.Repeat("a", 5000): "/console/inbox",
	} {
		answers := []seen{signedIn.open("GET", "/console/sign-in?"+url.Values{"next": {next}}.Encode(), nil)}
		if strings.Contains(next, "contacts") { // a password takes its time
			answers = append(answers, s.browser().open("POST", "/console/sign-in", url.Values{"email": {"ada@example.com"}, "password": {goodPassword}, "next": {next}}))
		}
		for i, got := range answers {
			is.Equal(got.status, []int{302, 303}[i])
			is.Equal(got.location.Host, s.app.Config.Server.Listen)
			is.Equal(got.location.RequestURI(), want) // next
			is.Equal(got.header.Get("A"), "")
		}
	}
}

func TestStrangersWhoGuessHaveToWait(t *testing.T) {
	is := is.New(t)
	s := newStage(t, func(c *config.Config) { c.Server.TrustedProxies = loopbackPrefix() })
	known, u := s.joined("ada@example.com", storage.RoleAgent)
	guess := func(from, email, password string) seen {
		return s.browser().signIn(email, password, "X-Forwarded-For: "+from)
	}
	unknown := guess("192.0.2.1", "nobody@example.com", "wrong password")
	for i := range 5 {
		got := guess("192.0.2.1", "ada@example.com", "wrong password")
		is.Equal(got.status, 401) // i
		is.Equal(strings.ReplaceAll(got.body, "ada@", "nobody@"), unknown.body)
		_ = i
	}
	waits := guess("192.0.2.1", "ada@example.com", goodPassword)
	is.Equal(waits.status, 429) // six failures of the address
	is.Equal(waits.header.Get("Retry-After"), "1")
	is.Equal(guess("192.0.2.1", "somebody@example.com", "x").status, 429)

	// Another address of the same IPv6 network is the same guesser; the account counts apart.
	is.Equal(guess("2001:db8::1", "ada@example.com", "wrong password").status, 401) // the account's sixth
	is.Equal(guess("192.0.2.77", "ada@example.com", "wrong password").status, 401)  // a network has its first try
	is.Equal(guess("192.0.2.77", "ada@example.com", goodPassword).status, 429)
	is.Equal(known.open("POST", "/console/sign-in", url.Values{"email": {"ada@example.com"}, "password": {goodPassword}}, "X-Forwarded-For: 198.51.100.8").status, 303)
	for range 6 {
		guess("2001:db8::2", "else@example.com", "wrong password")
	}
	is.Equal(guess("2001:db8::ffff", "third@example.com", "x").status, 429)
	is.Equal(guess("2001:db8:0:1::1", "third@example.com", "x").status, 401)

	// Of all that, the log has a line for each address and account, and none of those who do not exist.
	lines := storagetest.Select[string](t, s.app.Config.DataDir, `SELECT ip || ' ' || target_id FROM audit WHERE action = 'user.sign_in_failed' ORDER BY id`)
	is.Equal(lines, []string{"192.0.2.1 " + u.ID, "2001:db8::1 " + u.ID, "192.0.2.77 " + u.ID})
}

// The answer to a wrong password does not wait for the record of it, which there is only of
// users: the time would show who is one.
func TestTheTimeOfAWrongPasswordShowsNoUser(t *testing.T) {
	is := is.New(t)
	s := newStage(t)
	_, _ = s.joined("ada@example.com", storage.RoleAgent)

	held, release := make(chan struct{}), make(chan struct{})
	writer := make(chan error, 1)
	go func() {
		writer <- s.app.DB.Update(context.Background(), func(*storage.Tx) error {
			close(held)
			<-release
			return nil
		})
	}()
	<-held

	answered := make(chan int, 1)
	go func() { answered <- s.browser().signIn("ada@example.com", "wrong password").status }()
	select {
	case status := <-answered:
		is.Equal(status, 401)
	case <-time.After(20 * time.Second):
		t.Error("the answer waits for the writer")
	}
	close(release)
	is.NoErr(<-writer)

	is.True(until(func() bool {
		return len(storagetest.Select[string](t, s.app.Config.DataDir, `SELECT target_id FROM audit WHERE action = 'user.sign_in_failed'`)) == 1
	}))
}

// Polling with wrong passwords does not keep a person out that comes from elsewhere.
func TestStrangersWhoPollKeepNobodyOut(t *testing.T) {
	is := is.New(t)
	s := newStage(t, func(c *config.Config) { c.Server.TrustedProxies = loopbackPrefix() })
	_, _ = s.joined("ada@example.com", storage.RoleAgent)
	for i := range 30 {
		s.browser().signIn("ada@example.com", "wrong password", fmt.Sprintf("X-Forwarded-For: 192.0.2.%d", i/3))
	}
	is.Equal(s.browser().signIn("ada@example.com", goodPassword, "X-Forwarded-For: 192.0.2.1").status, 429)
	is.Equal(s.browser().signIn("ada@example.com", goodPassword, "X-Forwarded-For: 198.51.100.1").status, 303)
}

func TestWhatEndsSessionsHoldsAtTheNextRequest(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	b, u := s.joined("ada@example.com", storage.RoleAdmin)
	is.Equal(b.open("GET", "/console/api/keys", nil).status, 200)
	u.Role = storage.RoleAgent
	u.Name = "Ada"
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.UpdateUser(&u) })
	is.Equal(b.open("GET", "/console/api/keys", nil).status, 403)
	other := s.browser()
	is.Equal(other.signIn("ada@example.com", goodPassword).status, 303)
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.DisableUser(u.ID) })
	for _, in := range []*browser{b, other} {
		status, _ := in.me()
		is.Equal(status, 401)
	}
	is.Equal(b.signIn("ada@example.com", goodPassword).status, 401) // as if the password were wrong
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.EnableUser(u.ID) })

	is.Equal(b.signIn("ada@example.com", goodPassword).status, 303)
	is.Equal(other.signIn("ada@example.com", goodPassword).status, 303)
	var token string
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) (err error) {
		found, err := tx.UserByID(u.ID)
		if err != nil {
			return err
		}
		token, err = tx.ResetUser(&found)
		return err
	})
	status, _ := b.me()
	is.Equal(status, 200) // until the link is used
	is.Equal(b.open("POST", "/console/welcome/"+token, url.Values{"name": {"Ada"}, "password": {"another good one"}}).status, 303)
	status, _ = b.me()
	is.Equal(status, 200)
	status, _ = other.me()
	is.Equal(status, 401) // a new password ends all others
	is.Equal(other.signIn("ada@example.com", goodPassword).status, 401)

	// It also ends by itself, after a week without a request.
	storagetest.Exec(t, s.app.Config.DataDir, `UPDATE user_sessions SET last_seen_at = last_seen_at - 7 * 86400000`)
	s.app.DB.DropCaches()
	status, _ = b.me()
	is.Equal(status, 401)
	is.Equal(b.open("GET", "/console/inbox", nil).status, 302)
}

// sandboxed is a stage whose console signs its visitors in.
func sandboxed(t *testing.T, change ...func(*config.Config)) (*stage, *string) {
	you := new(string)
	s := startStage(t, func(o *app.Options, sim *simulator.Server) {
		o.SandboxUser, o.Simulator = func() string { return *you }, func() http.Handler { return sim.Control() }
	}, change...)
	u := storage.User{OrganizationID: s.tenant.Organization.ID, TeamID: s.tenant.Team.ID, Name: "You", Role: storage.RoleAdmin}
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.InsertUser(&u) })
	*you = u.ID
	return s, you
}

func TestASandboxSignsItsVisitorInAndNobodyElse(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, you := sandboxed(t, func(c *config.Config) { c.Server.PublicURL = "http://box.test" })
	for _, header := range [][]string{
		nil, {"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"}, {"Sec-Fetch-Site: none", "X-Forwarded-For: 127.0.0.1"},
		{"Sec-Fetch-Site: none", "Forwarded: for=127.0.0.1"}, {"Sec-Fetch-Site: none", "Host: box.test"}, {"Sec-Fetch-Site: none", "Via: 1.1 proxy"},
	} {
		b := s.browser()
		is.Equal(b.open("GET", "/console/inbox", nil, header...).location.Path, "/console/sign-in")
		is.Equal(len(b.cookies), 0)
	}
	b := s.browser()
	is.Equal(b.open("GET", "/console/api/v1/me", nil, "Sec-Fetch-Site: none").status, 401)
	is.Equal(b.open("HEAD", "/console/inbox", nil, "Sec-Fetch-Site: none").status, 302)
	is.Equal(b.open("GET", "/console/sign-in", nil, "Sec-Fetch-Site: none").status, 200)
	is.Equal(len(b.cookies), 0)
	is.Equal(b.open("GET", "/console/inbox", nil, "Sec-Fetch-Site: none").status, 200)
	status, name := b.me()
	is.Equal(status, 200)
	is.Equal(name, "You")

	// Who signed out stays so, until the button.
	is.Equal(b.open("POST", "/console/sign-out", nil).status, 303)
	is.Equal(b.open("GET", "/console/contacts", nil, "Sec-Fetch-Site: none").status, 302)
	is.True(strings.Contains(b.open("GET", "/console/sign-in?next=contacts", nil, "Sec-Fetch-Site: cross-site").body, "Continue as You"))
	form := url.Values{"continue": {"1"}, "next": {"contacts"}}
	is.Equal(s.browser().open("POST", "/console/sign-in", form, "Sec-Fetch-Site: cross-site").status, 403)
	is.Equal(ask(t, "POST", b.base+"/console/sign-in", form).status, 403) // no browser
	is.Equal(b.open("POST", "/console/sign-in", form, "Sec-Fetch-Site: same-origin", "X-Forwarded-For: 127.0.0.1").status, 403)
	is.Equal(b.open("POST", "/console/sign-in", form).location.Path, "/console/contacts")
	status, _ = b.me()
	is.Equal(status, 200)
	is.Equal(b.open("POST", "/console/sign-out", nil).status, 303)

	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.DisableUser(*you) })
	is.Equal(s.browser().open("GET", "/console/inbox", nil, "Sec-Fetch-Site: none").status, 302)
	is.Equal(b.open("POST", "/console/sign-in", form).status, 403)
}

func TestAServerThatIsNoSandboxSignsNobodyIn(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	b := s.browser()
	is.Equal(b.open("GET", "/console/inbox", nil, "Sec-Fetch-Site: none").status, 302)
	is.True(!strings.Contains(b.open("GET", "/console/sign-in", nil).body, "Continue as"))
	is.Equal(b.open("POST", "/console/sign-in", url.Values{"continue": {"1"}}).status, 403)
	is.Equal(len(b.cookies), 0)
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func loopbackPrefix() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }
