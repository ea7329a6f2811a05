package storage_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

func findKey(db *storage.DB, secret string) (k storage.Key, o storage.Organization, err error) {
	err = db.View(context.Background(), func(rx *storage.Rx) (err error) {
		p, err := rx.Principal(storage.KeyHash(secret))
		k, o = p.Key, p.Organization
		return err
	})
	return k, o, err
}

func TestKeyIsFoundByItsSecretOnly(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	is.Equal(len(ours.Secret), storage.KeyLength)
	is.True(strings.HasPrefix(ours.Secret, storage.KeyPrefix))
	is.True(ours.Secret != theirs.Secret)
	is.True(storage.ValidID(storage.PrefixKey, ours.Key.ID))

	k, o, err := findKey(db, ours.Secret)
	is.NoErr(err)
	is.Equal(k, ours.Key)
	is.Equal(o, ours.Organization)
	is.Equal(k.Last4, ours.Secret[storage.KeyLength-4:])
	_, _, err = findKey(db, ours.Secret+"x")
	is.True(errors.Is(err, storage.ErrNotFound))
	_, _, err = findKey(db, k.Last4)
	is.True(errors.Is(err, storage.ErrNotFound))
}

func TestKeySecretIsNotStored(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, _ := two(t, db)
	var rows []string
	storagetest.View(t, db, func(rx *storage.Rx) error {
		return rx.List(&rows, `SELECT concat_ws(' ', id, label, hash, last4) FROM api_keys`)
	})
	is.Equal(len(rows), 3)
	random := strings.TrimPrefix(ours.Secret, storage.KeyPrefix)
	for _, row := range rows {
		is.True(!strings.Contains(row, random[:8]))
	}
}

func TestKeysAreListedByOrganization(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	second := storage.Key{OrganizationID: ours.Organization.ID, Label: text("ci"), ExpiresAt: 5}
	update(t, db, func(tx *storage.Tx) (string, error) { return tx.InsertKey(&second) })
	keys := view(t, db, func(rx *storage.Rx) ([]storage.Key, error) { return rx.Keys(ours.Organization.ID) })
	is.Equal(keys, []storage.Key{ours.Key, second}) // oldest first
	keys = view(t, db, func(rx *storage.Rx) ([]storage.Key, error) { return rx.Keys(theirs.Organization.ID) })
	is.Equal(keys, []storage.Key{theirs.Key})
}

func TestKeyIsRevokedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		ours, theirs := two(t, db)
		revoke := func() {
			storagetest.Update(t, db, func(tx *storage.Tx) error { _, err := tx.RevokeKey(0, ours.Key.ID); return err })
		}
		revoke()
		at := storage.Now()
		time.Sleep(time.Hour)
		revoke()
		k, _, err := findKey(db, ours.Secret) // still found, so that the answer can say why
		is.NoErr(err)
		is.Equal(k.RevokedAt, at) // the first time counts
		k, _, err = findKey(db, theirs.Secret)
		is.NoErr(err)
		is.Equal(k.RevokedAt, storage.Time(0))
		err = db.Update(context.Background(), func(tx *storage.Tx) error { _, err := tx.RevokeKey(0, "key_none"); return err })
		is.True(errors.Is(err, storage.ErrNotFound))
	})
}

func TestKeyUseOnlyMovesForward(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	for _, at := range []storage.Time{50, 70, 60} {
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.MarkKeyUsed(ours.Key.ID, at) })
	}
	k, _, err := findKey(db, ours.Secret)
	is.NoErr(err)
	is.Equal(k.LastUsedAt, storage.Time(70))
	k, _, err = findKey(db, theirs.Secret)
	is.NoErr(err)
	is.Equal(k.LastUsedAt, storage.Time(0))
}

func TestAKeyKeepsItsLimits(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, _ := two(t, db)
	b, a := storagetest.Connect(t, db, ours, "106540352242923"), storagetest.Connect(t, db, ours, "106540352242922")
	made := storage.Key{
		OrganizationID: ours.Organization.ID, Agent: new("helper"),
		Scopes: storage.Strings{storage.ScopeRead, storage.ScopeSend}, Accounts: storage.Accounts{b.ID, a.ID},
	}
	var secret string
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) { secret, err = tx.InsertKey(&made); return err })
	found, _, err := findKey(db, secret)
	is.NoErr(err)
	is.Equal(found, made)
	is.Equal(found.PhoneNumberIDs, []string{"106540352242922", "106540352242923"}) // sorted
	is.True(found.HasScope(storage.ScopeRead) && !found.HasScope(storage.ScopeInbox))
	is.True(found.Accounts.Has(&a.ID) && !found.Accounts.Has(new(a.ID+100)) && !found.Accounts.Has(nil))
	is.True(ours.Key.HasScope(storage.ScopeInbox) && ours.Key.Accounts.Has(nil)) // one without limits

	// A number that was removed is no longer shown, and leaves the key bound.
	for _, account := range []int64{a.ID, b.ID} {
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.RemoveAccount(account, "removed") })
	}
	storagetest.Connect(t, db, ours, "106540352242922")
	found, _, err = findKey(db, secret)
	is.NoErr(err)
	is.Equal(found.PhoneNumberIDs, []string{})
	is.True(found.Accounts.Bound())
}
