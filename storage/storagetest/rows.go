package storagetest

import (
	"testing"

	"github.com/jmoiron/sqlx"

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

// Exec runs a statement that no method runs on the database of a data directory,
// over a connection of its own.
func Exec(t testing.TB, dir, query string, args ...any) {
	t.Helper()
	over(t, dir, func(db *sqlx.DB) error {
		_, err := db.Exec(query, args...)
		return err
	})
}

// Select reads rows that no method reads, in the same way.
func Select[T any](t testing.TB, dir, query string, args ...any) (rows []T) {
	t.Helper()
	over(t, dir, func(db *sqlx.DB) error { return db.Select(&rows, query, args...) })
	return rows
}

func over(t testing.TB, dir string, fn func(*sqlx.DB) error) {
	t.Helper()
	db, err := sqlx.Open("sqlite", "file:"+storage.DatabaseFile(dir)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := fn(db); err != nil {
		t.Fatal(err)
	}
}
