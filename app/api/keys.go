package api

import (
	"strconv"
	"time"

	"confab/storage"
)

const (
	maxKeyLabel = 200
	// maxKeyHours is how long a key may last: ten years.
	maxKeyHours = 87_600
	// maxKeys is how many keys an organization may have that are not revoked.
	maxKeys = 1000
)

// fullKeyView is an API key without its secret, as the console lists it.
type fullKeyView struct {
	keyView
	Status     string       `json:"status"`
	RevokedAt  storage.Time `json:"revoked_at"`
	LastUsedAt storage.Time `json:"last_used_at"`
}

func viewKey(k storage.Key) fullKeyView {
	return fullKeyView{
		keyView: keyView{
			ID:        k.ID,
			Object:    "api_key",
			Label:     k.Label,
			Last4:     k.Last4,
			CreatedAt: k.CreatedAt,
			ExpiresAt: k.ExpiresAt,
		},
		Status:     k.Status(storage.Now()),
		RevokedAt:  k.RevokedAt,
		LastUsedAt: k.LastUsedAt,
	}
}

// newKeyView is a new key with its secret, which is shown once.
type newKeyView struct {
	fullKeyView
	Key string `json:"key"`
}

// listKeys handles GET /console/api/keys.
func (s *Server) listKeys(r *request) (reply, error) {
	if err := s.calls.flushLastUsed(r.http.Context()); err != nil {
		return reply{}, err
	}

	return listOf(s, r, lister[storage.Key, fullKeyView]{
		scope: "keys",
		read: func(rx *storage.Rx, q *listQuery) ([]storage.Key, storage.After, error) {
			rows, err := rx.Within(q.budget).KeysPage(r.org.ID, q.after, q.fetch())
			return rows, storage.Last, err
		},
		key:  func(k storage.Key) storage.After { return storage.After{Key: k.CreatedAt, ID: k.ID} },
		view: viewKey,
	})
}

// newKey is the body of POST /console/api/keys.
type newKey struct {
	Label          *string `json:"label"`
	ExpiresInHours *int    `json:"expires_in_hours"`
}

func (k *newKey) validate() error {
	switch {
	case k.Label != nil && !between(*k.Label, 1, maxKeyLabel):
		return invalid("label", lengthRule(1, maxKeyLabel))
	case k.ExpiresInHours != nil && (*k.ExpiresInHours < 1 || *k.ExpiresInHours > maxKeyHours):
		return invalid("expires_in_hours", "must be a number from 1 to "+strconv.Itoa(maxKeyHours))
	}
	return nil
}

// createKey handles POST /console/api/keys.
func (s *Server) createKey(r *request) (reply, error) {
	var in newKey
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	return s.update(r, func(tx *storage.Tx) (reply, error) {
		n, err := tx.CountKeys(r.org.ID)
		if err != nil {
			return reply{}, err
		}
		if n >= maxKeys {
			return reply{}, invalid("keys", "are "+strconv.Itoa(maxKeys)+", which is the most: revoke one first")
		}

		k := storage.Key{OrganizationID: r.org.ID, Label: in.Label}
		if in.ExpiresInHours != nil {
			k.ExpiresAt = tx.Now.Add(time.Duration(*in.ExpiresInHours) * time.Hour)
		}
		secret, err := tx.InsertKey(&k)
		rep := created(newKeyView{viewKey(k), secret})
		rep.secret = true
		return rep, err
	})
}

// revokeKey handles DELETE /console/api/keys/:id. It answers with the key, which stays
// in the list.
func (s *Server) revokeKey(r *request) (reply, error) {
	id := r.param("id")
	if !storage.ValidID(storage.PrefixKey, id) {
		return reply{}, notFound()
	}
	return s.update(r, func(tx *storage.Tx) (reply, error) {
		k, err := tx.RevokeKey(r.org.ID, id)
		return ok(viewKey(k)), err
	})
}
