package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// fixture serves a few routes over a real database, with one tenant.
type fixture struct {
	t      testing.TB
	dir    string
	db     *storage.DB
	api    *Server
	table  *Table
	url    string
	client *http.Client
	tenant storagetest.Tenant
	log    *logBuffer
	change []func(*Options)
	stop   func() // ends the server and closes the database, once
}

// serve starts a server on a real socket; change adjusts its options.
func serve(t testing.TB, change ...func(*Options)) *fixture {
	t.Helper()
	f := newFixture(t, change)
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url, f.client = server.URL+"/v1", server.Client()
	f.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return f
}

// serveDirectly starts a server without a socket, for a synctest bubble, whose clock a real
// one would hold up.
func serveDirectly(t testing.TB, change ...func(*Options)) *fixture {
	t.Helper()
	f := newFixture(t, change)
	f.url, f.client = "http://confab.test/v1", &http.Client{Transport: direct{f}}
	return f
}

func newFixture(t testing.TB, change []func(*Options)) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir(), log: &logBuffer{}, change: change}
	f.start()
	f.tenant = storagetest.Seed(t, f.db, "Acme")
	return f
}

// start opens the database and the server over it.
func (f *fixture) start() {
	f.t.Helper()
	where := storagetest.Options(f.t, f.dir)
	db, err := storage.Open(where)
	if err != nil {
		f.t.Fatal(err)
	}

	o := Options{
		DB: db, Plans: map[string]Plan{"self_hosted": {API: true, Customers: true}},
		Log: slog.New(slog.NewTextHandler(f.log, nil)),
	}
	for _, change := range f.change {
		change(&o)
	}
	api := New(o)
	f.db, f.api = db, api
	f.mount()

	f.stop = sync.OnceFunc(func() {
		api.Close()
		if err := db.Close(); err != nil {
			f.t.Error(err)
		}
	})
	f.t.Cleanup(f.stop)
}

// restart ends the server and starts another one over the same files.
func (f *fixture) restart() {
	f.t.Helper()
	f.stop()
	f.start()
}

// mount serves further routes beside those of every test.
func (f *fixture) mount(more ...Route) { f.table = NewTable(append(f.routes(), more...)) }

func (f *fixture) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	f.api.Serve(w, &Request{HTTP: hr, Prefix: "/v1", Table: f.table})
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
	d.f.ServeHTTP(rec, in)
	return rec.Result(), nil
}

// routes are those of every test: one resource, who calls, and what needs no key.
func (f *fixture) routes() []Route {
	find := func(rx *storage.Rx, r *Request) error { _, err := f.label(rx, r); return err }
	return []Route{
		At("GET", "/health", f.health, Public, nil),
		At("GET", "/document", document, Public, nil),
		At("GET", "/me", func(r *Request) (Reply, error) { return OK(map[string]string{"id": r.Org.PublicID}), nil }, 0, nil),
		At("GET", "/labels", f.listLabels, 0, nil),
		At("POST", "/labels", WithBody(f.createLabel), Creates, nil),
		At("GET", "/labels/:id", f.getLabel, 0, nil),
		At("PATCH", "/labels/:id", WithBody(f.renameLabel), 0, find),
		At("DELETE", "/labels/:id", f.deleteLabel, 0, nil),
	}
}

func (f *fixture) health(r *Request) (Reply, error) {
	err := f.api.View(r, func(rx *storage.Rx) error { _, err := rx.Organizations(); return err })
	return OK("well"), err
}

// document needs no database.
func document(*Request) (Reply, error) {
	return Reply{Status: http.StatusOK, Body: []byte(`{}`), ETag: `W/"abc"`}, nil
}

// labelView is a label as the fixture shows it.
type labelView struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	TeamID string `json:"team_id"`
}

func viewLabel(l storage.Label) labelView {
	return labelView{ID: l.ID, Name: l.Name, TeamID: l.TeamPublicID}
}

// newLabel is the body of a label, whose name may be as long as any text.
type newLabel struct {
	Name *string `json:"name"`
}

func (l *newLabel) Validate() error { return Required("name", l.Name, 1<<20) }

func (f *fixture) listLabels(r *Request) (Reply, error) {
	return ListOf(f.api, r, Lister[storage.Label, labelView]{
		Scope: "labels",
		Read: func(rx *storage.Rx, q *ListQuery) ([]storage.Label, storage.After, error) {
			rows, err := rx.Within(q.Budget).Labels(r.Org.ID, nil, q.After, q.Fetch())
			return rows, storage.Last, err
		},
		Key:  func(l storage.Label) storage.After { return storage.After{Key: l.CreatedAt, ID: l.ID} },
		View: viewLabel,
	})
}

func (f *fixture) createLabel(r *Request, in newLabel) (Reply, error) {
	return f.api.Update(r, func(tx *storage.Tx) (Reply, error) {
		teams, err := tx.Teams(r.Org.ID)
		if err != nil {
			return Reply{}, err
		}
		l := storage.Label{OrganizationID: r.Org.ID, TeamID: teams[0].ID, TeamPublicID: teams[0].PublicID, Name: *in.Name, Color: "gray"}
		if err := tx.InsertLabel(&l); errors.Is(err, storage.ErrConflict) {
			return Reply{}, Invalid("name", "is taken")
		} else if err != nil {
			return Reply{}, err
		}
		return Created(viewLabel(l)), nil
	})
}

func (f *fixture) label(rx *storage.Rx, r *Request) (storage.Label, error) {
	return InPath(r, "id", storage.PrefixLabel, r.Org.ID, rx.Label)
}

func (f *fixture) getLabel(r *Request) (rep Reply, err error) {
	err = f.api.View(r, func(rx *storage.Rx) error {
		l, err := f.label(rx, r)
		rep = OK(viewLabel(l))
		return err
	})
	return rep, err
}

func (f *fixture) renameLabel(r *Request, in newLabel) (Reply, error) {
	return f.api.Update(r, func(tx *storage.Tx) (Reply, error) {
		l, err := f.label(&tx.Rx, r)
		if err != nil {
			return Reply{}, err
		}
		l.Name = *in.Name
		return OK(viewLabel(l)), tx.UpdateLabel(&l)
	})
}

func (f *fixture) deleteLabel(r *Request) (Reply, error) {
	return f.api.Update(r, func(tx *storage.Tx) (Reply, error) {
		l, err := f.label(&tx.Rx, r)
		if err != nil {
			return Reply{}, err
		}
		return Deleted("label", l.ID), tx.DeleteLabel(r.Org.ID, l.ID)
	})
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

// code is the status and the error's code and param, in one string that reads well in
// tables: "400 invalid_field_value name".
func (a answer) code() string {
	words := []string{strconv.Itoa(a.status), a.text("error.code"), a.text("error.param")}
	return strings.TrimSpace(strings.Join(words, " "))
}

// ids are those of a list.
func (a answer) ids() (ids []string) {
	var page struct{ Data []labelView }
	if err := json.Unmarshal([]byte(a.body), &page); err != nil {
		return []string{"not a list: " + a.body}
	}
	for _, one := range page.Data {
		ids = append(ids, one.ID)
	}
	return ids
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

// walk lists the ids of all pages of the labels.
func (f *fixture) walk() (ids []string) {
	f.t.Helper()
	for query := ""; ; {
		page := f.call("GET", "/labels"+query, "")
		if page.status != 200 {
			f.t.Fatal(page.body)
		}
		ids = append(ids, page.ids()...)
		if page.get("has_more") != true {
			return ids
		}
		query = "?cursor=" + page.text("next_cursor")
	}
}

// labels counts the labels of all organizations, so that a test sees what a refused request
// has left.
func (f *fixture) labels() (n int) {
	f.t.Helper()
	storagetest.View(f.t, f.db, func(rx *storage.Rx) error {
		orgs, err := rx.Organizations()
		for _, o := range orgs {
			rows, listErr := rx.Labels(o.ID, nil, storage.First, 1000)
			n, err = n+len(rows), cmp.Or(err, listErr)
		}
		return err
	})
	return n
}

// update stores the tenant's organization as changed by fn.
func (f *fixture) update(fn func(*storage.Organization)) {
	f.t.Helper()
	org := f.tenant.Organization
	fn(&org)
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.UpdateOrganization(&org) })
}
