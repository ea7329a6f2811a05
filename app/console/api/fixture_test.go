package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/app/limit"
	"confab/app/live"
	"confab/app/password"
	"confab/app/stream"
	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

// fixture is the API and the console's over a real database, with one tenant.
type fixture struct {
	t       testing.TB
	dir     string
	db      *storage.DB
	api     *api.Server
	console *Server
	tenant  storagetest.Tenant
	// countEffects counts what requests have left in the database.
	countEffects func(testing.TB) map[string]int
}

type (
	restOptions = rest.Options
	apiOptions  = api.Options
)

// testOptions are all options of a server.
type testOptions struct {
	restOptions
	apiOptions
	Options
}

// serve starts a server without a socket; change adjusts its options.
func serve(t testing.TB, change ...func(*testOptions)) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir()}
	f.db = storagetest.OpenDir(t, f.dir)
	o := testOptions{
		rest.Options{
			DB: f.db, Plans: map[string]rest.Plan{"self_hosted": {API: true, Customers: true}},
			Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		},
		api.Options{Version: "test", MaxStreams: 200},
		Options{
			Passwords: password.NewHasher(), PasswordTries: limit.NewThrottle(), ReadReceipts: true,
			CancelJob: jobs.New(jobs.Options{DB: f.db}).Cancel, InterruptJob: func(int64) {},
		},
	}
	for _, fn := range change {
		fn(&o)
	}
	f.start(o)
	f.countEffects = storagetest.WatchEffects(t, f.dir)
	f.tenant = storagetest.Seed(t, f.db, "Acme")
	return f
}

func (f *fixture) start(o testOptions) {
	f.t.Helper()
	var err error
	if o.Streams, err = stream.New(f.db); err != nil {
		f.t.Fatal(err)
	}
	o.Live = live.New(live.Options{DB: f.db, Streams: o.Streams, MaxStreams: 10, Version: o.Version, Log: o.Log})
	f.api = api.New(rest.New(o.restOptions), o.apiOptions)
	f.console = New(f.api, o.Options)

	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { o.Streams.Run(ctx) })
	group.Go(func() { o.Live.Run(ctx) })
	f.t.Cleanup(func() {
		stop()
		group.Wait()
		f.api.Close()
	})
}

// in is the same server for a subtest.
func (f *fixture) in(t testing.TB) *fixture {
	sub := *f
	sub.t = t
	return &sub
}

// answer is a response as tests look at it.
type answer struct {
	status int
	header http.Header
	body   string
}

// get reads a value out of the JSON body by a dotted path, such as "error.code".
func (a answer) get(path string) any {
	var v any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		return "not JSON: " + a.body
	}
	for name := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// text is get for strings; "" for anything else.
func (a answer) text(path string) string {
	s, _ := a.get(path).(string)
	return s
}

// code is the status and the error's code and param, in one string that reads
// well in tables: "400 invalid_field_value name".
func (a answer) code() string {
	words := []string{strconv.Itoa(a.status), a.text("error.code"), a.text("error.param")}
	return strings.TrimSpace(strings.Join(words, " "))
}

// call sends a request to the API with the tenant's key.
func (f *fixture) call(method, path, body string) answer {
	f.t.Helper()
	return f.callAs(f.tenant.Secret, method, path, body)
}

// callAs sends a request to the API with a given key.
func (f *fixture) callAs(key, method, path, body string) answer {
	f.t.Helper()
	req := httptest.NewRequest(method, "http://confab.test/v1"+path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+key)
	rec := httptest.NewRecorder()
	f.api.ServeHTTP(rec, req)
	return answer{status: rec.Code, header: rec.Header(), body: rec.Body.String()}
}

// visit calls the API of the console as somebody who is signed in. The path is relative
// to /console/api.
func (f *fixture) visit(who rest.Visitor, method, path, body string, header ...string) answer {
	f.t.Helper()
	req := httptest.NewRequest(method, "http://confab.test"+rest.ConsolePath+path, strings.NewReader(body))
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	rec := httptest.NewRecorder()
	f.console.ServeConsole(rec, req, who)
	return answer{status: rec.Code, header: rec.Header(), body: rec.Body.String()}
}

// signedIn signs in a new user of a tenant.
func (f *fixture) signedIn(tenant storagetest.Tenant, role string) rest.Visitor {
	f.t.Helper()
	u := storage.User{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, TeamPublicID: tenant.Team.PublicID, Name: "Vi", Role: role}
	s := storage.UserSession{UserAgent: "Test/1", IP: "192.0.2.9"}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error {
		if err := tx.InsertUser(&u); err != nil {
			return err
		}
		s.UserID = u.ID
		_, err := tx.InsertUserSession(&s)
		return err
	})
	who := storage.SignedIn{Session: s, User: u, Organization: tenant.Organization}
	return rest.Visitor{SignedIn: who, Find: func(context.Context) (storage.SignedIn, error) { return who, nil }}
}

// again reads what a visitor has become.
func (f *fixture) again(who rest.Visitor) rest.Visitor {
	f.t.Helper()
	storagetest.View(f.t, f.db, func(rx *storage.Rx) (err error) {
		who.User, err = rx.UserByID(who.User.ID)
		return err
	})
	return who
}

// exec changes what no method of storage changes yet, and drops the API's caches.
func (f *fixture) exec(query string, args ...any) {
	f.t.Helper()
	storagetest.Exec(f.t, f.dir, query, args...)
	f.db.DropCaches()
}

// effects is what requests have left in the database, as text.
func (f *fixture) effects() string {
	f.t.Helper()
	return fmt.Sprint(f.countEffects(f.t))
}
