package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/config"
	"confab/app/datadir"
	"confab/app/doctor"
	"confab/app/replica"
	"confab/jobs/provider"
	"confab/storage"
	"confab/storage/objects/objectstest"
	"confab/storage/storagetest"
)

// examined examines a new data directory, with changes to the options.
func examined(t *testing.T, change func(dir string, o *doctor.Options)) map[string]doctor.Finding {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := datadir.Dir(dir).Prepare(); err != nil {
		t.Fatal(err)
	}
	db, err := storage.Open(storagetest.Options(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	o := doctor.Options{Sources: config.Sources{Environ: []string{"CONFAB_DATA_DIR=" + dir, "CONFAB_PROVIDER__BASE_URL=http://127.0.0.1:1"}}, Schema: storagetest.Schema(t)}
	change(dir, &o)
	found := make(map[string]doctor.Finding)
	doctor.Examine(context.Background(), o, func(f doctor.Finding) {
		if found[f.Check].Status != doctor.Broken { // the worst is kept
			found[f.Check] = f
		}
		if (f.Advice == "") != (f.Status == doctor.OK) {
			t.Errorf("advice is for what is wrong: %+v", f)
		}
	})
	return found
}

func TestDiskSpace(t *testing.T) {
	for name, c := range map[string]struct {
		free   uint64
		err    error
		status string
	}{
		"plenty":     {50 << 30, nil, doctor.OK},
		"little":     {500 << 20, nil, doctor.Warning},
		"none":       {10 << 20, nil, doctor.Broken},
		"unreadable": {0, errors.New("input/output error"), doctor.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			found := examined(t, func(_ string, o *doctor.Options) {
				o.Free = func(string) (uint64, error) { return c.free, c.err }
			})
			is.Equal(found["disk space"].Status, c.status)
			if c.err == nil && c.status != doctor.OK {
				is.True(strings.Contains(found["disk space"].Advice, "confab purge"))
			}
		})
	}
}

func TestEveryBadSettingIsAFinding(t *testing.T) {
	is := is.New(t)
	var found []doctor.Finding
	doctor.Examine(context.Background(), doctor.Options{Sources: config.Sources{Environ: []string{"CONFAB_JOBS__WORKERS=0", "CONFAB_LOG__LEVEL=loud"}}},
		func(f doctor.Finding) { found = append(found, f) })
	is.Equal(len(found), 2) // and nothing is guessed beyond
	for i, key := range []string{"jobs.workers", "log.level"} {
		is.Equal(found[i].Status, doctor.Broken)
		is.True(strings.Contains(found[i].Message, key))
	}
}

func TestASandboxIsExaminedWithItsOwnSettings(t *testing.T) {
	is := is.New(t)
	found := examined(t, func(dir string, _ *doctor.Options) {
		is.NoErr(os.WriteFile(filepath.Join(dir, "sandbox.json"), []byte(`{"base_url":"http://127.0.0.1:8080/v1","simulator_url":"http://127.0.0.1:8081","app_secret":"s","verify_token":"v"}`), 0o600))
	})
	_, asked := found["provider"]
	is.True(!asked) // it runs with the sandbox, which does not
	is.True(strings.Contains(found["server"].Advice, "confab sandbox"))
	found = examined(t, func(dir string, _ *doctor.Options) {
		is.NoErr(os.WriteFile(filepath.Join(dir, "sandbox.json"), []byte(`{`), 0o600))
	})
	is.Equal(found["sandbox"].Status, doctor.Broken)
}

func TestSettingsThatDoNotFitTogether(t *testing.T) {
	for name, c := range map[string]struct {
		vars  []string
		check string
		says  string
	}{
		"open, no https":      {[]string{"CONFAB_SERVER__LISTEN=0.0.0.0:8080"}, "exposure", "unencrypted"},
		"open, insecure URLs": {[]string{"CONFAB_SERVER__LISTEN=0.0.0.0:8080", "CONFAB_SERVER__PUBLIC_URL=https://chat.example.com", "CONFAB_SECURITY__ALLOW_INSECURE_URLS=true"}, "exposure", "http addresses"},
		"a proxy not trusted": {[]string{"CONFAB_SERVER__PUBLIC_URL=https://chat.example.com"}, "proxy", "none is trusted"},
		"not on port 443":     {[]string{"CONFAB_SERVER__TLS_DOMAINS=localhost.localdomain"}, "certificate", ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			found := examined(t, func(_ string, o *doctor.Options) { o.Sources.Environ = append(o.Sources.Environ, c.vars...) })
			is.True(found[c.check].Status != doctor.OK)
			is.True(strings.Contains(found[c.check].Message, c.says))
		})
	}
}

// TestTheReplicaIsExaminedWithoutAServer: how far it is behind is not known, but when it was verified.
func TestTheReplicaIsExaminedWithoutAServer(t *testing.T) {
	for name, c := range map[string]struct {
		verified time.Duration // ago; 0 for never
		status   string
		says     string
	}{
		"new":                {0, doctor.OK, "No restore of it was verified yet."},
		"verified":           {25 * time.Hour, doctor.OK, "A restore of it was verified at 2"},
		"not verified since": {27 * time.Hour, doctor.Warning, "No restore of the replica was verified in the last 26 hours."},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			t.Setenv("SSL_CERT_FILE", "") // put back afterwards
			bucket := objectstest.New(t)
			found := examined(t, func(dir string, o *doctor.Options) {
				o.Sources.Environ = append(o.Sources.Environ, "CONFAB_REPLICA__URL="+bucket.Address("confab"),
					"CONFAB_REPLICA__ACCESS_KEY_ID="+objectstest.Key, "CONFAB_REPLICA__SECRET_ACCESS_KEY="+objectstest.Secret)
				settings, err := config.Load(o.Sources)
				is.NoErr(err)
				place, err := replica.PlaceOf(settings.Replica)
				is.NoErr(err)
				db := storagetest.OpenDir(t, dir)
				_, err = replica.Open(t.Context(), replica.Options{
					Settings: replica.Settings{Place: place, Dir: dir, Interval: settings.Replica.Interval}, DB: db, Log: slog.New(slog.DiscardHandler),
				})
				is.NoErr(err)
				is.NoErr(db.Close())
				if c.verified > 0 {
					storagetest.Exec(t, dir, `INSERT INTO meta (name, value) VALUES ('replica_verified_at', CAST(? AS BLOB))`,
						storage.Now().Add(-c.verified))
				}
				t.Setenv("AWS_CA_BUNDLE", "/nowhere") // the engine's client fails on it
			})["replica"]
			is.Equal(found.Status, c.status) // found.Message
			is.True(strings.Contains(found.Message, c.says))
			is.True(strings.Contains(found.Message, "is unknown, because no server is running"))
		})
	}
}

func TestTheURLOfAReplicaIsShownAsItIs(t *testing.T) {
	is := is.New(t)
	address := ""
	found := examined(t, func(dir string, o *doctor.Options) {
		address = "file://" + storage.DatabaseFile(dir) + "/replica" // below a file
		o.Sources.Environ = append(o.Sources.Environ, "CONFAB_REPLICA__URL="+address)
	})["replica"]
	is.Equal(found.Status, doctor.Broken)
	is.True(strings.Contains(found.Message, address+": "))
}

// What keeps people from signing in through the identity provider is said, with what to do.
func TestTheIdentityProvider(t *testing.T) {
	var issuer string
	var late time.Duration
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(-late).UTC().Format(http.TimeFormat))
		if r.URL.Path != "/.well-known/openid-configuration" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":"https://id.test/auth","token_endpoint":"https://id.test/token","jwks_uri":"https://id.test/keys"}`, issuer)
	}))
	defer p.Close()
	gone := httptest.NewServer(nil)
	gone.Close()

	for name, c := range map[string]struct {
		issuer, says string        // where the settings have it, and what it says it is
		late         time.Duration // its clock
		create       string
		orgs         int
		status       string
		words        string
		advice       string
	}{
		"well":                 {p.URL, p.URL, 0, "", 0, doctor.OK, "/console/oidc/callback", ""},
		"down":                 {gone.URL, "", 0, "", 0, doctor.Broken, "cannot be used", "confab users link"},
		"another issuer":       {p.URL, p.URL + "/other", 0, "", 0, doctor.Broken, "cannot be used", "exactly as the provider writes it"},
		"not there":            {p.URL + "/realm", "", 0, "", 0, doctor.Broken, "404", "oidc.issuer"},
		"clock behind":         {p.URL, p.URL, 10 * time.Minute, "", 0, doctor.Broken, " apart", "timedatectl"},
		"clock ahead":          {p.URL, p.URL, -time.Hour, "", 0, doctor.Broken, " apart", "timedatectl"},
		"one organization":     {p.URL, p.URL, 0, "agent", 1, doctor.OK, "answers", ""},
		"two organizations":    {p.URL, p.URL, 0, "agent", 2, doctor.Broken, "oidc.organization is not set", "confab orgs list"},
		"no such organization": {p.URL, p.URL, 0, "agent org_01HZZZZZZZZZZZZZZZZZZZZZZZ", 1, doctor.Broken, "no organization org_01HZ", "confab orgs list"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			issuer, late = c.says, c.late
			found := examined(t, func(dir string, o *doctor.Options) {
				create, organization, _ := strings.Cut(c.create, " ")
				o.Sources.Environ = append(o.Sources.Environ, "CONFAB_OIDC__ISSUER="+c.issuer, "CONFAB_OIDC__CLIENT_ID=confab", "CONFAB_OIDC__NAME=Acme ID")
				if create != "" {
					o.Sources.Environ = append(o.Sources.Environ, "CONFAB_OIDC__CREATE="+create, "CONFAB_OIDC__DOMAINS=example.com", "CONFAB_OIDC__ORGANIZATION="+organization)
				}
				db := storagetest.OpenDir(t, dir)
				for i := range c.orgs {
					storagetest.Seed(t, db, fmt.Sprint("Org ", i))
				}
				is.NoErr(db.Close())
			})["sign-in"]
			is.Equal(found.Status, c.status) // found.Message
			is.True(strings.Contains(found.Message, c.words))
			is.True(strings.Contains(found.Advice, c.advice))
		})
	}
}

func TestTheVersionInUseIsTheNewest(t *testing.T) {
	is.New(t).Equal(config.Default().Provider.Version, provider.NewestVersion)
}
