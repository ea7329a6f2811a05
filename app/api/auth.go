package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"time"

	"confab/storage"
)

// principal is a key and the organization that it stands for.
type principal struct {
	key  storage.Key
	org  storage.Organization
	read storage.Time // when
}

// principalLife is how long a principal is believed. Changes are told at once;
// this is for a command that died between its change and its word.
const principalLife = 10 * time.Second

// keyring caches principals by the hash of their key. Keys that do not exist
// are not cached: a stranger must not fill the memory.
type keyring struct {
	db *storage.DB

	mu         sync.RWMutex
	known      map[[sha256.Size]byte]principal
	generation int
}

func newKeyring(db *storage.DB) *keyring {
	return &keyring{db: db, known: make(map[[sha256.Size]byte]principal)}
}

// find returns the principal of a key's hash, or storage.ErrNotFound.
func (k *keyring) find(ctx context.Context, hash [sha256.Size]byte) (principal, error) {
	k.mu.RLock()
	p, ok := k.known[hash]
	generation := k.generation
	k.mu.RUnlock()
	if ok && storage.Now() < p.read.Add(principalLife) {
		return p, nil
	}
	p = principal{read: storage.Now()}
	err := k.db.View(ctx, func(rx *storage.Rx) (err error) {
		p.key, p.org, err = rx.KeyByHash(hash)
		return err
	})
	if err != nil {
		return p, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.generation == generation { // else what was read may be from before the change
		k.known[hash] = p
	}
	return p, nil
}

// clear forgets everything: a key or an organization was changed.
func (k *keyring) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.known)
	k.generation++
}

// authenticate finds out who is calling.
func (s *Server) authenticate(r *request) error {
	headers := r.http.Header.Values("Authorization")
	if len(headers) == 0 || (len(headers) == 1 && headers[0] == "") {
		return fail(MissingAPIKey, "Send your API key as 'Authorization: Bearer svc_live_…'.")
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || len(token) != storage.KeyLength || !strings.HasPrefix(token, storage.KeyPrefix) {
		return fail(InvalidAPIKey, "This is not an API key.")
	}
	p, err := s.keys.find(r.http.Context(), storage.KeyHash(token))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return fail(InvalidAPIKey, "There is no such API key.")
	case err != nil:
		return err
	case p.key.RevokedAt != 0:
		return fail(RevokedAPIKey, "This API key was revoked.")
	case p.key.ExpiresAt != 0 && p.key.ExpiresAt <= storage.Now():
		return fail(ExpiredAPIKey, "This API key has expired.")
	}
	r.key, r.org, r.plan = p.key, p.org, s.plan(p.org)
	return nil
}
