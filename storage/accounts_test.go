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
	text, err := os.ReadFile(storage.DatabaseFile(dir)) // closed, so it is all in here
	is.NoErr(err)
	is.True(strings.Contains(string(text), number))
	is.True(!strings.Contains(string(text), token)) // not readable at rest
}

func TestAnAccountIsShownWithItsCustomer(t *testing.T) {
	is := is.New(t)
	db := open(t, frozenFile(t, 1))
	ours := storagetest.Connect(t, db, storagetest.Seed(t, db, "Acme"), "100200300")
	storagetest.View(t, db, func(rx *storage.Rx) error {
		a, err := rx.AccountSummary(1)
		is.NoErr(err)
		is.Equal(a, storage.AccountSummary{PhoneNumber: text("+15550783881"), PhoneNumberID: text("106540352242922"),
			CustomerID: text("cus_01KDYBMWFE00000000000000C1"), CustomerName: text("Bakery")})
		a, err = rx.AccountSummary(ours.ID)
		is.NoErr(err)
		is.Equal(a, storage.AccountSummary{PhoneNumber: ours.PhoneNumber, PhoneNumberID: ours.PhoneNumberID})
		_, err = rx.AccountSummary(99)
		is.Equal(err, storage.ErrNotFound)
		return nil
	})
}

func TestAccountsMoveAsTheyAreTold(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	a := storagetest.Connect(t, db, tenant, "100001")
	move := func(fn func(*storage.Tx) error) storage.AccountDetail {
		t.Helper()
		storagetest.Update(t, db, fn)
		return view(t, db, func(rx *storage.Rx) (storage.AccountDetail, error) { return rx.AccountDetail(a.ID) })
	}
	got := move(func(tx *storage.Tx) error { return tx.MarkDegraded(a.ID, "The token expired.") })
	is.Equal(got.Status+" "+*got.StatusReason, "degraded The token expired.")
	got = move(func(tx *storage.Tx) error { return tx.MarkAccountStatus(a.ID, storage.AccountDisconnected, "Removed.") })
	is.Equal(got.Status+" "+*got.StatusReason, "disconnected Removed.")
	got = move(func(tx *storage.Tx) error { return tx.MarkDegraded(a.ID, "The token expired.") })
	is.Equal(got.Status+" "+*got.StatusReason, "disconnected Removed.") // not half connected again
	is.True(move(func(tx *storage.Tx) error { return tx.SetRestricted(a.ID, true) }).Restricted)
	is.True(!move(func(tx *storage.Tx) error { return tx.SetRestricted(a.ID, false) }).Restricted)
	is.Equal(move(func(tx *storage.Tx) error { return tx.SetCooldown(a.ID, 7) }).CooldownUntil, storage.Time(7))
	is.Equal(move(func(tx *storage.Tx) error { return tx.EndCooldown(a.ID, 5) }).CooldownUntil, storage.Time(7)) // a later one has begun
	is.Equal(move(func(tx *storage.Tx) error { return tx.EndCooldown(a.ID, 7) }).CooldownUntil, storage.Time(0))
	is.Equal(*move(func(tx *storage.Tx) error { return tx.RenameAccount(a.ID, "Acme & Sons") }).Name, "Acme & Sons")
	got = move(func(tx *storage.Tx) error { return tx.MarkAccountStatus(a.ID, storage.AccountConnected, "") })
	is.Equal(got.StatusReason, nil)
	is.Equal(got.OnboardedAt, storage.Time(0))
	got = move(func(tx *storage.Tx) error { return tx.UpdateAccount(&got) })
	is.True(got.OnboardedAt > 0) // since it was connected for the first time
}

func TestAccountsAreListedNewestFirst(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	db := storagetest.OpenDir(t, dir)
	ours, theirs := two(t, db)
	for _, number := range []string{"100001", "100002", "100003"} {
		storagetest.Connect(t, db, ours, number)
	}
	storagetest.Connect(t, db, theirs, "100004")
	alter(t, storage.DatabaseFile(dir), `UPDATE accounts SET created_at = 1`, `UPDATE accounts SET status = 'degraded', waba_id = 'w' WHERE id = 2`,
		`UPDATE accounts SET waba_id = 'w' WHERE id = 4`)
	list := func(f storage.AccountFilter) (all []int64) {
		t.Helper()
		for _, a := range view(t, db, func(rx *storage.Rx) ([]storage.AccountDetail, error) {
			page, _, err := rx.Accounts(ours.Organization.ID, f, storage.First, 100)
			return page, err
		}) {
			is.Equal(a.TeamPublicID, ours.Team.PublicID)
			all = append(all, a.ID)
		}
		return all
	}
	is.Equal(list(storage.AccountFilter{}), []int64{3, 2, 1})
	is.Equal(list(storage.AccountFilter{Status: storage.AccountConnected}), []int64{3, 1})
	is.Equal(list(storage.AccountFilter{CustomerID: "cus_x"}), nil)

	due := func(since storage.Time, after int64) []int64 {
		t.Helper()
		return view(t, db, func(rx *storage.Rx) ([]int64, error) { return rx.AccountsToCheck(since, after, 2) })
	}
	is.Equal(due(2, 0), []int64{1, 2})
	is.Equal(due(2, 2), []int64{3, 4})
	is.Equal(due(1, 0), nil) // none that was made or checked since
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.MarkAccountChecked(1) })
	alter(t, storage.DatabaseFile(dir), `UPDATE accounts SET status = 'disconnected' WHERE id = 3`, `UPDATE accounts SET status = 'onboarding' WHERE id = 4`)
	is.Equal(due(2, 0), []int64{2, 4})

	shared := view(t, db, func(rx *storage.Rx) ([]storage.Account, error) { return rx.AccountsOfWABA("w") })
	is.Equal(len(shared), 2) // of all organizations
	alter(t, storage.DatabaseFile(dir), `UPDATE accounts SET deleted_at = 1 WHERE id IN (1, 2)`)
	is.Equal(list(storage.AccountFilter{}), []int64{3})
	is.Equal(len(view(t, db, func(rx *storage.Rx) ([]storage.Account, error) { return rx.AccountsOfWABA("w") })), 1)
	is.Equal(due(2, 0), []int64{4})
}

func TestAPINIsSealedAndForgotten(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	db := storagetest.OpenDir(t, dir)
	a := storagetest.Connect(t, db, storagetest.Seed(t, db, "Acme"), "100001")
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.SetPIN(a, "123456") })
	sealed := storagetest.Select[[]byte](t, dir, `SELECT pin FROM accounts`)
	is.True(!strings.Contains(string(sealed[0]), "123456"))
	opened, err := db.Unseal("PIN of "+a.PublicID, sealed[0])
	is.NoErr(err)
	is.Equal(string(opened), "123456")
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DeletePIN(a.ID) })
	is.Equal(storagetest.Select[[]byte](t, dir, `SELECT pin FROM accounts`), [][]byte{nil})
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.SetAccessToken(a, "another") })
	is.Equal(view(t, db, func(rx *storage.Rx) (string, error) { return rx.AccessToken(a) }), "another")
}
