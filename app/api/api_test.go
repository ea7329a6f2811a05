package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"confab/app/api/rest"
	"confab/app/stream"
	"confab/storage"
	"confab/storage/storagetest"
)

// fixture is a served API over a real database, with one tenant. Everything
// that its client sends and receives is held against openapi.json.
type fixture struct {
	t        testing.TB
	dir      string
	files    string // where the media library lies, if there is one
	db       *storage.DB
	api      *Server
	url      string
	client   *http.Client
	tenant   storagetest.Tenant
	log      *logBuffer
	upstream *played // what the API asks, unless the test has another
	options  []func(*testOptions)
	extra    *[]string     // beginnings of the paths that the test mounted itself
	stop     func()        // ends the API and closes the database, once
	heard    map[int64]int // how many events of an organization were sent
	// countEffects counts what requests have left in the database.
	countEffects func(testing.TB) map[string]int
	// committed, if it is set, is called on the writer after each commit.
	committed *atomic.Pointer[func()]
}

// selfHosted is the plan of the tests: everything allowed, no rate limit.
var selfHosted = rest.Plan{API: true, Customers: true}

// serve starts an API behind a real socket; change adjusts its options.
func serve(t testing.TB, change ...func(*testOptions)) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir(), log: &logBuffer{}, options: change, extra: new([]string)}
	f.start()
	f.countEffects = storagetest.WatchEffects(t, f.dir)
	f.tenant = storagetest.Seed(t, f.db, "Acme")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.api.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	f.url = server.URL + "/v1"
	f.client = newClient(conforming{t, server.Client().Transport, f.extra})
	return f
}

// serveDirectly starts an API without a socket: for speed, and for a synctest
// bubble, whose clock a real one would hold up.
func serveDirectly(t testing.TB, change ...func(*testOptions)) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir(), log: &logBuffer{}, options: change, extra: new([]string), url: "http://confab.test/v1"}
	f.start()
	f.countEffects = storagetest.WatchEffects(t, f.dir)
	f.tenant = storagetest.Seed(t, f.db, "Acme")
	f.client = newClient(conforming{t, direct{f}, f.extra})
	return f
}

// newClient makes a client that looks at redirects instead of following them.
func newClient(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// in is the same API for a subtest.
func (f *fixture) in(t testing.TB) *fixture {
	sub := *f
	transport := f.client.Transport.(conforming)
	transport.t = t
	sub.t, sub.client = t, newClient(transport)
	return &sub
}

// start opens the database and the API over it.
func (f *fixture) start() {
	f.t.Helper()
	where := storagetest.Options(f.t, f.dir)
	f.committed = new(atomic.Pointer[func()])
	where.OnCommit = func(storage.Commit) {
		if tell := f.committed.Load(); tell != nil {
			(*tell)()
		}
	}
	db, err := storage.Open(where)
	if err != nil {
		f.t.Fatal(err)
	}
	o := testOptions{
		rest.Options{
			DB: db, Plans: map[string]rest.Plan{"self_hosted": selfHosted},
			Log: slog.New(slog.NewTextHandler(f.log, nil)),
		},
		Options{Version: "test", MaxStreams: 200},
	}
	f.upstream = &played{}
	o.Accounts = f.upstream.accounts(f.t, db)
	for _, change := range f.options {
		change(&o)
	}
	if o.Streams, err = stream.New(db); err != nil {
		f.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { o.Streams.Run(ctx) })
	api := New(rest.New(o.restOptions), o.Options)
	f.db, f.api = db, api
	f.stop = sync.OnceFunc(func() {
		stop()
		group.Wait()
		api.Close()
		if err := db.Close(); err != nil {
			f.t.Error(err)
		}
	})
	f.t.Cleanup(f.stop)
}

// restart ends the API and starts another one over the same files.
func (f *fixture) restart() {
	f.t.Helper()
	f.stop()
	f.start()
}

// mount adds routes of the test to the API's own, before the first request.
func (f *fixture) mount(routes ...rest.Route) {
	for _, rt := range routes {
		prefix, _, _ := strings.Cut(rt.Path, ":")
		*f.extra = append(*f.extra, "/v1"+prefix)
	}
	f.api.table = rest.NewTable(append(f.api.Routes(), routes...))
}

// direct answers requests without a network.
type direct struct{ f *fixture }

func (d direct) RoundTrip(req *http.Request) (*http.Response, error) {
	in := req.Clone(req.Context())
	in.RemoteAddr = "192.0.2.1:40000"
	if in.Body == nil {
		in.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	d.f.api.ServeHTTP(rec, in)
	return rec.Result(), nil
}

// logBuffer collects the server's log, which several goroutines write.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// lines are those that contain text.
func (b *logBuffer) lines(text string) (found []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for line := range strings.Lines(b.text.String()) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
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

// call sends a request with the tenant's key; header holds "Name: value" lines.
func (f *fixture) call(method, path, body string, header ...string) answer {
	f.t.Helper()
	return f.callAs(f.tenant.Secret, method, path, body, header...)
}

// callAs sends a request with a given key, or with none.
func (f *fixture) callAs(key, method, path, body string, header ...string) answer {
	f.t.Helper()
	req, err := http.NewRequest(method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	return f.do(req)
}

// do sends a request as it is.
func (f *fixture) do(req *http.Request) answer {
	f.t.Helper()
	res, err := f.client.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return answer{status: res.StatusCode, header: res.Header, body: string(text)}
}

// labels counts the labels of all organizations, so that a test sees what a
// refused request left.
func (f *fixture) labels() (n int) {
	f.t.Helper()
	storagetest.View(f.t, f.db, func(rx *storage.Rx) error {
		orgs, err := rx.Organizations()
		for _, o := range orgs {
			rows, listErr := rx.Labels(o.ID, nil, storage.First, 1000)
			if listErr != nil {
				return listErr
			}
			n += len(rows)
		}
		return err
	})
	return n
}

// logged flushes the API log and returns it, oldest first.
func (f *fixture) logged() (calls []storage.APICall) {
	f.t.Helper()
	if err := f.api.Flush(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	storagetest.View(f.t, f.db, func(rx *storage.Rx) (err error) {
		calls, err = rx.APICalls(storage.APICallFilter{Limit: 1000})
		return err
	})
	return calls
}

// change stores an organization as changed by fn.
func (f *fixture) change(tenant storagetest.Tenant, fn func(*storage.Organization)) {
	f.t.Helper()
	org := tenant.Organization
	fn(&org)
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.UpdateOrganization(&org) })
}

type restOptions = rest.Options

// testOptions are all options of a server.
type testOptions struct {
	restOptions
	Options
}
