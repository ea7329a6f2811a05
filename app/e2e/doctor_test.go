package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/doctor"
	"confab/storage"
	"confab/storage/storagetest"
)

// patient is an installation that a doctor is called to.
type patient struct {
	*server
	sim *simulated
}

// examine runs confab doctor, and returns its findings and whether something is
// broken.
func (p *patient) examine(args ...string) (found []doctor.Finding, broken bool) {
	p.t.Helper()
	cmd := confab(p.t, append([]string{"doctor", "--json", "--data-dir", p.dir}, args...)...)
	cmd.Env = append(append(cmd.Env, "CONFAB_SERVER__LISTEN="+p.address), p.env...)
	out, err := cmd.Output()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && (!failed || exit.ExitCode() != 1) {
		p.t.Fatalf("doctor: %v: %s", err, exit.Stderr)
	}
	if err := json.Unmarshal(out, &found); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	return found, failed
}

// newPatient is a healthy one: a server with a connected number at a simulator.
func newPatient(t *testing.T, start bool) *patient {
	t.Helper()
	s := prepareServer(t)
	p := &patient{server: s, sim: simulate(t, s)}
	p.sim.connect(s)
	s.env = append(s.env, "CONFAB_PROVIDER__APP_ID="+p.sim.App)
	storagetest.Exec(t, s.dir, `
		INSERT INTO users (id, organization_id, team_id, name, email, created_at, role, sign_in_email, password_hash)
		SELECT '01JQ0Z8M4T9V2X3W5Y6A7B8C9D', organization_id, id, 'Ada', 'ada@example.com', 1, 'admin', 'ada@example.com', '$argon2id$'
		FROM teams LIMIT 1`)
	if start {
		s.start()
	}
	return p
}

// again is the same patient for another examination.
func (p *patient) again(t *testing.T) *patient {
	s := *p.server
	s.t, s.env = t, slices.Clip(s.env)
	return &patient{server: &s, sim: p.sim}
}

func TestADoctorFindsNothingAtAHealthyServer(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPatient(t, true)
	found, broken := p.examine()
	is.True(!broken)
	for _, f := range found {
		if f.Status != doctor.OK {
			t.Errorf("%+v", f)
		}
		is.Equal(f.Advice, "") // there is nothing to do
	}
	is.True(len(found) >= 12)
	quick, _ := p.examine("--quick")
	is.True(len(quick) < len(found))
}

// fault is something wrong, and what a doctor must say about it.
type fault struct {
	plant  func(p *patient) // in a patient of its own
	vary   func(p *patient) // around one who stays as he was, and is examined again
	check  string
	status string
	says   string
	advice string
	down   bool // without a server
}

// faults are all that are planted, each alone.
func faults() map[string]fault {
	set := func(vars ...string) func(*patient) { return func(p *patient) { p.env = append(p.env, vars...) } }
	mode := func(name string, m os.FileMode) func(*patient) {
		return func(p *patient) { p.must(os.Chmod(filepath.Join(p.dir, name), m)) }
	}
	sql := func(query string, args ...any) func(*patient) {
		return func(p *patient) { storagetest.Exec(p.t, p.dir, query, args...) }
	}
	sim := func(method, path, body string) func(*patient) {
		return func(p *patient) { p.sim.do(method, path, body, nil) }
	}
	return map[string]fault{
		"a misspelt variable": {vary: set("CONFAB_SERVER__LISTN=x"), check: "variables", status: doctor.Warning, says: "CONFAB_SERVER__LISTN is not a setting", advice: "Fix its name"},
		"a bad setting":       {vary: set("CONFAB_JOBS__WORKERS=0"), check: "settings", status: doctor.Broken, says: "jobs.workers", advice: "confab config check"},
		"no data directory": {vary: func(p *patient) { p.dir = filepath.Join(p.t.TempDir(), "none") }, check: "data directory", status: doctor.Broken,
			says: "no confab database", advice: "--data-dir", down: true},
		"a key that others may read":       {plant: mode("master.key", 0o644), check: "permissions", status: doctor.Broken, says: "master.key", advice: "chmod go="},
		"a database that others may read":  {plant: mode("confab.db", 0o640), check: "permissions", status: doctor.Broken, says: "confab.db", advice: "chmod go="},
		"a directory that others may read": {plant: mode(".", 0o755), check: "permissions", status: doctor.Broken, says: "can read", advice: "chmod go="},
		"no master key": {plant: func(p *patient) { p.must(os.Remove(filepath.Join(p.dir, "master.key"))) }, check: "master key", status: doctor.Broken,
			says: "is missing", advice: "from a backup", down: true},
		"another master key": {vary: set("CONFAB_MASTER_KEY=" + strings.Repeat("A", 43) + "="), check: "master key", status: doctor.Broken,
			says: "does not match", advice: "Restore the key", down: true},
		"a database of the release before": {plant: sql(fmt.Sprint("PRAGMA user_version = ", storage.SchemaVersion-1)), check: "database", status: doctor.Broken,
			says: "restart the server with this build", advice: "start the server: it upgrades the database", down: true},
		"a corrupt page": {plant: spoilPage, check: "database", status: doctor.Broken, says: "corrupt", advice: "restore the latest backup", down: true},
		"a row that points to nothing": {plant: sql(`PRAGMA foreign_keys = OFF; INSERT INTO teams (public_id, organization_id, name, created_at) VALUES ('team_x', 99, 'x', 1)`),
			check: "database", status: doctor.Broken, says: "point to nothing", advice: "restore the latest backup"},
		"a clock that went back": {plant: sql(`INSERT INTO api_log (method, path, status, latency_us, ip, request_id, created_at) VALUES ('GET', '/', 200, 1, '', '', ?)`,
			storage.Now().Add(time.Hour)), check: "clock", status: doctor.Broken, says: "ahead of this machine's clock", advice: "Set the clock"},
		"a clock that leapt ahead": {plant: sql(`INSERT OR REPLACE INTO meta (name, value) VALUES ('clock', CAST(json_object('expected', ?1, 'seen', ?1, 'ran', 0) AS BLOB))`,
			storage.Now().Add(-200*24*time.Hour).String()), check: "clock", status: doctor.Warning, says: "200 days ahead", advice: "confab purge --confirm-clock"},
		"a provider that is not there": {vary: set("CONFAB_PROVIDER__BASE_URL=http://127.0.0.1:1"), check: "provider", status: doctor.Broken,
			says: "cannot be reached", advice: "provider.base_url"},
		"a provider with another clock": {vary: otherClock, check: "clock", status: doctor.Broken, says: "off the provider's", advice: "Set the clock"},
		"a token that was revoked":      {plant: wrongToken, check: "accounts", status: doctor.Broken, says: "rejects the token", advice: "confab accounts connect", down: true},
		"a version that has ended": {vary: set("CONFAB_PROVIDER__VERSION=v20.0"), check: "API version", status: doctor.Broken,
			says: "v20.0 ended on 2026-09-24", advice: `provider.version = "v26.0"`},
		"a version that nobody knows": {vary: set("CONFAB_PROVIDER__VERSION=v99.0"), check: "API version", status: doctor.Warning,
			says: "v99.0 is not a version", advice: `provider.version = "v26.0"`},
		"a token without a permission": {plant: sim("POST", "/_sim/tokens", `{"access_token":"storm-token","scopes":["whatsapp_business_management"]}`), check: "token",
			status: doctor.Broken, says: "lacks the permission whatsapp_business_messaging", advice: "confab accounts connect"},
		"an app that is not subscribed": {plant: unsubscribe, check: "subscription", status: doctor.Broken, says: "not subscribed", advice: "confab accounts connect"},
		"callbacks that go elsewhere":   {plant: elsewhere, check: "callback URL", status: doctor.Broken, says: "posts callbacks to http://", advice: "as the webhook of your app"},
		"a verification that fails": {vary: set("CONFAB_PROVIDER__VERIFY_TOKEN=other"), check: "callback URL", status: doctor.Broken,
			says: "does not answer the provider's verification", advice: "/provider/webhook"},
		"a display name that was declined": {plant: sim("PATCH", "/_sim/settings", `{"name_status":"DECLINED"}`), check: "display name", status: doctor.Warning,
			says: "is declined", advice: "another display name"},
		"no payment method": {plant: sim("PATCH", "/_sim/settings", `{"payment_method":false}`), check: "payment method", status: doctor.Warning,
			says: "no valid payment method", advice: "Add a payment method"},
		"a low limit": {plant: sim("PATCH", "/_sim/settings", `{"messaging_limit":"TIER_50"}`), check: "messaging limit", status: doctor.Warning,
			says: "few people a day (TIER_50)", advice: "Verify your business"},
		"no secret for callbacks": {vary: set("CONFAB_PROVIDER__APP_SECRET="), check: "callbacks", status: doctor.Broken, says: "every callback is refused", advice: "CONFAB_PROVIDER__APP_SECRET"},
		"a public URL that nobody answers": {vary: set("CONFAB_SERVER__PUBLIC_URL=http://127.0.0.1:1"), check: "public URL", status: doctor.Broken,
			says: "cannot be reached", advice: "server.public_url"},
		"a public URL of another": {vary: otherSite, check: "public URL", status: doctor.Broken, says: "reaches another server", advice: "server.public_url"},
		"a public URL that is no name": {vary: set("CONFAB_SERVER__PUBLIC_URL=http://chat.invalid"), check: "public URL", status: doctor.Broken,
			says: "cannot be resolved", advice: "add an A or AAAA record", down: true},
		"a number that is degraded": {plant: sql(`UPDATE accounts SET status = 'degraded', status_reason = 'token expired'`), check: "accounts", status: doctor.Warning,
			says: "is degraded (token expired)", advice: "confab accounts check", down: true},
		"a number that is restricted": {plant: sql(`UPDATE accounts SET restricted = 1`), check: "accounts", status: doctor.Warning, says: "has restricted", advice: "business manager"},
		"a certificate that expired":  {vary: withCertificate(-time.Hour, "127.0.0.1"), check: "certificate", status: doctor.Broken, says: "expired on", advice: "Renew", down: true},
		"a certificate that soon expires": {vary: withCertificate(48*time.Hour, "127.0.0.1"), check: "certificate", status: doctor.Warning,
			says: "expires on", advice: "Renew", down: true},
		"a certificate for another name": {vary: func(p *patient) {
			withCertificate(1000*time.Hour, "other.example.com")(p)
			p.env = append(p.env, "CONFAB_SERVER__PUBLIC_URL=https://10.1.2.3")
		}, check: "certificate", status: doctor.Broken, says: "10.1.2.3", advice: "Get a certificate for 10.1.2.3", down: true},
		"no certificate where it should be": {vary: set("CONFAB_SERVER__TLS_CERT=none.pem", "CONFAB_SERVER__TLS_KEY=none.pem"), check: "certificate",
			status: doctor.Broken, says: "none.pem", advice: "PEM", down: true},
		"a job that was given up": {plant: sql(`INSERT INTO jobs (kind, args, state, due_at, created_at) VALUES ('send', '{}', 'failed', 1, 1)`),
			check: "jobs", status: doctor.Warning, says: "1 send job failed permanently", advice: "confab jobs list --state failed"},
		"a job that nobody does": {plant: sql(`INSERT INTO jobs (kind, args, state, due_at, created_at) VALUES ('strange', '{}', 'due', 1, 1)`),
			check: "jobs", status: doctor.Broken, says: "have been due for", advice: "restart it"},
		"a job that waits for a server": {plant: sql(`INSERT INTO jobs (kind, args, state, due_at, created_at) VALUES ('send', '{}', 'due', 1, 1)`),
			check: "jobs", status: doctor.Warning, says: "no server is running", advice: "confab serve", down: true},
		"a job about a delivery that is gone": {plant: sql(`INSERT INTO jobs (kind, lane, args, state, due_at, created_at) VALUES ('deliver', 'deliver:wbs_1', '{"delivery":"wbd_1"}', 'held', 1, 1)`),
			check: "jobs", status: doctor.Warning, says: "1 job is waiting for deleted deliveries", advice: "enabled or deleted", down: true},
		"a file that is missing": {plant: sql(`INSERT INTO media (id, account_id, origin, url_token, sha256, mime_type, size, created_at) VALUES ('med_1', 1, 'library', 't', ?, 'x/y', 1, 1)`,
			strings.Repeat("ab", 32)), check: "media", status: doctor.Broken, says: "1 of 1 file missing: abababababab", advice: "from a backup"},
		"a file of nobody": {plant: orphan, check: "media", status: doctor.Warning, says: "not in the database", advice: "removes them every 6 hours", down: true},
		"an endpoint that is disabled": {plant: sql(`INSERT INTO subscriptions (id, organization_id, url, events, status, disabled_reason, created_at, updated_at)
			VALUES ('wbs_1', 1, 'https://x.test', '["*"]', 'disabled', 'endpoint_gone', 1, 1)`), check: "webhooks", status: doctor.Warning,
			says: "wbs_1 is disabled (endpoint_gone)", advice: "confab webhooks enable wbs_1"},
		"an endpoint whose secrets end": {plant: sql(`INSERT INTO subscriptions (id, organization_id, url, events, status, created_at, updated_at)
			VALUES ('wbs_1', 1, 'https://x.test', '["*"]', 'active', 1, 1)`), check: "webhooks", status: doctor.Warning,
			says: "All signing secrets of wbs_1 expire", advice: "POST /v1/webhook_subscriptions/wbs_1/secrets"},
		"a plan that is gone": {plant: sql(`UPDATE organizations SET plan = 'gold'`), check: "plans", status: doctor.Warning, says: "has the plan gold", advice: "confab orgs set"},
		"no server":           {vary: func(*patient) {}, check: "server", status: doctor.Warning, says: "No server is running", advice: "confab serve", down: true},
		"an open door":        {vary: set("CONFAB_SERVER__LISTEN=0.0.0.0:8080"), check: "exposure", status: doctor.Warning, says: "unencrypted", advice: "https", down: true},
	}
}

// TestADoctorFindsEachPlantedFault plants one fault at a time. Nothing else may
// be called broken because of it.
func TestADoctorFindsEachPlantedFault(t *testing.T) {
	t.Parallel()
	up, down := newPatient(t, true), newPatient(t, false)
	for name, f := range faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			var p *patient
			switch {
			case f.plant != nil:
				p = newPatient(t, !f.down)
				f.plant(p)
			case f.down:
				p = down.again(t)
				f.vary(p)
			default:
				p = up.again(t)
				f.vary(p)
			}
			found, broken := p.examine()
			i := slices.IndexFunc(found, func(x doctor.Finding) bool { return x.Check == f.check && x.Status == f.status })
			if i < 0 {
				t.Fatalf("not found: %+v", found)
			}
			is.True(strings.Contains(found[i].Message, f.says))
			is.True(strings.Contains(found[i].Advice, f.advice))
			is.Equal(broken, f.status == doctor.Broken) // what the exit status says
			for j, other := range found {
				if other.Status == doctor.Broken && j != i {
					t.Errorf("and %+v", other)
				}
			}
		})
	}
}

func (p *patient) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// spoilPage breaks the heads of pages after the first ones.
func spoilPage(p *patient) {
	const page = 4096
	file := storage.DatabaseFile(p.dir)
	text, err := os.ReadFile(file)
	p.must(err)
	for at := 40 * page; at < len(text); at += page {
		copy(text[at:], strings.Repeat("\xa5", 8))
	}
	p.must(os.WriteFile(file, text, 0o600))
}

// otherClock is a provider whose clock is a day ahead.
func otherClock(p *patient) {
	target := "http://" + p.sim.address
	played := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req, err := http.NewRequest(r.Method, target+r.URL.RequestURI(), r.Body)
		if err != nil {
			return
		}
		req.Header = r.Header
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return
		}
		defer res.Body.Close()
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.Header().Set("Date", time.Now().Add(24*time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(res.StatusCode)
		io.Copy(w, res.Body)
	}))
	p.t.Cleanup(played.Close)
	p.env = append(p.env, "CONFAB_PROVIDER__BASE_URL="+played.URL)
}

// unsubscribe takes our app from the account's.
func unsubscribe(p *patient) {
	req, err := http.NewRequest("DELETE", "http://"+p.sim.address+"/"+p.sim.WABA+"/subscribed_apps", nil)
	p.must(err)
	req.Header.Set("Authorization", "Bearer storm-token")
	res, err := http.DefaultClient.Do(req)
	p.must(err)
	res.Body.Close()
}

// elsewhere makes the provider post callbacks to another receiver.
func elsewhere(p *patient) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.URL.Query().Get("hub.challenge"))
	}))
	p.t.Cleanup(site.Close)
	form := url.Values{"object": {"whatsapp_business_account"}, "callback_url": {site.URL}, "verify_token": {"v"}, "access_token": {p.sim.App + "|" + stormSecret}}
	res, err := http.PostForm("http://"+p.sim.address+"/"+p.sim.App+"/subscriptions", form)
	p.must(err)
	res.Body.Close()
}

// wrongToken gives the account a token that the provider does not know.
func wrongToken(p *patient) {
	db, err := storage.Open(storagetest.Options(p.t, p.dir))
	p.must(err)
	defer db.Close()
	var id string
	storagetest.View(p.t, db, func(rx *storage.Rx) error {
		a, err := rx.AccountByNumber(p.sim.Number)
		id = a.PublicID
		return err
	})
	storagetest.Exec(p.t, p.dir, `UPDATE accounts SET access_token = ?`, db.Seal("access token of "+id, []byte("wrong")))
}

// otherSite is what answers where confab should.
func otherSite(p *patient) {
	site := httptest.NewServer(http.NotFoundHandler())
	p.t.Cleanup(site.Close)
	p.env = append(p.env, "CONFAB_SERVER__PUBLIC_URL="+site.URL)
}

// withCertificate sets a certificate that is good for so long.
func withCertificate(left time.Duration, host string) func(*patient) {
	return func(p *patient) {
		t, ok := p.t.(*testing.T)
		if !ok {
			p.t.Fatal("not a test")
		}
		cert, key := issue(t, t.TempDir(), 1, time.Now().Add(left), host)
		p.env = append(p.env, "CONFAB_SERVER__TLS_CERT="+cert, "CONFAB_SERVER__TLS_KEY="+key)
	}
}

// orphan leaves an old file that no row names.
func orphan(p *patient) {
	name := strings.Repeat("cd", 32)
	dir := filepath.Join(p.dir, "media", name[:2])
	p.must(os.MkdirAll(dir, 0o700))
	p.must(os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	old := time.Now().Add(-48 * time.Hour)
	p.must(os.Chtimes(filepath.Join(dir, name), old, old))
}
