package storage

import (
	"context"
	"fmt"
	"net/url"
)

// Endpoint is what deliveries need of their subscription, with everything that
// is sealed opened. Deliveries share it and must not change it.
type Endpoint struct {
	Subscription string
	Status       string
	Format       string
	URL          *url.URL
	Headers      map[string]string
	keys         []signingKey
}

type signingKey struct {
	Secret
	plain string
}

// Secrets are those that sign at an instant, oldest first.
func (e *Endpoint) Secrets(at Time) []string {
	live := make([]string, 0, len(e.keys))
	for _, k := range e.keys {
		if k.Live(at) {
			live = append(live, k.plain)
		}
	}
	return live
}

// PastSecrets are those that signed at an earlier instant and still do, oldest first.
func (e *Endpoint) PastSecrets(at Time) (past []string) {
	for _, k := range e.keys {
		if k.CreatedAt <= at {
			past = append(past, k.plain)
		}
	}
	return past
}

// Endpoint finds where the deliveries of a subscription go.
func (db *DB) Endpoint(ctx context.Context, subscription string) (*Endpoint, error) {
	return db.caches.endpoints.fetch(ctx, db, subscription)
}

func (rx *Rx) readEndpoint(subscription string) (*Endpoint, error) {
	s, err := rx.Endpoint(subscription)
	if err != nil {
		return nil, err
	}

	e := &Endpoint{Subscription: s.ID, Status: s.Status, Format: s.Format, Headers: s.CustomHeaders}
	if e.URL, err = url.Parse(s.URL); err != nil {
		return nil, fmt.Errorf("the URL of %s cannot be read", s.ID) // it may hold a secret
	}
	e.keys, err = rx.signingKeys(subscription)
	return e, err
}

// signingKeys opens every secret of a subscription that has not expired, oldest first.
func (rx *Rx) signingKeys(subscription string) ([]signingKey, error) {
	var rows []struct {
		Secret
		Sealed []byte `db:"secret"`
	}

	err := rx.List(&rows, `
		SELECT id, subscription_id, expires_at, created_at, secret
		FROM signing_secrets
		WHERE subscription_id = ? AND (expires_at = 0 OR expires_at > ?)
		ORDER BY id`, subscription, rx.db.Now())
	if err != nil {
		return nil, err
	}

	keys := make([]signingKey, len(rows))
	for i, row := range rows {
		plain, err := rx.db.Unseal(secretPurpose(row.ID), row.Sealed)
		if err != nil {
			return nil, err
		}
		keys[i] = signingKey{row.Secret, string(plain)}
	}
	return keys, nil
}
