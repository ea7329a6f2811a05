package jobs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"confab/jobs/webhook"
	"confab/storage"
)

func TestEveryLiveSecretSignsWhileOneReplacesAnother(t *testing.T) {
	deliveries(t, func(w *delivering) {
		segments := func() []string {
			w.happen(`{"x":1}`)
			posts := w.endpoint.posts()
			p := posts[len(posts)-1]
			w.is.Equal(strings.Count(p.header.Get("X-Svc-Signature"), "v1="), len(strings.Fields(p.header.Get("Webhook-Signature"))))
			var valid []string
			for _, secret := range []string{w.secret, "whsec_unknown"} {
				if webhook.Verify(p.header.Get("X-Svc-Signature"), []byte(p.body), p.at, secret) == nil {
					valid = append(valid, secret)
				}
			}
			return append(valid, fmt.Sprint(strings.Count(p.header.Get("X-Svc-Signature"), "v1=")))
		}
		w.is.Equal(segments(), []string{w.secret, "1"})
		var newer string
		var first []storage.Secret
		w.change(func(tx *storage.Tx) (err error) {
			if first, err = tx.Secrets(w.subscription.ID); err != nil {
				return err
			}
			_, newer, err = tx.InsertSecret(w.subscription.ID, "", time.Hour)
			return err
		})
		w.is.Equal(segments(), []string{w.secret, "2"})
		w.verified(w.endpoint.posts()[1], newer)
		w.wait(2 * time.Hour)
		w.is.Equal(segments(), []string{w.secret, "1"}) // the newer one has expired
		w.change(func(tx *storage.Tx) (err error) {
			_, newer, err = tx.InsertSecret(w.subscription.ID, "", 0)
			return errors.Join(err, tx.DeleteSecret(w.subscription.ID, first[0].ID))
		})
		w.is.Equal(segments(), []string{"1"})
		w.verified(w.endpoint.posts()[3], newer)
	})
}

// A secret that expires while it is kept in memory signs no more.
func TestAnExpiredSecretSignsNothingTheVeryNextMoment(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.change(func(tx *storage.Tx) (err error) {
			_, _, err = tx.InsertSecret(w.subscription.ID, "", time.Minute)
			return err
		})
		w.wait(59 * time.Second)
		w.happen(`{}`)
		w.wait(time.Second)
		w.happen(`{}`)
		posts := w.endpoint.posts()
		w.is.Equal(strings.Count(posts[0].header.Get("X-Svc-Signature"), "v1="), 2)
		w.is.Equal(strings.Count(posts[1].header.Get("X-Svc-Signature"), "v1="), 1)
	})
}

// Databases of older releases have subscriptions whose secrets all expire. Nothing
// goes out unsigned: the attempt fails where everybody can see it, and once there
// is a secret the next one succeeds.
func TestWithoutALiveSecretNothingGoesOut(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.change(func(tx *storage.Tx) error {
			first, err := tx.Secrets(w.subscription.ID)
			if err != nil {
				return err
			}
			_, _, err = tx.InsertSecret(w.subscription.ID, "", time.Hour)
			return errors.Join(err, tx.DeleteSecret(w.subscription.ID, first[0].ID))
		})
		w.wait(time.Hour)
		w.happen(`{"x":1}`)
		w.is.Equal(len(w.endpoint.posts()), 0)
		failed := w.one()
		w.is.Equal(failed.Status, storage.DeliveryFailed)
		w.is.Equal(*failed.ErrorCode, "no_signing_secret")
		w.is.True(failed.NextAttemptAt > storage.Now())

		var secret string
		w.change(func(tx *storage.Tx) (err error) {
			_, secret, err = tx.InsertSecret(w.subscription.ID, "", 0)
			return err
		})
		w.wait(time.Minute)
		w.verified(w.endpoint.posts()[0], secret)
		w.is.Equal(w.one().Status, storage.DeliverySucceeded)
	})
}
