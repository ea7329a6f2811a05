package api

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"confab/app/simulator"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
	"confab/storage/storagetest"
)

// upstreamed is an API whose provider is a simulator, with one connected number.
type upstreamed struct {
	*fixture
	sim     *simulator.Server
	account storage.Account
	number  simulator.Number
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
	u := &upstreamed{sim: sim}
	server := httptest.NewServer(sim)
	t.Cleanup(server.Close)
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
}

// fault makes the provider fail.
func (u *upstreamed) fault(body string) {
	u.t.Helper()
	req := httptest.NewRequest("POST", "http://127.0.0.1/_sim/faults", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+u.sim.Credentials().AccessToken)
	rec := httptest.NewRecorder()
	if u.sim.ServeHTTP(rec, req); rec.Code != http.StatusOK {
		u.t.Fatal(rec.Body)
	}
}
