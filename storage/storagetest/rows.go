package storagetest

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"confab/storage"
)

// Connect stores a connected account of the tenant, with an access token.
func Connect(t testing.TB, db *storage.DB, tenant Tenant, phoneNumberID string) storage.Account {
	t.Helper()
	waba, phone, name, connected := "waba-"+phoneNumberID, "+1555"+phoneNumberID, "Acme Shop", "CONNECTED"
	a := storage.Account{
		OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, PhoneNumberID: &phoneNumberID, WABAID: &waba,
		PhoneNumber: &phone, Name: &name, Status: storage.AccountConnected, ProviderStatus: &connected,
	}
	Update(t, db, func(tx *storage.Tx) error { return tx.InsertAccount(&a, "token-"+phoneNumberID) })
	return a
}

// Args are arguments of a job that are not one of the program's own: any value.
func Args(value any) storage.JobArgs { return args{value: value} }

type args struct {
	storage.AboutNoAccount
	value any
}

// MarshalJSON writes the value alone.
func (a args) MarshalJSON() ([]byte, error) { return json.Marshal(a.value) }

// Select reads rows that no method of storage reads.
func Select[T any](t testing.TB, dir, query string, args ...any) (rows []T) {
	t.Helper()
	db := Beside(dir)
	defer db.Close()
	if err := db.Select(&rows, query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return rows
}

// Files opens the directory of files of a data directory.
func Files(t testing.TB, dir string) *storage.Files {
	t.Helper()
	files, err := storage.OpenFiles(filepath.Join(dir, storage.MediaDir), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	return files
}

// Subscribe stores an active subscription to the events, or to all, and returns its secret too.
func Subscribe(t testing.TB, db *storage.DB, tenant Tenant, url string, events ...string) (storage.Subscription, string) {
	t.Helper()
	if len(events) == 0 {
		events = []string{"*"}
	}
	s := storage.Subscription{OrganizationID: tenant.Organization.ID, URL: url, Events: events, Status: storage.WebhookActive}
	var secret string
	Update(t, db, func(tx *storage.Tx) (err error) { secret, err = tx.InsertSubscription(&s); return err })
	return s, secret
}
