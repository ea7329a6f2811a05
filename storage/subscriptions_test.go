package storage_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestSubscriptionReadsBackAndItsSecretsAreSealed(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	db := storagetest.OpenDir(t, dir)
	ours, theirs := two(t, db)
	s := storage.Subscription{
		OrganizationID: ours.Organization.ID, URL: "https://hook.test/x", Description: new("orders"), Events: storage.Strings{"message.sent"},
		PhoneNumberIDs: storage.Strings{"100200300"}, CustomHeaders: map[string]string{"Authorization": "Bearer hush"}, Status: storage.WebhookActive,
	}
	var secret string
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) { secret, err = tx.InsertSubscription(&s); return err })
	is.True(storage.ValidID(storage.PrefixSubscription, s.ID))
	is.Equal(subscription(t, db, s), s)
	random, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	is.NoErr(err)
	is.Equal(len(random), 32)
	is.Equal(view(t, db, func(rx *storage.Rx) ([]string, error) { return rx.SigningKeys(s.ID) }), []string{secret})
	all := storagetest.Select[[]byte](t, dir, `SELECT custom_headers FROM subscriptions UNION ALL SELECT secret FROM signing_secrets`)
	is.Equal(len(all), 2)
	for _, sealed := range all {
		is.True(len(sealed) > 0)
		is.True(!bytes.Contains(sealed, []byte("hush")) && !bytes.Contains(sealed, []byte(secret)))
	}
	err = db.View(context.Background(), func(rx *storage.Rx) error { _, err := rx.Subscription(theirs.Organization.ID, s.ID); return err })
	is.True(errors.Is(err, storage.ErrNotFound))
	is.Equal(len(view(t, db, func(rx *storage.Rx) ([]storage.Subscription, error) {
		return rx.Subscriptions(theirs.Organization.ID, storage.First, 10)
	})), 0)
}

func TestSubscriptionIsUpdatedInItsOrganizationOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := storagetest.Open(t)
		ours, theirs := two(t, db)
		s, _ := storagetest.Subscribe(t, db, ours, "https://hook.test")
		time.Sleep(time.Second)
		s.URL, s.Description, s.Events, s.PhoneNumberIDs = "https://new.test", new("new"), storage.Strings{"*"}, storage.Strings{"123456"}
		s.CustomHeaders = map[string]string{"X-A": "1"}
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.UpdateSubscription(&s) })
		is.Equal(subscription(t, db, s), s)
		is.Equal(s.UpdatedAt, s.CreatedAt.Add(time.Second))
		s.CustomHeaders, s.PhoneNumberIDs = nil, nil
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.UpdateSubscription(&s) })
		got := subscription(t, db, s)
		is.Equal(len(got.CustomHeaders)+len(got.PhoneNumberIDs), 0)
		foreign := s
		foreign.OrganizationID = theirs.Organization.ID
		err := db.Update(context.Background(), func(tx *storage.Tx) error { return tx.UpdateSubscription(&foreign) })
		is.True(errors.Is(err, storage.ErrNotFound))
		err = db.Update(context.Background(), func(tx *storage.Tx) error { return tx.DeleteSubscription(theirs.Organization.ID, s.ID) })
		is.True(errors.Is(err, storage.ErrNotFound))
	})
}

func TestExpiredSecretsSignNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := storagetest.Open(t)
		s, first := storagetest.Subscribe(t, db, storagetest.Seed(t, db, "Acme"), "https://hook.test")
		var row storage.Secret
		var second string
		storagetest.Update(t, db, func(tx *storage.Tx) (err error) { row, second, err = tx.InsertSecret(s.ID, "", time.Hour); return err })
		keys := func() []string {
			return view(t, db, func(rx *storage.Rx) ([]string, error) { return rx.SigningKeys(s.ID) })
		}
		is.Equal(keys(), []string{first, second})
		is.Equal(row.ExpiresAt, row.CreatedAt.Add(time.Hour))
		time.Sleep(time.Hour - time.Millisecond)
		is.Equal(len(keys()), 2)
		is.True(row.Live(storage.Now()))
		time.Sleep(time.Millisecond)
		is.Equal(keys(), []string{first})
		is.True(!row.Live(storage.Now()))
		all := view(t, db, func(rx *storage.Rx) ([]storage.Secret, error) { return rx.Secrets(s.ID) })
		is.Equal(all[1], row) // it can still be seen and revoked
		for _, age := range []time.Duration{29 * 24 * time.Hour, 2 * 24 * time.Hour} {
			time.Sleep(age)
			storagetest.Update(t, db, func(tx *storage.Tx) error { _, _, err := tx.InsertSecret(s.ID, "", 0); return err })
			all = view(t, db, func(rx *storage.Rx) ([]storage.Secret, error) { return rx.Secrets(s.ID) })
			is.Equal(len(all), 3) // the second new one takes the place of the one that expired a month ago
		}
		row = all[1]
		err := db.Update(context.Background(), func(tx *storage.Tx) error { return tx.DeleteSecret("wbs_other", row.ID) })
		is.True(errors.Is(err, storage.ErrNotFound))
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DeleteSecret(s.ID, row.ID) })
	})
}

// Rotating every hour leaves no long list.
func TestOnlyAFewExpiredSecretsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := storagetest.Open(t)
		s, first := storagetest.Subscribe(t, db, storagetest.Seed(t, db, "Acme"), "https://hook.test")
		var last storage.Secret
		for range 25 {
			storagetest.Update(t, db, func(tx *storage.Tx) (err error) { last, _, err = tx.InsertSecret(s.ID, "", time.Hour); return err })
			time.Sleep(time.Hour)
		}
		storagetest.Update(t, db, func(tx *storage.Tx) error { _, _, err := tx.InsertSecret(s.ID, "", time.Hour); return err })
		all := view(t, db, func(rx *storage.Rx) ([]storage.Secret, error) { return rx.Secrets(s.ID) })
		is.Equal(len(all), 1+10+1) // the first, the last ten that expired, the new one
		is.Equal(all[10].ID, last.ID)
		is.Equal(view(t, db, func(rx *storage.Rx) ([]string, error) { return rx.SigningKeys(s.ID) })[0], first)
	})
}
