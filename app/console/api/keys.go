package api

import (
	"strconv"
	"time"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/jobs/messaging"
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
	api.KeyView
	Status     string       `json:"status"`
	RevokedAt  storage.Time `json:"revoked_at"`
	LastUsedAt storage.Time `json:"last_used_at"`
}

func viewKey(k storage.Key, now storage.Time) fullKeyView {
	return fullKeyView{
		KeyView:    api.ViewKey(k),
		Status:     k.Status(now),
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
func (s *Server) listKeys(r *rest.Request) (rest.Reply, error) {
	if err := s.APILog.FlushLastUsed(r.HTTP.Context()); err != nil {
		return rest.Reply{}, err
	}

	return rest.ListOf(s.Server, r, rest.Lister[storage.Key, fullKeyView]{
		Scope: "keys",
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.Key, storage.After, error) {
			rows, err := rx.Within(q.Budget).KeysPage(r.Org.ID, q.After, q.Fetch())
			return rows, storage.Last, err
		},
		Key:  func(k storage.Key) storage.After { return storage.After{Key: k.CreatedAt, ID: k.ID} },
		View: func(k storage.Key) fullKeyView { return viewKey(k, r.Now) },
	})
}

// newKey is the body of POST /console/api/keys.
type newKey struct {
	Label          *string `json:"label"`
	ExpiresInHours *int    `json:"expires_in_hours"`
	ExpiresAt      *string `json:"expires_at"`
	end            storage.Time
	rest.Timed
	api.KeyLimits
}

func (k *newKey) Validate() error {
	if err := rest.Optional("label", k.Label, maxKeyLabel); err != nil {
		return err
	}
	if k.ExpiresInHours != nil && (*k.ExpiresInHours < 1 || *k.ExpiresInHours > maxKeyHours) {
		return rest.Invalid("expires_in_hours", "must be a number from 1 to "+strconv.Itoa(maxKeyHours))
	}
	if k.ExpiresInHours != nil && k.ExpiresAt != nil {
		return rest.Invalid("expires_at", "cannot be given together with expires_in_hours")
	}

	var err error
	if k.end, err = k.TimeAhead("expires_at", k.ExpiresAt, maxKeyHours*time.Hour, "ten years"); err != nil {
		return err
	}
	return k.KeyLimits.Validate()
}

// createKey handles POST /console/api/keys.
func (s *Server) createKey(r *rest.Request, in newKey) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		n, err := tx.CountKeys(r.Org.ID)
		if err != nil {
			return rest.Reply{}, err
		}
		if n >= maxKeys {
			return rest.Reply{}, rest.Invalid("keys", "are limited to "+strconv.Itoa(maxKeys)+": revoke one first")
		}

		k := storage.Key{OrganizationID: r.Org.ID, Label: in.Label, ExpiresAt: in.end}
		if in.ExpiresInHours != nil {
			k.ExpiresAt = tx.Now.Add(time.Duration(*in.ExpiresInHours) * time.Hour)
		}
		if err := in.Apply(&tx.Rx, &k); err != nil {
			return rest.Reply{}, err
		}
		secret, err := tx.InsertKey(&k)
		return rest.Created(newKeyView{viewKey(k, r.Now), secret}).WithSecret(), err
	})
}

// revokeKey handles DELETE /console/api/keys/:id. It answers with the key, which stays
// in the list.
func (s *Server) revokeKey(r *rest.Request) (rest.Reply, error) {
	id := r.Param("id")
	if !storage.ValidID(storage.PrefixKey, id) {
		return rest.Reply{}, rest.NotFound()
	}
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		k, err := tx.RevokeKey(r.Org.ID, id)
		if err == nil && k.Agent != nil {
			_, err = messaging.ReleaseHolders(tx)
		}
		return rest.OK(viewKey(k, r.Now)), err
	})
}
