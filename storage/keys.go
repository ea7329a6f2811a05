package storage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"

	"confab/storage/sqlite"
)

// KeyPrefix begins every API key.
const KeyPrefix = "svc_live_"

// keyRandomBytes become 24 characters of base64.
const keyRandomBytes = 18

// KeyLength is the length of every API key.
const KeyLength = len(KeyPrefix) + keyRandomBytes*4/3

// Key is an API key without the secret itself.
type Key struct {
	ID             string  `db:"id"`
	OrganizationID int64   `db:"organization_id"`
	Label          *string `db:"label"`
	Hash           []byte  `db:"hash"`
	Last4          string  `db:"last4"`
	ExpiresAt      Time    `db:"expires_at"`
	RevokedAt      Time    `db:"revoked_at"`
	LastUsedAt     Time    `db:"last_used_at"`
	CreatedAt      Time    `db:"created_at"`
}

// Status is whether the key can be used at a time: active, revoked or expired.
func (k Key) Status(now Time) string {
	switch {
	case k.RevokedAt != 0:
		return "revoked"
	case k.ExpiresAt != 0 && k.ExpiresAt <= now:
		return "expired"
	default:
		return "active"
	}
}

// KeyHash is the stored form of a key.
func KeyHash(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

const keyColumns = `id, organization_id, label, hash, last4, expires_at, revoked_at, last_used_at, created_at`

// Principal is a key and the organization that it acts for.
type Principal struct {
	Key          Key
	Organization Organization
}

// Principal finds a key, revoked and expired ones too, by its hash.
func (rx *Rx) Principal(hash [sha256.Size]byte) (Principal, error) {
	return rx.db.caches.principals.find(rx, hash)
}

// Principal is Rx.Principal for callers without a transaction: every request needs
// it.
func (db *DB) Principal(ctx context.Context, hash [sha256.Size]byte) (Principal, error) {
	return db.caches.principals.fetch(ctx, db, hash)
}

func (rx *Rx) readPrincipal(hash [sha256.Size]byte) (p Principal, err error) {
	err = rx.Get(&p.Key, `
		SELECT `+keyColumns+`
		FROM api_keys
		WHERE hash = ?`, hash[:])
	if err != nil {
		return p, err
	}

	err = rx.Get(&p.Organization, `
		SELECT `+organizationColumns+`
		FROM organizations
		WHERE id = ?`, p.Key.OrganizationID)
	return p, err
}

// Keys lists an organization's keys, oldest first.
func (rx *Rx) Keys(organization int64) ([]Key, error) {
	return list[Key](rx, `
		SELECT `+keyColumns+`
		FROM api_keys
		WHERE organization_id = ?
		ORDER BY created_at, id`, organization)
}

// KeysPage lists an organization's keys, newest first.
func (rx *Rx) KeysPage(organization int64, after After, limit int) ([]Key, error) {
	return sqlite.ReadRows[Key](&rx.Rx, `
		SELECT `+keyColumns+`
		FROM api_keys
		WHERE organization_id = ? AND (created_at, id) < (?, ?)
		ORDER BY created_at DESC, id DESC
		LIMIT ?`, organization, after.Key, after.ID, limit)
}

// CountKeys counts an organization's keys that are not revoked.
func (rx *Rx) CountKeys(organization int64) (int, error) {
	return get[int](rx, `SELECT count(*) FROM api_keys WHERE organization_id = ? AND revoked_at = 0`, organization)
}

// InsertKey issues a new key, fills in k, and returns the secret, which cannot
// be read again.
func (tx *Tx) InsertKey(k *Key) (secret string, err error) {
	random := make([]byte, keyRandomBytes)
	rand.Read(random)
	secret = KeyPrefix + base64.RawURLEncoding.EncodeToString(random)

	hash := KeyHash(secret)
	k.ID, k.CreatedAt = tx.NewID(PrefixKey), tx.Order
	k.Hash, k.Last4 = hash[:], secret[len(secret)-4:]

	_, err = tx.Exec(`
		INSERT INTO api_keys (id, organization_id, label, hash, last4, expires_at, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, k.ID, k.OrganizationID, k.Label, k.Hash, k.Last4, k.ExpiresAt, k.CreatedAt)
	return secret, tx.hint(err, HintKey, Scope{Organization: k.OrganizationID}, k.ID)
}

// RevokeKey ends a key of an organization, or with 0 of any, for good, and returns it.
// Revoking it again changes nothing.
func (tx *Tx) RevokeKey(organization int64, id string) (Key, error) {
	err := tx.ExecOne(`
		UPDATE api_keys
		SET revoked_at = CASE revoked_at WHEN 0 THEN ?1 ELSE revoked_at END
		WHERE id = ?2 AND (?3 = 0 OR organization_id = ?3)`, tx.Now, id, organization)
	if err != nil {
		return Key{}, err
	}

	var k Key
	err = tx.Get(&k, `
		SELECT `+keyColumns+`
		FROM api_keys
		WHERE id = ?`, id)
	return k, tx.hint(err, HintKey, Scope{Organization: k.OrganizationID}, k.ID)
}

// MarkKeyUsed records when a key was last used. Times only move forward.
func (tx *Tx) MarkKeyUsed(id string, at Time) error {
	_, err := tx.Exec(`
		UPDATE api_keys
		SET last_used_at = ?
		WHERE id = ? AND last_used_at < ?`, at, id, at)
	return err
}
