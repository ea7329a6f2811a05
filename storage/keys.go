package storage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/base64"
	"slices"
	"strconv"

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

	Scopes   Strings  `db:"scopes"` // sorted; none: all
	Accounts Accounts `db:"account_ids"`
	Agent    *string  `db:"agent"` // the bot that uses it

	PhoneNumberIDs []string `db:"-"` // of Accounts, sorted, without those that were removed; nil: all
}

// The scopes of keys: each route of the API needs one.
const (
	ScopeCampaigns = "campaigns"
	ScopeInbox     = "inbox"
	ScopePlatform  = "platform"
	ScopeRead      = "read"
	ScopeSend      = "send"
	ScopeWebhooks  = "webhooks"
)

// Scopes are all scopes, sorted.
func Scopes() []string {
	return []string{ScopeCampaigns, ScopeInbox, ScopePlatform, ScopeRead, ScopeSend, ScopeWebhooks}
}

// HasScope reports whether the key may do what needs a scope.
func (k Key) HasScope(scope string) bool {
	return len(k.Scopes) == 0 || slices.Contains(k.Scopes, scope)
}

// Accounts are those that a key is bound to; none means that it is not bound, and has all
// of its organization. A number that is connected again is another account.
type Accounts []int64

// Bound reports whether the key has only some numbers.
func (a Accounts) Bound() bool { return len(a) > 0 }

// Has reports whether the key has what belongs to an account, or with nil to none.
func (a Accounts) Has(account *int64) bool {
	return !a.Bound() || account != nil && slices.Contains(a, *account)
}

// Value binds the list as JSON.
func (a Accounts) Value() (driver.Value, error) {
	if a == nil {
		return "[]", nil
	}
	return jsonList(a), nil
}

// Scan takes what a TEXT column yields.
func (a *Accounts) Scan(src any) error { return sqlite.ScanJSON(src, (*[]int64)(a)) }

// isAmong is the condition that a column has one of the ids that idText wrote. Lists that an
// index answers use it, because a subquery would be in their plan.
func isAmong(column, text string) string {
	return `instr(` + text + `, ',' || ` + column + ` || ',') > 0`
}

func idText(ids []int64) string {
	text := []byte{','}
	for _, id := range ids {
		text = append(strconv.AppendInt(text, id, 10), ',')
	}
	return string(text)
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

func randomText(bytes int) string {
	random := make([]byte, bytes)
	rand.Read(random)
	return base64.RawURLEncoding.EncodeToString(random)
}

// KeyHash is the stored form of a key.
func KeyHash(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

const selectKeys = `
	SELECT id, organization_id, label, hash, last4, expires_at, revoked_at, last_used_at, created_at, scopes, account_ids, agent
	FROM api_keys `

// withNumbers adds the phone number ids to those of some keys that are bound to some.
func (rx *Rx) withNumbers(keys []Key, err error) ([]Key, error) {
	for i := range keys {
		k := &keys[i]
		if err != nil || !k.Accounts.Bound() {
			continue
		}

		k.PhoneNumberIDs = []string{}
		err = rx.List(&k.PhoneNumberIDs, `
			SELECT phone_number_id
			FROM accounts
			WHERE id IN (SELECT value FROM json_each(?)) AND deleted_at = 0
			ORDER BY phone_number_id`, k.Accounts)
	}
	return keys, err
}

// Principal is a key and the organization that it acts for.
type Principal struct {
	Key          Key
	Organization Organization
}

// Principal finds a key, revoked and expired ones too, by its hash.
func (rx *Rx) Principal(hash [sha256.Size]byte) (Principal, error) {
	return rx.db.caches.principals.find(rx, hash)
}

// Principal is Rx.Principal without a transaction: every request needs it.
func (db *DB) Principal(ctx context.Context, hash [sha256.Size]byte) (Principal, error) {
	return db.caches.principals.fetch(ctx, db, hash)
}

func (rx *Rx) readPrincipal(hash [sha256.Size]byte) (p Principal, err error) {
	p.Key, err = rx.key("hash", hash[:])
	if err != nil {
		return p, err
	}

	p.Organization, err = rx.OrganizationByID(p.Key.OrganizationID)
	return p, err
}

// Keys lists an organization's keys, oldest first.
func (rx *Rx) Keys(organization int64) ([]Key, error) {
	return rx.withNumbers(list[Key](rx, selectKeys+`WHERE organization_id = ? ORDER BY created_at, id`, organization))
}

// KeysPage lists an organization's keys, newest first.
func (rx *Rx) KeysPage(organization int64, after After, limit int) ([]Key, error) {
	return rx.withNumbers(sqlite.ReadRows[Key](&rx.Rx, selectKeys+`
		WHERE organization_id = ? AND (created_at, id) < (?, ?)
		ORDER BY created_at DESC, id DESC
		LIMIT ?`, organization, after.Key, after.ID, limit))
}

// CountKeys counts an organization's keys that are not revoked.
func (rx *Rx) CountKeys(organization int64) (int, error) {
	return get[int](rx, `SELECT count(*) FROM api_keys WHERE organization_id = ? AND revoked_at = 0`, organization)
}

// InsertKey issues a key, fills in k, and returns the secret, which cannot be read again.
func (tx *Tx) InsertKey(k *Key) (secret string, err error) {
	secret = KeyPrefix + randomText(keyRandomBytes)
	hash, id := KeyHash(secret), tx.NewID(PrefixKey)
	_, err = tx.Exec(`
		INSERT INTO api_keys (id, organization_id, label, hash, last4, expires_at, created_at, scopes, account_ids, agent)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, k.OrganizationID, k.Label, hash[:], secret[len(secret)-4:], k.ExpiresAt, tx.Order, k.Scopes, k.Accounts, k.Agent)
	if err == nil {
		*k, err = tx.key("id", id)
	}
	return secret, tx.hint(err, HintKey, Scope{Organization: k.OrganizationID}, id)
}

func (rx *Rx) key(column string, value any) (Key, error) {
	found, err := rx.withNumbers(list[Key](rx, selectKeys+`WHERE `+column+` = ?`, value))
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Key{}, err
	}
	return found[0], nil
}

// RevokeKey ends a key of an organization, or with 0 of any, for good. Twice is as once.
func (tx *Tx) RevokeKey(organization int64, id string) (Key, error) {
	err := tx.ExecOne(`
		UPDATE api_keys
		SET revoked_at = CASE revoked_at WHEN 0 THEN ?1 ELSE revoked_at END
		WHERE id = ?2 AND (?3 = 0 OR organization_id = ?3)`, tx.Now, id, organization)
	if err != nil {
		return Key{}, err
	}

	k, err := tx.key("id", id)
	return k, tx.hint(err, HintKey, Scope{Organization: k.OrganizationID}, k.ID)
}

// MarkKeyUsed records when a key was last used. Times only move forward.
func (tx *Tx) MarkKeyUsed(id string, at Time) error {
	return tx.Run(`
		UPDATE api_keys
		SET last_used_at = ?
		WHERE id = ? AND last_used_at < ?`, at, id, at)
}
