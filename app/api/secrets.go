package api

import (
	"cmp"
	"time"

	"confab/app/api/rest"
	"confab/storage"
)

const (
	maxLiveSecrets = 10
	maxSecretHours = 8760
)

// newSecretView is a signing secret just created. Only here is the secret itself shown.
type newSecretView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Plain  string `json:"secret"`
	storage.Secret
}

// newSecret is the body of POST /v1/webhook_subscriptions/:id/secrets.
type newSecret struct {
	ExpiresInHours *int    `json:"expires_in_hours"`
	Secret         *string `json:"secret"` // only for a native webhook
}

func (n *newSecret) Validate() error {
	if h := n.ExpiresInHours; h != nil && (*h < 1 || *h > maxSecretHours) {
		return rest.Invalid("expires_in_hours", "must be a whole number from 1 to 8760")
	}
	return nil
}

// createSecret handles POST /v1/webhook_subscriptions/:id/secrets.
func (s *Server) createSecret(r *rest.Request, in newSecret) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, EnabledSubscriptionIn, func(tx *storage.Tx, sub storage.Subscription) (rest.Reply, error) {
		if err := checkGivenSecret(sub.Format, in.Secret); err != nil {
			return rest.Reply{}, err
		}
		secrets, err := tx.Secrets(sub.ID)
		if err != nil {
			return rest.Reply{}, err
		}
		if live, _ := countSecrets(secrets, tx.Now); live >= maxLiveSecrets {
			return rest.Reply{}, rest.Invalid("secrets", "has 10 live ones, the maximum: revoke one first")
		}

		life := time.Duration(*cmp.Or(in.ExpiresInHours, new(0))) * time.Hour
		secret, plain, err := tx.InsertSecret(sub.ID, storage.OrEmpty(in.Secret), life)
		return rest.Created(newSecretView{secret.ID, "webhook_secret", plain, secret}).WithSecret(), err
	})
}

// countSecrets counts the secrets that are not expired, and those that never expire.
func countSecrets(secrets []storage.Secret, now storage.Time) (live, lasting int) {
	for _, s := range secrets {
		if s.Live(now) {
			live++
		}
		if s.ExpiresAt == 0 {
			lasting++
		}
	}
	return live, lasting
}

// checkRevocable refuses to revoke a secret without which the subscription would have
// none to sign with, now or once the others have expired.
func checkRevocable(secrets []storage.Secret, id string, now storage.Time) error {
	live, lasting := countSecrets(secrets, now)
	for _, s := range secrets {
		switch {
		case s.ID != id:
			continue
		case s.ExpiresAt == 0 && lasting == 1:
			return rest.Fail(rest.LastSecret,
				"This is the subscription's only signing secret that does not expire. Create another one first.")
		case s.Live(now) && live == 1:
			return rest.Fail(rest.LastSecret,
				"This is the subscription's only live signing secret. Create another one first.")
		}
	}
	return nil
}

// deleteSecret handles DELETE /v1/webhook_subscriptions/:id/secrets/:secret_id.
func (s *Server) deleteSecret(r *rest.Request) (rest.Reply, error) {
	id := r.Param("secret_id")
	return rest.UpdateFound(s.Server, r, SubscriptionIn, func(tx *storage.Tx, sub storage.Subscription) (rest.Reply, error) {
		secrets, err := tx.Secrets(sub.ID)
		if err != nil {
			return rest.Reply{}, err
		}

		if err := checkRevocable(secrets, id, tx.Now); err != nil {
			return rest.Reply{}, err
		}

		return rest.Deleted("webhook_secret", id), tx.DeleteSecret(sub.ID, id)
	})
}
