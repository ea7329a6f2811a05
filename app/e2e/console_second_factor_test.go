package e2e

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/pquerna/otp/totp"

	"confab/app/config"
	"confab/storage"
	"confab/storage/storagetest"
)

// dataOf is what an answer of the console's API holds.
func dataOf(t testing.TB, got seen) (data map[string]any) {
	t.Helper()
	var body struct{ Data map[string]any }
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || got.status >= 300 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return body.Data
}

func codeOf(t testing.TB, got seen) string {
	t.Helper()
	var body struct{ Error struct{ Code, Param string } }
	json.Unmarshal([]byte(got.body), &body)
	return strings.TrimSpace(body.Error.Code + " " + body.Error.Param)
}

// codeApp is an app that makes one-time codes.
type codeApp struct {
	t      testing.TB
	secret string
	began  time.Time
}

// code is the one of when the app was made, which is good for half a minute more at least; steps
// are how many later.
func (p codeApp) code(steps int) string {
	p.t.Helper()
	code, err := totp.GenerateCode(p.secret, p.began.Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		p.t.Fatal(err)
	}
	return code
}

// addCodes sets up one-time codes in the profile, and returns the app and the recovery codes.
// The code of the step before is used up by it: those of now and of the next are not.
func (b *browser) addCodes() (codeApp, []string) {
	b.s.t.Helper()
	started := dataOf(b.s.t, b.sendJSON("POST", "/console/api/factors/codes/start", ""))
	p := codeApp{b.s.t, started["secret"].(string), time.Now()}
	give := func() seen {
		body, _ := json.Marshal(map[string]any{"ticket": started["ticket"], "code": p.code(-1)})
		return b.sendJSON("POST", "/console/api/factors/codes", string(body))
	}
	got := give()
	if got.status == 400 { // a step ended meanwhile
		got = give()
	}
	made := dataOf(b.s.t, got)
	var recovery []string
	for _, code := range made["recovery_codes"].([]any) {
		recovery = append(recovery, code.(string))
	}
	return p, recovery
}

func (b *browser) second(code string, more ...string) seen {
	b.s.t.Helper()
	return b.open("POST", "/console/sign-in/second", url.Values{"code": {code}}, more...)
}

func TestAPasswordIsNotEnoughForWhoHasASecondFactor(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	ada, u := s.joined("ada@example.com", storage.RoleAgent)
	app, recovery := ada.addCodes()
	is.Equal(len(recovery), 10)
	is.Equal(dataOf(t, ada.open("GET", "/console/api/factors", nil))["recovery_codes"], 10.0)
	for _, secret := range append(recovery, app.secret) { // neither is stored as it is
		for _, table := range []string{"user_codes", "user_recovery_codes"} {
			column := map[string]string{"user_codes": "secret", "user_recovery_codes": "code_hash"}[table]
			for _, stored := range storagetest.Select[string](t, s.app.Config.DataDir, `SELECT CAST(`+column+` AS TEXT) FROM `+table) {
				is.True(!strings.Contains(stored, secret))
			}
		}
	}

	b := s.browser()
	got := b.open("POST", "/console/sign-in", url.Values{"email": {"ada@example.com"}, "password": {goodPassword}, "next": {"contacts?q=x"}})
	is.Equal(got.status, 303)
	is.Equal(got.location.Path, "/console/sign-in/second")
	is.Equal(b.session(), "")
	status, _ := b.me()
	is.Equal(status, 401)
	is.Equal(b.open("GET", "/console/sign-in/second", nil).status, 200)
	is.Equal(b.second("000000").status, 401)
	is.Equal(b.second("").status, 401)
	is.Equal(b.second(app.code(-1)).status, 401) // used when it was set up

	// The ticket is this browser's.
	other := s.browser()
	is.Equal(other.second(app.code(0)).status, 401)
	is.Equal(other.open("GET", "/console/sign-in/second", nil).location.Path, "/console/sign-in")
	stranger, _ := s.joined("eve@example.com", storage.RoleAgent)
	stranger.signIn("eve@example.com", goodPassword)
	is.Equal(stranger.second(app.code(0)).status, 401)

	got = b.second(app.code(0))
	is.Equal(got.status, 303)
	is.Equal(got.location.String(), b.base+"/console/contacts?q=x")
	status, _ = b.me()
	is.Equal(status, 200)
	is.Equal(len(b.cookies), 2) // the ticket is gone: session and device are left

	// The same code is not taken twice, the next one is; a recovery code is good once.
	b = s.browser()
	b.signIn("ada@example.com", goodPassword)
	is.Equal(b.second(app.code(0)).status, 401)
	is.Equal(b.second(app.code(1)).status, 303)
	for _, want := range []int{303, 401} {
		b = s.browser()
		b.signIn("ada@example.com", goodPassword)
		is.Equal(b.second(strings.ToUpper(recovery[3])).status, want)
	}
	is.Equal(dataOf(t, ada.open("GET", "/console/api/factors", nil))["recovery_codes"], 9.0)

	// A new password ends the ticket, and its link leads to the second step, too.
	b = s.browser()
	b.signIn("ada@example.com", goodPassword)
	link := run(t, "users", "reset", u.ID, "--data-dir", s.app.Config.DataDir)
	reader := s.browser()
	got = reader.open("POST", strings.TrimPrefix(link, s.app.URL()), url.Values{"name": {"Ada"}, "password": {"another good one"}})
	is.Equal(got.location.Path, "/console/sign-in/second")
	is.Equal(reader.session(), "")
	is.Equal(b.second(recovery[4]).status, 401)
	is.Equal(reader.second(recovery[4]).status, 303)
}

func TestOneCodeSignsInOnceHoweverManyTryAtTheSameTime(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	ada, _ := s.joined("ada@example.com", storage.RoleAgent)
	app, recovery := ada.addCodes()
	for _, code := range []string{app.code(0), recovery[0]} {
		var browsers []*browser
		for range 5 {
			b := s.browser()
			b.signIn("ada@example.com", goodPassword)
			browsers = append(browsers, b)
		}

		statuses := make([]int, len(browsers))
		var group sync.WaitGroup
		for i, b := range browsers {
			group.Go(func() { statuses[i] = b.second(code).status })
		}
		group.Wait()
		in := 0
		for _, status := range statuses {
			if status == 303 {
				in++
			}
		}
		is.Equal(in, 1) // statuses
	}
}

// Wrong codes count as wrong passwords do, for the account and the address apart. A right password
// does not make up for them.
func TestWrongCodesMakeWait(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, func(c *config.Config) { c.Server.TrustedProxies = loopbackPrefix() })
	ada, _ := s.joined("ada@example.com", storage.RoleAgent)
	app, _ := ada.addCodes()
	b := s.browser()
	b.signIn("ada@example.com", goodPassword, "X-Forwarded-For: 192.0.2.1")
	again := s.browser()
	again.signIn("ada@example.com", goodPassword, "X-Forwarded-For: 192.0.2.51") // before: it takes as long as the wait
	for i := range 6 {
		is.Equal(b.second("000000", "X-Forwarded-For: 192.0.2."+string(rune('1'+i))).status, 401)
	}
	waits := b.second(app.code(0), "X-Forwarded-For: 192.0.2.50")
	is.Equal(waits.status, 429) // six failures of the account
	is.True(waits.header.Get("Retry-After") != "")
	is.Equal(again.second(app.code(0), "X-Forwarded-For: 192.0.2.51").status, 429)

	// The browser that has signed in before does not wait for the account.
	ada.signIn("ada@example.com", goodPassword, "X-Forwarded-For: 192.0.2.52")
	is.Equal(ada.second(app.code(0), "X-Forwarded-For: 192.0.2.52").status, 303)
	failed := storagetest.Select[int](t, s.app.Config.DataDir, `SELECT count(*) FROM audit WHERE action = 'user.sign_in_failed'`)
	is.Equal(failed, []int{6}) // once a minute for each address

	// An address waits, too.
	from := "X-Forwarded-For: 198.51.100.7"
	for range 6 {
		b.second("000000", from)
	}
	is.Equal(s.browser().signIn("eve@example.com", "x", from).status, 429)
}

func TestFactorsAreChangedOnlyShortlyAfterSigningIn(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	ada, _ := s.joined("ada@example.com", storage.RoleAgent)
	app, first := ada.addCodes()
	is.Equal(codeOf(t, ada.sendJSON("POST", "/console/api/factors/codes", `{"ticket":"x","code":"1"}`)), "invalid_field_value ticket")
	second := dataOf(t, ada.sendJSON("POST", "/console/api/factors/recovery_codes", ""))["recovery_codes"].([]any)
	is.Equal(len(second), 10)
	b := s.browser()
	b.signIn("ada@example.com", goodPassword)
	is.Equal(b.second(first[0]).status, 401) // new ones end the old
	is.Equal(b.second(second[0].(string)).status, 303)

	storagetest.Exec(t, s.app.Config.DataDir, `UPDATE user_sessions SET created_at = created_at - 600000`)
	s.app.DB.DropCaches()
	is.Equal(dataOf(t, ada.open("GET", "/console/api/factors", nil))["recent"], false)
	for _, call := range []string{"POST codes", "DELETE codes", "POST recovery_codes"} {
		method, path, _ := strings.Cut(call, " ")
		is.Equal(codeOf(t, ada.sendJSON(method, "/console/api/factors/"+path, `{"ticket":"x","code":"1"}`)), "permission_denied")
	}

	// Signing in again is asked for although there is a session.
	is.Equal(ada.open("GET", "/console/sign-in?next=settings/profile", nil).status, 302)
	page := ada.open("GET", "/console/sign-in?again=1&next=settings/profile", nil)
	is.Equal(page.status, 200)
	is.True(strings.Contains(page.body, `value="ada@example.com"`))
	ada.signIn("ada@example.com", goodPassword)
	is.Equal(ada.second(app.code(0)).status, 303)
	is.Equal(ada.sendJSON("DELETE", "/console/api/factors/codes", "").status, 200)
	is.Equal(ada.sendJSON("DELETE", "/console/api/factors/codes", "").status, 404)
	is.Equal(codeOf(t, ada.sendJSON("POST", "/console/api/factors/recovery_codes", "")), "invalid_field_value recovery_codes")
	is.Equal(storagetest.Select[int](t, s.app.Config.DataDir, `SELECT count(*) FROM user_recovery_codes`), []int{0}) // they go with the last factor
	is.Equal(s.browser().signIn("ada@example.com", goodPassword).location.Path, "/console/inbox")
	is.Equal(storagetest.Select[string](t, s.app.Config.DataDir, `SELECT action FROM audit WHERE action LIKE '%factor%' OR action LIKE '%recovery%' ORDER BY id`),
		[]string{"user.factor_added", "user.recovery_codes_created", "user.recovery_code_used", "user.factor_removed"})
}

func TestWhoMustHaveASecondFactorSetsItUpFirst(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, func(c *config.Config) { c.Console.SecondFactor = "admins" })
	agent, _ := s.joined("bo@example.com", storage.RoleAgent)
	status, _ := agent.me()
	is.Equal(status, 200)
	is.Equal(agent.open("GET", "/console/second-factor", nil).location.Path, "/console/settings/profile")

	admin, u := s.joined("ada@example.com", storage.RoleAdmin)
	for _, path := range []string{"v1/me", "factors", "people", "stream", "v1/labels", "nothing"} {
		got := admin.open("GET", "/console/api/"+path, nil)
		is.Equal(got.status, 403)
		is.Equal(codeOf(t, got), "second_factor_required")
	}
	is.Equal(admin.open("GET", "/console/inbox", nil).location.Path, "/console/second-factor")
	page := admin.open("GET", "/console/second-factor", nil)
	is.Equal(page.status, 200)
	is.True(strings.Contains(page.body, "<svg class=\"qr\""))
	ticket := regexp.MustCompile(`name="ticket" value="([^"]+)"`).FindStringSubmatch(page.body)[1]
	secret := strings.ReplaceAll(regexp.MustCompile(`into the app: <code>([A-Z2-7 ]+)</code>`).FindStringSubmatch(page.body)[1], " ", "")
	app := codeApp{t, secret, time.Now()}
	give := func(code string) seen {
		return admin.open("POST", "/console/second-factor", url.Values{"ticket": {ticket}, "code": {code}})
	}
	is.Equal(give("000000").status, 400)
	is.Equal(admin.open("POST", "/console/second-factor/passkey/start", nil).status, 403) // the address is no domain
	is.Equal(admin.open("POST", "/console/second-factor", url.Values{"ticket": {ticket}, "answer": {"{}"}}).status, 400)
	is.Equal(agent.open("POST", "/console/second-factor", url.Values{"ticket": {ticket}, "code": {app.code(0)}}).status, 303) // not the agent's
	done := give(app.code(0))
	is.Equal(done.status, 200)
	is.Equal(len(regexp.MustCompile(`<li><code>[a-z2-7-]{19}</code>`).FindAllString(done.body, -1)), 10)
	status, _ = admin.me()
	is.Equal(status, 200)

	// The operator takes it away, which ends the sessions; and then it is asked for again.
	run(t, "users", "reset-factors", "ada@example.com", "--data-dir", s.app.Config.DataDir)
	status, _ = admin.me()
	is.Equal(status, 401)
	is.Equal(admin.signIn("ada@example.com", goodPassword).location.Path, "/console/inbox")
	is.Equal(codeOf(t, admin.open("GET", "/console/api/v1/me", nil)), "second_factor_required")
	is.True(strings.Contains(run(t, "audit", "--data-dir", s.app.Config.DataDir), "user.factors_reset"))

	// An old session signs in again before.
	storagetest.Exec(t, s.app.Config.DataDir, `UPDATE user_sessions SET created_at = created_at - 600000 WHERE user_id = ?`, u.ID)
	s.app.DB.DropCaches()
	page = admin.open("GET", "/console/second-factor", nil)
	is.True(strings.Contains(page.body, "sign-in?again=1") && !strings.Contains(page.body, "<svg class=\"qr\""))
	is.True(!strings.Contains(admin.open("POST", "/console/second-factor", url.Values{}).body, "<code>"))
}
