package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"confab/app/simulator"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
	"confab/storage/storagetest"
)

// played is a provider in memory, which knows no templates and no numbers. With
// answer it says what the test wants.
type played struct {
	answer func(*http.Request) (status int, body string)
}

// says gives one answer to everything.
func (p *played) says(status int, body string) { p.before(func() {}, status, body) }

// before does something before each answer, which is always the same.
func (p *played) before(do func(), status int, body string) {
	p.answer = func(*http.Request) (int, string) {
		do()
		return status, body
	}
}

// RoundTrip implements http.RoundTripper.
func (p *played) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := http.StatusOK, `{"data":[]}`
	if p.answer != nil {
		status, body = p.answer(r)
	}
	if status == 0 { // the provider took too long
		return nil, context.DeadlineExceeded
	}
	rec := httptest.NewRecorder()
	rec.WriteHeader(status)
	rec.WriteString(body)
	return rec.Result(), nil
}

// accounts speaks to the provider for an API.
func (p *played) accounts(t testing.TB, db *storage.DB) *provisioning.Accounts {
	t.Helper()
	client, err := provider.New(provider.Options{BaseURL: "https://provider.test", AppID: "1", Transport: p})
	if err != nil {
		t.Fatal(err)
	}
	return provisioning.NewAccounts(db, client)
}

// upstreamed is an API whose provider is a simulator, with one connected number.
type upstreamed struct {
	*fixture
	sim       *simulator.Server
	at        string // the simulator's URL
	account   storage.Account
	number    simulator.Number
	asked     *calls
	meanwhile func() // while the provider is asked; nil for nothing
}

// calls are what the provider was asked, as "GET /path".
type calls struct {
	mu  sync.Mutex
	all []string
	// before, if set, is called with each request before it is answered.
	before func(*http.Request)
}

func (c *calls) note(r *http.Request) {
	c.mu.Lock()
	c.all = append(c.all, r.Method+" "+r.URL.Path)
	before := c.before
	c.mu.Unlock()
	if before != nil {
		before(r)
	}
}

// count says how many calls there were whose text holds a word.
func (c *calls) count(word string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.all {
		if strings.Contains(call, word) {
			n++
		}
	}
	return n
}

// serveUpstream starts an API and a simulator. The number is as given, made up
// where that is empty.
func serveUpstream(t testing.TB, n simulator.Number, change ...func(*testOptions)) *upstreamed {
	t.Helper()
	sim, err := simulator.New(simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sim.Close() })
	settings := sim.Settings()
	settings.TemplateVerdict = "PENDING" // nothing happens by itself
	if err := sim.SetSettings(settings); err != nil {
		t.Fatal(err)
	}
	u := &upstreamed{sim: sim, asked: &calls{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.asked.note(r)
		if u.meanwhile != nil {
			u.meanwhile()
		}
		sim.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	u.at = server.URL
	creds := sim.Credentials()
	client, err := provider.New(provider.Options{BaseURL: server.URL, Version: "v23.0", AppID: creds.AppID, AppSecret: creds.AppSecret,
		Timeout: time.Minute}) // the machine may be busy
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	u.fixture = serve(t, append(slices.Clone(change), func(o *testOptions) { o.Accounts = provisioning.NewAccounts(o.DB, client) })...)
	n.PhoneNumberID = number
	if u.number, err = sim.AddNumber(n); err != nil {
		t.Fatal(err)
	}
	u.account = u.connect(u.tenant, number)
	f := u.fixture
	f.exec(`UPDATE accounts SET waba_id = ? WHERE id = ?`, u.number.WABAID, u.account.ID)
	storagetest.Update(t, f.db, func(tx *storage.Tx) error { return tx.SetAccessToken(u.account, creds.AccessToken) })
	return u
}

// control speaks to the simulator's control surface.
func (u *upstreamed) control(method, path, body string) map[string]any {
	u.t.Helper()
	return u.simulate(method, "/_sim"+path, body)
}

// simulate speaks to the simulator as a client of the provider does; it must succeed.
func (u *upstreamed) simulate(method, path, body string) map[string]any {
	u.t.Helper()
	req, err := http.NewRequest(method, u.at+path, strings.NewReader(body))
	if err != nil {
		u.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+u.sim.Credentials().AccessToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		u.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != http.StatusOK {
		u.t.Fatalf("%s %s: %d %v %v", method, path, res.StatusCode, answer, err)
	}
	return answer
}

// fault makes the provider fail.
func (u *upstreamed) fault(body string) { u.t.Helper(); u.control("POST", "/faults", body) }

// detail is the account as it is now.
func (u *upstreamed) detail() (a storage.AccountDetail) {
	u.t.Helper()
	storagetest.View(u.t, u.db, func(rx *storage.Rx) (err error) {
		a, err = rx.AccountDetail(u.account.ID)
		return err
	})
	return a
}

// mark puts the account into a state.
func (u *upstreamed) mark(status string) {
	u.t.Helper()
	storagetest.Update(u.t, u.db, func(tx *storage.Tx) error { return tx.MarkAccountStatus(u.account.ID, status, "a test") })
	time.Sleep(time.Millisecond) // what is changed later is known by its time
}
