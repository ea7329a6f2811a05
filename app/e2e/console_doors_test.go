package e2e

import (
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app"
	"confab/app/config"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

// What somebody would try who wants the account of another.

// A link that an admin or a thief of mails has seen does not stand for a second factor, whoever
// opens it: anybody may have some account at the provider.
func TestALinkTakenUpThroughTheProviderDoesNotStandForASecondFactor(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newIdentityProvider(t)
	s := newStage(t, p.configure)
	dir := s.app.Config.DataDir
	ada, u := s.joined("ada@example.com", storage.RoleAdmin)
	ada.addCodes()
	link := run(t, "users", "reset", u.ID, "--data-dir", dir)
	token := link[strings.LastIndex(link, "/")+1:]

	p.as("thief", "thief@example.com", true)
	thief := s.browser()
	got := thief.open("GET", thief.atProvider("/console/oidc/start?invitation="+token), nil)
	is.Equal(got.status, 403)
	is.True(strings.Contains(got.body, "second factor"))
	is.Equal(thief.session(), "")
	is.Equal(storagetest.Select[int](t, dir, `SELECT count(*) FROM user_identities`), []int{0})
	is.True(!strings.Contains(thief.open("GET", "/console/welcome/"+token, nil).body, "Join with")) // it is not offered

	// Nor does it end the link, and by the verified address the person itself is bound.
	is.Equal(thief.open("GET", "/console/welcome/"+token, nil).status, 200)
	p.as("ada", "ada@example.com", true)
	is.Equal(s.browser().signInByProvider().status, 303)
}

// A page elsewhere that leads to the provider with an invitation of its own must not bind the
// visitor's account there to a user whom it knows.
func TestOnlyOurOwnPageTakesUpAnInvitationThroughTheProvider(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newIdentityProvider(t)
	s := newStage(t, p.configure)
	_, link := s.invitePerson("eve@example.com", storage.RoleAgent)
	start := "/console/oidc/start?invitation=" + strings.TrimPrefix(link, "/console/welcome/")
	for _, site := range []string{"cross-site", "same-site", "none"} {
		b := s.browser()
		got := b.open("GET", start, nil, "Sec-Fetch-Site: "+site)
		is.Equal(got.status, 302)
		is.Equal(got.location.String(), b.base+link) // where it says what it is, with a button
		is.Equal(len(b.cookies), 0)
	}
	p.as("one", "eve@example.com", false)
	b := s.browser()
	got := b.open("GET", start, nil, "Sec-Fetch-Site: same-origin")
	is.True(strings.HasPrefix(got.location.String(), p.URL))
}

// To upper and to lower case, several letters are one; to mail servers they are not.
func TestAnAddressThatOnlyLooksTheSameIsSomebodyElses(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newIdentityProvider(t)
	s := newStage(t, p.configure, func(c *config.Config) { c.OIDC.Create, c.OIDC.Domains = "agent", []string{"example.com"} })
	dir := s.app.Config.DataDir
	s.joined("kris@example.com", storage.RoleAdmin)
	without := storage.User{OrganizationID: s.tenant.Organization.ID, TeamID: s.tenant.Team.ID, Name: "Sis", Email: new("sis@example.com")}
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.InsertUser(&without) })
	for i, email := range []string{"\u212Aris@example.com", "kri\u017F@example.com", "kr\u0131s@example.com", "\u017Fis@example.com"} {
		p.as(fmt.Sprint("thief", i), email, true)
		got := s.browser().signInByProvider()
		is.Equal(got.status, 403) // email
	}
	is.Equal(storagetest.Select[int](t, dir, `SELECT count(*) FROM user_identities`), []int{0})
	p.as("kris", "KRIS@Example.com", true)
	is.Equal(s.browser().signInByProvider().status, 303)
	p.as("new", "ÿ@example.com", true) // which nobody has
	is.Equal(s.browser().signInByProvider().status, 303)
	p.as("new", "ÿ@example.com", true)
	is.Equal(s.browser().signInByProvider().status, 303)
}

// Who has a password and the cookie of a browser that was used before, as a stolen computer does,
// guesses codes no faster by coming from everywhere.
func TestCodesAreNotGuessedFromManyNetworksByABrowserThatIsKnown(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, func(c *config.Config) { c.Server.TrustedProxies = loopbackPrefix() })
	ada, _ := s.joined("ada@example.com", storage.RoleAgent)
	codes, _ := ada.addCodes()
	own := s.browser()
	own.signIn("ada@example.com", goodPassword, "X-Forwarded-For: 192.0.2.1")
	is.Equal(own.second(codes.code(0), "X-Forwarded-For: 192.0.2.1").status, 303)

	ada.signIn("ada@example.com", goodPassword, "X-Forwarded-For: 192.0.2.2")
	for i := range 6 {
		is.Equal(ada.second("000000", fmt.Sprint("X-Forwarded-For: 198.51.100.", i+1)).status, 401)
	}
	is.Equal(ada.second("000000", "X-Forwarded-For: 198.51.100.99").status, 429)

	// Another browser that the person has used does not wait for it.
	own.signIn("ada@example.com", goodPassword, "X-Forwarded-For: 192.0.2.3")
	is.Equal(own.second(codes.code(1), "X-Forwarded-For: 192.0.2.3").status, 303)
}

// A browser that was left alone must not be enough to add a way in that the identity provider
// knows nothing of.
func TestAFirstPasswordNeedsASignInLately(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newIdentityProvider(t)
	s := newStage(t, p.configure, func(c *config.Config) { c.OIDC.Create, c.OIDC.Domains = "agent", []string{"example.com"} })
	p.as("ada", "ada@example.com", true)
	b := s.browser()
	b.open("GET", b.atProvider("/console/oidc/start"), nil)
	age := func() {
		storagetest.Exec(t, s.app.Config.DataDir, `UPDATE user_sessions SET created_at = created_at - 600000`)
		s.app.DB.DropCaches()
	}
	age()
	const change = `{"password":"` + goodPassword + `"}`
	is.Equal(codeOf(t, b.sendJSON("PATCH", "/console/api/profile", change)), "permission_denied")
	is.Equal(b.sendJSON("PATCH", "/console/api/profile", `{"name":"Ada"}`).status, 200)
	b.open("GET", b.atProvider("/console/oidc/start?again=1"), nil)
	is.Equal(b.sendJSON("PATCH", "/console/api/profile", change).status, 200)
	age() // with the old one it is as before
	is.Equal(b.sendJSON("PATCH", "/console/api/profile", `{"password":"another good one","current_password":"`+goodPassword+`"}`).status, 200)
}

// Who must have a second factor and gives up the last one hears nothing more.
func TestAStreamEndsWithTheSecondFactorThatIsRequired(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, func(c *config.Config) { c.Console.SecondFactor = "everyone" })
	u, link := s.invitePerson("ada@example.com", storage.RoleAgent)
	b := s.browser()
	b.open("POST", link, url.Values{"name": {"Ada"}, "password": {goodPassword}})
	storagetest.Exec(t, s.app.Config.DataDir, `INSERT INTO user_codes (user_id, secret, last_step, created_at) VALUES (?, X'00', 0, 0)`, u.ID)
	s.app.DB.DropCaches()
	stream := b.watch()
	is.Equal(b.sendJSON("DELETE", "/console/api/factors/codes", "").status, 200)
	_, reason := stream.ends()
	is.True(reason != "")
	is.Equal(codeOf(t, b.open("GET", "/console/api/stream", nil)), "second_factor_required")
}

// Where only the provider counts, passkeys are neither taken nor offered.
func TestPasskeysAreRefusedWhereOnlyTheProviderSignsIn(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newIdentityProvider(t)
	for only, want := range map[bool][2]int{false: {200, 401}, true: {403, 403}} {
		b := newStage(t, onLocalhost(t), p.configure, func(c *config.Config) { c.OIDC.Only = only }).browser()
		is.Equal(strings.Contains(b.open("GET", "/console/sign-in", nil).body, "passkey"), !only)
		is.Equal(b.open("POST", "/console/sign-in/passkey/start", nil).status, want[0])
		is.Equal(b.open("POST", "/console/sign-in/passkey", url.Values{"answer": {"{}"}}).status, want[1])
	}
}

// After a move to another host the old passkeys sign nobody in, but they still count: else a password
// would be enough.
func TestAPasskeyOfAnotherHostIsStillASecondFactor(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, func(c *config.Config) { c.Console.SecondFactor = "everyone" })
	u, link := s.invitePerson("ada@example.com", storage.RoleAgent)
	b := s.browser()
	b.open("POST", link, url.Values{"name": {"Ada"}, "password": {goodPassword}})
	is.Equal(codeOf(t, b.open("GET", "/console/api/v1/me", nil)), "second_factor_required")
	storagetest.Exec(t, s.app.Config.DataDir, `INSERT INTO user_passkeys (id, user_id, credential_id, host, name, created_at, credential)
		VALUES ('psk_1', ?, X'01', 'chat.example.com', 'Laptop', 1, X'02')`, u.ID)
	s.app.DB.DropCaches()
	status, _ := b.me()
	is.Equal(status, 200)
	is.Equal(s.browser().signIn("ada@example.com", goodPassword).location.Path, "/console/sign-in/second")
}

func TestARestoredBackupKeepsFactorsAndBindings(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newIdentityProvider(t)
	s := newStage(t, p.configure)
	dir, archive := s.app.Config.DataDir, filepath.Join(t.TempDir(), "backup.tar")
	ada, u := s.joined("ada@example.com", storage.RoleAdmin)
	codes, recovery := ada.addCodes()
	storagetest.Exec(t, dir, `INSERT INTO user_passkeys (id, user_id, credential_id, host, name, created_at, credential)
		VALUES ('psk_1', ?, X'01', 'chat.example.com', 'Laptop', 1, X'02')`, u.ID)
	p.as("ada", "ada@example.com", true)
	is.Equal(s.browser().signInByProvider().status, 303)
	way := strings.TrimPrefix(run(t, "users", "link", u.ID, "--data-dir", dir), s.app.URL())
	run(t, "backup", archive, "--data-dir", dir)

	elsewhere := filepath.Join(t.TempDir(), "data")
	run(t, "restore", archive, "--data-dir", elsewhere)
	restored := newStage(t, p.configure, func(c *config.Config) { c.DataDir = elsewhere })
	b := restored.browser()
	b.cookies = ada.cookies
	status, _ := b.me()
	is.Equal(status, 401) // sessions and links are gone
	is.Equal(restored.browser().open("GET", way, nil).status, 404)
	for _, code := range []string{codes.code(0), recovery[0]} {
		b = restored.browser()
		is.Equal(b.signIn("ada@example.com", goodPassword).location.Path, "/console/sign-in/second")
		is.Equal(b.second(code).status, 303)
	}
	factors := dataOf(t, b.open("GET", "/console/api/factors", nil))
	is.Equal(factors["recovery_codes"], 9.0)
	is.Equal(len(factors["passkeys"].([]any)), 1)
	p.as("ada", "moved@example.com", false) // known by the subject alone
	is.Equal(restored.browser().signInByProvider().status, 303)
}

// That nobody can be added through the provider is said when the server starts, and not only to
// the person who is refused.
func TestAServerSaysAtItsStartThatNewPeopleHaveNoOrganization(t *testing.T) {
	t.Parallel()
	p := newIdentityProvider(t)
	for create, want := range map[string]bool{"agent": true, "off": false} {
		log := &lockedBuffer{}
		startStage(t, func(o *app.Options, _ *simulator.Server) { o.Log = slog.New(slog.NewTextHandler(log, nil)) }, p.configure, func(c *config.Config) {
			c.OIDC.Create, c.OIDC.Domains, c.OIDC.Organization = create, []string{"example.com"}, "org_01HZZZZZZZZZZZZZZZZZZZZZZZ"
		})
		is.New(t).Equal(strings.Contains(log.String(), "oidc.organization must name an organization"), want)
	}
}
