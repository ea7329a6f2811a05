package storage

import (
	"crypto/rand"
	"encoding/base64"
	"time"
)

// SecretPrefix begins every signing secret.
const SecretPrefix = "whsec_"

// Secret is a signing secret of a subscription without the secret itself.
type Secret struct {
	ID             string `db:"id" json:"id"`
	SubscriptionID string `db:"subscription_id" json:"-"`
	CreatedAt      Time   `db:"created_at" json:"created_at"`
	ExpiresAt      Time   `db:"expires_at" json:"expires_at"`
}

// Live reports whether the secret signs at an instant.
func (s Secret) Live(at Time) bool { return s.ExpiresAt == 0 || s.ExpiresAt > at }

func secretPurpose(id string) string { return "signing secret " + id }

const selectSecrets = `SELECT id, subscription_id, expires_at, created_at FROM signing_secrets `

// Secrets lists the secrets of a subscription, expired ones too, oldest first.
func (rx *Rx) Secrets(subscription string) ([]Secret, error) {
	return list[Secret](rx, selectSecrets+`WHERE subscription_id = ? ORDER BY id`, subscription)
}

// SecretsOf lists the secrets of many subscriptions, each oldest first.
func (rx *Rx) SecretsOf(subscriptions []Subscription) (map[string][]Secret, error) {
	rows, err := list[Secret](rx, selectSecrets+`
		WHERE subscription_id IN (SELECT value FROM json_each(?))
		ORDER BY subscription_id, id`, listOf(subscriptions, func(s Subscription) string { return s.ID }))

	all := make(map[string][]Secret, len(subscriptions))
	for _, row := range rows {
		all[row.SubscriptionID] = append(all[row.SubscriptionID], row)
	}
	return all, err
}

// SigningKeys opens the secrets that sign for a subscription now, oldest first.
func (rx *Rx) SigningKeys(subscription string) ([]string, error) {
	keys, err := rx.signingKeys(subscription)
	plain := make([]string, len(keys))
	for i, k := range keys {
		plain[i] = k.plain
	}
	return plain, err
}

// expiredKept is how long a secret is listed after it has expired, and maxExpired how
// many of those are listed: a subscription shows all of its secrets.
const (
	expiredKept = 30 * 24 * time.Hour
	maxExpired  = 10
)

// InsertSecret gives a subscription another secret, for a while or with 0 for ever: the client's own, or with ""
// a new one. All but the last few that have expired make way.
func (tx *Tx) InsertSecret(subscription, plain string, life time.Duration) (Secret, string, error) {
	if plain == "" {
		random := make([]byte, 32)
		rand.Read(random)
		plain = SecretPrefix + base64.StdEncoding.EncodeToString(random)
	}

	s := Secret{ID: tx.NewID(PrefixSecret), SubscriptionID: subscription, CreatedAt: tx.Now}
	if life > 0 {
		s.ExpiresAt = tx.Now.Add(life)
	}

	if err := tx.deleteExpiredSecrets(subscription); err != nil {
		return s, "", err
	}

	_, err := tx.Exec(`
		INSERT INTO signing_secrets (id, subscription_id, secret, expires_at, created_at)
		VALUES (?, ?, ?, ?, ?)`, s.ID, s.SubscriptionID, tx.db.Seal(secretPurpose(s.ID), []byte(plain)), s.ExpiresAt, s.CreatedAt)
	return s, plain, err
}

// deleteExpiredSecrets deletes all expired ones but the last few, unless the clock looks wrong.
func (tx *Tx) deleteExpiredSecrets(subscription string) error {
	c, err := tx.Clock()
	if err != nil || c.Ahead() > 0 {
		return err
	}

	return tx.Run(`
		DELETE FROM signing_secrets
		WHERE subscription_id = ?1 AND expires_at <> 0 AND expires_at <= ?2 AND (expires_at < ?3 OR id NOT IN (
			SELECT id FROM signing_secrets
			WHERE subscription_id = ?1 AND expires_at <> 0 AND expires_at <= ?2
			ORDER BY expires_at DESC, id DESC
			LIMIT ?4))`, subscription, tx.Now, tx.Now.Add(-expiredKept), maxExpired)
}

// DeleteSecret revokes a secret of a subscription.
func (tx *Tx) DeleteSecret(subscription, id string) error {
	return tx.ExecOne(`
		DELETE FROM signing_secrets
		WHERE id = ? AND subscription_id = ?`, id, subscription)
}
