package e2e

import (
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/matryer/is"

	"confab/app/config"
	"confab/storage"
	"confab/storage/storagetest"
)

// atProvider goes to the provider, and returns with what path the browser would come back.
func (b *browser) atProvider(path string) string {
	b.s.t.Helper()
	got := b.open("GET", path, nil)
	if got.status != 302 {
		b.s.t.Fatalf("%d %s", got.status, got.body)
	}
	back := ask(b.s.t, "GET", got.location.String(), nil)
	if back.status != 302 {
		b.s.t.Fatalf("%d %s", back.status, back.body)
	}
	return strings.TrimPrefix(back.location.String(), b.s.app.URL())
}

// signInByProvider is what becomes of signing in through the provider.
func (b *browser) signInByProvider() seen {
	b.s.t.Helper()
	return b.open("GET", b.atProvider("/console/oidc/start?next=contacts%3Fq%3Dx"), nil)
}

func TestPeopleSignInThroughTheIdentityProvider(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newIdentityProvider(t)
	s := newStage(t, p.configure)
	_, u := s.joined("ada@example.com", storage.RoleAgent)
	dir := s.app.Config.DataDir
	is.True(strings.Contains(s.browser().open("GET", "/console/sign-in", nil).body, "Sign in with Acme ID"))
	is.Equal(p.calls["/.well-known/openid-configuration"], 0) // not before it is needed

	// By the address, which binds; then by the subject, whatever the address is.
	p.as("one", "ADA@example.com", true)
	b := s.browser()
	got := b.signInByProvider()
	is.Equal(got.status, 303)
	is.Equal(got.location.String(), b.base+"/console/contacts?q=x")
	status, _ := b.me()
	is.Equal(status, 200)
	is.Equal(len(b.cookies), 2)
	p.as("one", "new@example.com", false)
	is.Equal(s.browser().signInByProvider().status, 303)
	is.Equal(storagetest.Select[string](t, dir, `SELECT issuer || ' ' || subject || ' ' || user_id FROM user_identities`), []string{p.URL + " one " + u.ID})
	is.Equal(p.calls["/.well-known/openid-configuration"], 1)

	// Another subject with that address is somebody else, until the command line says otherwise.
	before := storagetest.Select[int](t, dir, `SELECT count(*) FROM audit`)
	p.as("two", "ada@example.com", true)
	got = s.browser().signInByProvider()
	is.Equal(got.status, 403)
	is.True(strings.Contains(got.body, "another account at Acme ID"))
	is.Equal(storagetest.Select[int](t, dir, `SELECT count(*) FROM audit`), before) // nothing stored
	run(t, "users", "unlink", "ada@example.com", "--data-dir", dir)
	refused(t, "users", "unlink", "ada@example.com", "--data-dir", dir)
	is.Equal(s.browser().signInByProvider().status, 303)

	// A second factor is for passwords.
	storagetest.Exec(t, dir, `INSERT INTO user_codes (user_id, secret, last_step, created_at) VALUES (?, X'00', 0, 0)`, u.ID)
	s.app.DB.DropCaches()
	is.Equal(s.browser().signInByProvider().location.Path, "/console/contacts")
	is.Equal(s.browser().signIn("ada@example.com", goodPassword).location.Path, "/console/sign-in/second")

	run(t, "users", "disable", u.ID, "--data-dir", dir)
	got = s.browser().signInByProvider()
	is.Equal(got.status, 403)
	is.True(strings.Contains(got.body, "disabled"))
	run(t, "users", "enable", u.ID, "--data-dir", dir)
	run(t, "orgs", "suspend", s.tenant.Organization.PublicID, "--data-dir", dir)
	got = s.browser().signInByProvider()
	is.Equal(got.status, 403)
	is.True(strings.Contains(got.body, "suspended"))
	is.Equal(storagetest.Select[string](t, dir, `SELECT action FROM audit WHERE action LIKE 'user.identity%' ORDER BY id`),
		[]string{"user.identity_bound", "user.identity_unbound", "user.identity_bound"})
}

func TestOnlyAVerifiedAddressIsBelieved(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newIdentityProvider(t)
	s := newStage(t, p.configure)
	trusting := newStage(t, p.configure, func(c *config.Config) { c.OIDC.TrustEmail = true })
	for verified, want := range map[any][2]int{true: {303, 303}, "true": {303, 303}, false: {403, 403}, "false": {403, 403}, "yes": {403, 403}, 1: {403, 403}, nil: {403, 303}} {
		for i, s := range []*stage{s, trusting} {
			email := strings.ToLower(rand.Text()) + "@example.com"
			s.joined(email, storage.RoleAgent)
			p.as(rand.Text(), email, verified)
			is.Equal(s.browser().signInByProvider().status, want[i]) // email_verified
		}
	}
	is.Equal(storagetest.Select[int](t, s.app.Config.DataDir, `SELECT count(*) FROM user_identities`), []int{2})

	p.as("stranger", "stranger@example.com", true)
	got := s.browser().signInByProvider()
	is.Equal(got.status, 403)
	is.True(strings.Contains(got.body, "stranger@example.com"))
	p.as("nameless", "", true)
	is.Equal(s.browser().signInByProvider().status, 403)
	u := storage.User{OrganizationID: s.tenant.Organization.ID, TeamID: s.tenant.Team.ID, Name: "Bo", Email: new("bo@example.com")}
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.InsertUser(&u) })
	p.as("bo", "bo@example.com", true)
	is.Equal(s.browser().signInByProvider().status, 403) // is not meant to sign in
}

func TestAnInvitationIsTakenUpThroughTheProvider(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newIdentityProvider(t)
	s := newStage(t, p.configure, func(c *config.Config) { c.OIDC.Only = true })
	dir := s.app.Config.DataDir
	u, link := s.invitePerson("ada@example.com", storage.RoleAgent)
	token := strings.TrimPrefix(link, "/console/welcome/")

	// No passwords at all.
	page := s.browser().open("GET", link, nil)
	is.True(strings.Contains(page.body, "Join with Acme ID") && !strings.Contains(page.body, "password"))
	is.Equal(s.browser().open("POST", link, url.Values{"name": {"Ada"}, "password": {goodPassword}}).status, 403)
	is.Equal(s.browser().signIn("ada@example.com", goodPassword).status, 403)
	is.True(!strings.Contains(s.browser().open("GET", "/console/sign-in", nil).body, "password"))

	// Whoever signs in there is the person who was invited.
	p.as("one", "another@example.com", false)
	b := s.browser()
	is.Equal(b.open("GET", b.atProvider("/console/oidc/start?invitation="+token), nil).status, 303)
	is.Equal(s.browser().open("GET", link, nil).status, 410)
	is.Equal(s.browser().signInByProvider().status, 303)
	is.True(strings.Contains(run(t, "users", "list", "--data-dir", dir), "active"))
	status, _ := b.me()
	is.Equal(status, 200)
	b = s.browser()
	is.Equal(b.open("GET", b.atProvider("/console/oidc/start?invitation="+token), nil).status, 403) // it has ended

	// That account is not another person's then, nor the other way round.
	_, other := s.invitePerson("bo@example.com", storage.RoleAgent)
	b = s.browser()
	is.Equal(b.open("GET", b.atProvider("/console/oidc/start?invitation="+strings.TrimPrefix(other, "/console/welcome/")), nil).status, 403)
	is.Equal(s.browser().open("GET", other, nil).status, 200)
	again := run(t, "users", "reset", u.ID, "--data-dir", dir)
	p.as("two", "another@example.com", false)
	b = s.browser()
	is.Equal(b.open("GET", b.atProvider("/console/oidc/start?invitation="+again[strings.LastIndex(again, "/")+1:]), nil).status, 403)

	// Somebody who is locked out gets in by the command line.
	way := run(t, "users", "link", "ada@example.com", "--data-dir", dir)
	is.Equal(s.browser().open("POST", strings.TrimPrefix(way, s.app.URL()), nil).status, 303)

	// Unlinked, a person is found by the address again, with nothing else to sign in with; one whose
	// invitation has lapsed is not.
	run(t, "users", "unlink", u.ID, "--data-dir", dir)
	storagetest.Exec(t, dir, `UPDATE user_invitations SET expires_at = created_at`)
	for email, want := range map[string]int{"ada@example.com": 303, "bo@example.com": 403} {
		p.as("new "+email, email, true)
		is.Equal(s.browser().signInByProvider().status, want) // email
	}
}

func TestTheProviderMakesPeopleAndAdmins(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newIdentityProvider(t)
	s := newStage(t, p.configure, func(c *config.Config) {
		c.OIDC.Create, c.OIDC.Domains, c.OIDC.AdminClaim, c.OIDC.AdminValue = "agent", []string{"example.com"}, "groups", "ops"
	})
	dir := s.app.Config.DataDir
	role := func(email string) string {
		return strings.Join(storagetest.Select[string](t, dir, `SELECT role FROM users WHERE sign_in_email = ?`, email), " ")
	}
	groups := func(v any) map[string]any { return map[string]any{"groups": v} }
	in := func(subject, email string, verified any, more ...map[string]any) int {
		p.as(subject, email, verified, more...)
		return s.browser().signInByProvider().status
	}

	is.Equal(in("ada", "Ada@Example.com", true, groups([]string{"dev", "ops"})), 303)
	is.Equal(role("ada@example.com"), "admin")
	is.Equal(storagetest.Select[string](t, dir, `SELECT name FROM users WHERE sign_in_email = 'ada@example.com'`), []string{"Ada Lovelace"})
	is.Equal(in("bo", "bo@example.com", true, map[string]any{"name": "bad\x00name"}), 303)
	is.Equal(role("bo@example.com"), "agent")
	is.Equal(storagetest.Select[string](t, dir, `SELECT name FROM users WHERE sign_in_email = 'bo@example.com'`), []string{"bo"})
	for _, email := range []string{"eve@other.com", "eve@sub.example.com", "eve@example.com@other.com", "eve", `"eve@example.com"@other.com`, "eve@other.com@example.com"} {
		is.Equal(in(email, email, true), 403) // the address
	}
	is.Equal(in("cy", "cy@example.com", false), 403)

	// The claim decides each time, but for the last admin.
	is.Equal(in("ada", "ada@example.com", true), 303)
	is.Equal(role("ada@example.com"), "admin")
	is.Equal(in("bo", "bo@example.com", true, groups("ops")), 303)
	is.Equal(role("bo@example.com"), "admin")
	for _, not := range []any{"ops2", []any{"Ops", 1, nil, map[string]any{}}, map[string]any{"ops": true}, 7, nil} {
		is.Equal(in("ada", "ada@example.com", true, groups(not)), 303)
		is.Equal(role("ada@example.com"), "agent") // after the first
	}

	// A person without sign-in who has the address is the one; more organizations need a choice.
	u := storage.User{OrganizationID: s.tenant.Organization.ID, TeamID: s.tenant.Team.ID, Name: "Dee", Email: new("dee@example.com")}
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.InsertUser(&u) })
	is.Equal(in("dee", "dee@example.com", true), 303)
	is.Equal(storagetest.Select[string](t, dir, `SELECT id || name FROM users WHERE sign_in_email = 'dee@example.com'`), []string{u.ID + "Dee"})
	storagetest.Seed(t, s.app.DB, "Other")
	is.Equal(in("fay", "fay@example.com", true), 403)
	is.Equal(role("fay@example.com"), "")
}

func TestAnIdentityProviderThatMisbehavesLetsNobodyIn(t *testing.T) {
	t.Parallel()
	p := newIdentityProvider(t)
	s := newStage(t, p.configure)
	s.joined("ada@example.com", storage.RoleAdmin)
	p.as("one", "ada@example.com", true)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	set := func(name string, value any) func(map[string]any) {
		return func(claims map[string]any) { claims[name] = value }
	}

	for name, spoil := range map[string]func(map[string]any){
		"wrong nonce":          set("nonce", "another"),
		"no nonce":             func(claims map[string]any) { delete(claims, "nonce") },
		"wrong audience":       set("aud", "another"),
		"several audiences":    set("aud", []string{"confab", "another"}),
		"for another client":   func(claims map[string]any) { claims["aud"], claims["azp"] = []string{"confab", "another"}, "another" },
		"wrong issuer":         set("iss", "https://id.example.com"),
		"expired":              set("exp", time.Now().Add(-time.Minute).Unix()),
		"no expiry":            func(claims map[string]any) { delete(claims, "exp") },
		"not yet":              set("nbf", time.Now().Add(time.Hour).Unix()),
		"no subject":           set("sub", ""),
		"an endless subject":   set("sub", strings.Repeat("x", 300)),
		"a subject of no text": set("sub", 7),
	} {
		t.Run(name, func(t *testing.T) {
			p.spoil = spoil
			defer func() { p.spoil = nil }()
			b := s.browser()
			is.New(t).Equal(b.signInByProvider().status, 403)
			is.New(t).Equal(b.session(), "")
		})
	}
	for name, sign := range map[string]func([]byte) string{
		"unsigned":             unsigned,
		"signed by another":    func(payload []byte) string { return signToken(jose.RS256, other, payload) },
		"signed by our secret": func(payload []byte) string { return signToken(jose.HS256, []byte(strings.Repeat("hush", 16)), payload) },
		"no token":             func([]byte) string { return "" },
		"half a token":         func(payload []byte) string { return p.signRS256(payload)[:100] },
	} {
		t.Run(name, func(t *testing.T) {
			p.sign = sign
			defer func() { p.sign = nil }()
			b := s.browser()
			is.New(t).Equal(b.signInByProvider().status, 403)
			is.New(t).Equal(b.session(), "")
		})
	}

	is := is.New(t)
	is.Equal(s.browser().signInByProvider().status, 303) // else it is well
	is.Equal(storagetest.Select[int](t, s.app.Config.DataDir, `SELECT count(*) FROM user_sessions`), []int{2})
}

func TestASignInThroughTheProviderIsThisBrowsersAndUsedOnce(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newIdentityProvider(t)
	s := newStage(t, p.configure)
	s.joined("ada@example.com", storage.RoleAdmin)
	p.as("one", "ada@example.com", true)

	// All of it lies in one cookie, for ten minutes.
	b, other := s.browser(), s.browser()
	start := b.open("GET", "/console/oidc/start", nil)
	cookie := start.header.Values("Set-Cookie")
	is.Equal(len(cookie), 1)
	for _, part := range []string{"Max-Age=600", "HttpOnly", "SameSite=Lax"} {
		is.True(strings.Contains(cookie[0], part))
	}
	is.Equal(start.location.Query().Get("redirect_uri"), s.app.URL()+"/console/oidc/callback")

	// Of another browser, with another state, cancelled there, or without anything.
	path := b.atProvider("/console/oidc/start")
	other.atProvider("/console/oidc/start")
	is.Equal(other.open("GET", path, nil).status, 403)
	is.Equal(s.browser().open("GET", path, nil).status, 403)
	is.Equal(other.session(), "")
	b.atProvider("/console/oidc/start") // a newer one
	is.Equal(b.open("GET", path, nil).status, 403)
	path = b.atProvider("/console/oidc/start")
	is.Equal(b.open("GET", path+"x", nil).status, 403)
	b.atProvider("/console/oidc/start")
	is.Equal(b.open("GET", "/console/oidc/callback?error=access_denied", nil).status, 403)
	is.Equal(s.browser().open("GET", "/console/oidc/callback", nil).status, 403)

	// A code, a state and a cookie are good once.
	path = b.atProvider("/console/oidc/start")
	cookies := make(map[string]string)
	for name, value := range b.cookies {
		cookies[name] = value
	}
	is.Equal(b.open("GET", path, nil).status, 303)
	thief := s.browser()
	thief.cookies = cookies
	calls := p.calls["/token"]
	is.Equal(thief.open("GET", path, nil).status, 403)
	is.Equal(p.calls["/token"], calls) // it is not even asked
	thief.cookies = map[string]string{}
	fresh := thief.atProvider("/console/oidc/start")
	used, _ := url.Parse(path)
	target, _ := url.Parse(fresh)
	q := target.Query()
	q.Set("code", used.Query().Get("code"))
	is.Equal(thief.open("GET", "/console/oidc/callback?"+q.Encode(), nil).status, 403) // the code of another
}

func TestAProviderThatIsDownSlowOrEndlessStopsOnlyItsOwnDoor(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newIdentityProvider(t)
	s := newStage(t, p.configure)
	s.joined("ada@example.com", storage.RoleAdmin)
	p.as("one", "ada@example.com", true)
	at := func(path string, answer func(http.ResponseWriter, *http.Request)) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.broken = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == path {
				answer(w, r)
			}
			return r.URL.Path == path
		}
	}
	down := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	endless := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		block := []byte(`{"a":"` + strings.Repeat("x", 1<<20))
		for range 64 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	elsewhere := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, p.URL+"/elsewhere", http.StatusTemporaryRedirect)
	}

	const discovery = "/.well-known/openid-configuration"
	for _, answer := range []func(http.ResponseWriter, *http.Request){down, endless, elsewhere} {
		at(discovery, answer)
		got := s.browser().open("GET", "/console/oidc/start", nil)
		is.Equal(got.status, 503)
		is.True(strings.Contains(got.body, "Can’t reach Acme ID"))
	}
	slow := make(chan int)
	at(discovery, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	go func() { slow <- s.browser().open("GET", "/console/oidc/start", nil).status }()
	is.Equal(s.browser().signIn("ada@example.com", goodPassword).status, 303) // other doors stay open
	is.Equal(<-slow, 503)                                                     // after ten seconds
	at("none", nil)
	is.Equal(s.browser().signInByProvider().status, 303) // it is found when it is back

	for _, answer := range []func(http.ResponseWriter, *http.Request){down, endless} {
		at("/token", answer)
		got := s.browser().signInByProvider()
		is.Equal(got.status, 503)
	}
	at("/token", elsewhere)
	got := s.browser().signInByProvider()
	is.True(got.status == 403 || got.status == 503)
	is.Equal(p.calls["/elsewhere"], 1) // by the discovery alone: our secret is not sent on
	at("none", nil)
	is.Equal(s.browser().signInByProvider().status, 303)
}
