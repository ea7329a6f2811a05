package storage_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestAnAccountsTokenIsSealedAndItsNumberIsUnique(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	db := storagetest.OpenDir(t, dir)
	tenant := storagetest.Seed(t, db, "Acme")
	number, token := "106540352242922", "EAAJplaintexttoken"
	add := func(tx *storage.Tx) (storage.Account, error) {
		a := storage.Account{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, PhoneNumberID: &number, Status: storage.AccountConnected}
		return a, tx.InsertAccount(&a, token)
	}
	storagetest.Update(t, db, func(tx *storage.Tx) error { _, err := add(tx); return err })
	err := db.Update(t.Context(), func(tx *storage.Tx) error { _, err := add(tx); return err })
	is.True(errors.Is(err, storage.ErrConflict)) // one live account per number

	storagetest.View(t, db, func(rx *storage.Rx) error {
		a, err := rx.AccountByNumber(number)
		is.NoErr(err)
		opened, err := rx.AccessToken(a)
		is.NoErr(err)
		is.Equal(opened, token)
		_, err = rx.AccountByNumber("999999")
		is.True(errors.Is(err, storage.ErrNotFound))
		return nil
	})
	is.NoErr(db.Close())
	for _, suffix := range []string{"", "-wal"} {
		text, _ := os.ReadFile(storage.DatabaseFile(dir) + suffix)
		is.True(!strings.Contains(string(text), token)) // not readable at rest
	}
}

func TestAnAccountIsShownWithItsCustomer(t *testing.T) {
	is := is.New(t)
	db := open(t, frozenFile(t, 1))
	ours := storagetest.Connect(t, db, storagetest.Seed(t, db, "Acme"), "100200300")
	storagetest.View(t, db, func(rx *storage.Rx) error {
		a, err := rx.ChatAccount(1)
		is.NoErr(err)
		is.Equal(a, storage.ChatAccount{PhoneNumber: text("+15550783881"), PhoneNumberID: text("106540352242922"),
			CustomerID: text("cus_01KDYBMWFE00000000000000C1"), CustomerName: text("Bakery")})
		a, err = rx.ChatAccount(ours.ID)
		is.NoErr(err)
		is.Equal(a, storage.ChatAccount{PhoneNumber: ours.PhoneNumber, PhoneNumberID: ours.PhoneNumberID})
		_, err = rx.ChatAccount(99)
		is.Equal(err, storage.ErrNotFound)
		return nil
	})
}
