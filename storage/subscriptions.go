package storage

import (
	"cmp"
	"encoding/json"
	"fmt"

	"confab/storage/sqlite"
)

// States of a subscription.
const (
	WebhookActive   = "active"
	WebhookPaused   = "paused"
	WebhookDisabled = "disabled"
)

// Formats of what a subscription receives.
const (
	FormatSvc      = "svc"
	FormatProvider = "provider" // the provider's own envelopes
)

// Why a subscription was disabled.
const (
	ReasonFailures = "consecutive_failures"
	ReasonGone     = "endpoint_gone"
)

// Subscription is an endpoint that wants events.
type Subscription struct {
	ID                  string  `db:"id" json:"id"`
	OrganizationID      int64   `db:"organization_id" json:"-"`
	URL                 string  `db:"url" json:"url"`
	Description         *string `db:"description" json:"description"`
	Events              Strings `db:"events" json:"events"`
	SealedHeaders       []byte  `db:"custom_headers" json:"-"`
	Status              string  `db:"status" json:"status"`
	DisabledReason      *string `db:"disabled_reason" json:"disabled_reason"`
	ConsecutiveFailures int     `db:"consecutive_failures" json:"consecutive_failures"`
	FailingSince        Time    `db:"failing_since" json:"-"`
	SealedVerifyToken   []byte  `db:"verify_token" json:"-"`

	Secrets        []Secret          `db:"-" json:"secrets"` // where it is shown
	PhoneNumberIDs Strings           `db:"phone_number_ids" json:"phone_number_ids"`
	CustomHeaders  map[string]string `db:"-" json:"custom_headers"` // SealedHeaders, opened
	VerifyToken    string            `db:"-" json:"-"`              // likewise; only of FormatProvider
	FirstSecret    string            `db:"-" json:"-"`              // of a new one, where its client gives one
	Format         string            `db:"format" json:"format"`
	CreatedAt      Time              `db:"created_at" json:"created_at"`
	UpdatedAt      Time              `db:"updated_at" json:"updated_at"`
}

const selectSubscriptions = `
	SELECT id, organization_id, url, description, events, phone_number_ids, custom_headers,
		status, disabled_reason, consecutive_failures, failing_since, created_at, updated_at, format, verify_token
	FROM subscriptions `

func headersPurpose(subscription string) string { return "custom headers of " + subscription }

func verifyPurpose(subscription string) string { return "verify token of " + subscription }

func (rx *Rx) openSealed(s *Subscription) error {
	if s.SealedVerifyToken != nil {
		token, err := rx.db.Unseal(verifyPurpose(s.ID), s.SealedVerifyToken)
		if err != nil {
			return err
		}
		s.VerifyToken = string(token)
	}
	if s.SealedHeaders == nil {
		return nil
	}
	text, err := rx.db.Unseal(headersPurpose(s.ID), s.SealedHeaders)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &s.CustomHeaders)
}

func (tx *Tx) seal(s *Subscription) error {
	s.SealedHeaders, s.SealedVerifyToken = nil, nil
	if s.VerifyToken != "" {
		s.SealedVerifyToken = tx.db.Seal(verifyPurpose(s.ID), []byte(s.VerifyToken))
	}
	if len(s.CustomHeaders) == 0 {
		return nil
	}

	text, err := json.Marshal(s.CustomHeaders)
	if err != nil {
		return fmt.Errorf("seal custom headers: %w", err)
	}

	s.SealedHeaders = tx.db.Seal(headersPurpose(s.ID), text)
	return nil
}

// Subscription finds a subscription of an organization.
func (rx *Rx) Subscription(organization int64, id string) (Subscription, error) {
	s, err := rx.Endpoint(id)
	if err == nil && s.OrganizationID != organization {
		return Subscription{}, ErrNotFound
	}
	return s, err
}

// Endpoint finds a subscription for a delivery to it.
func (rx *Rx) Endpoint(id string) (Subscription, error) {
	s, err := get[Subscription](rx, selectSubscriptions+`WHERE id = ? AND deleted_at = 0`, id)
	if err == nil {
		err = rx.openSealed(&s)
	}
	return s, err
}

// Subscriptions lists an organization's subscriptions, newest first.
func (rx *Rx) Subscriptions(organization int64, after After, limit int) ([]Subscription, error) {
	page, err := sqlite.ReadRows[Subscription](&rx.Rx, selectSubscriptions+`
		WHERE organization_id = ? AND deleted_at = 0 AND (created_at, id) < (?, ?)
		ORDER BY created_at DESC, id DESC
		LIMIT ?`, organization, after.Key, after.ID, limit)
	if err != nil {
		return nil, err
	}

	for i := range page {
		if err := rx.openSealed(&page[i]); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// CountSubscriptions counts an organization's subscriptions.
func (rx *Rx) CountSubscriptions(organization int64) (int, error) {
	return get[int](rx, `SELECT count(*) FROM subscriptions WHERE organization_id = ? AND deleted_at = 0`, organization)
}

// InsertSubscription stores a new subscription, active or paused, with its first
// signing secret, whose plaintext it returns. It fills in id and times.
func (tx *Tx) InsertSubscription(s *Subscription) (secret string, err error) {
	s.ID = tx.NewID(PrefixSubscription)
	s.CreatedAt, s.UpdatedAt = tx.Order, tx.Order
	s.Format = cmp.Or(s.Format, FormatSvc)
	if err := tx.seal(s); err != nil {
		return "", err
	}

	err = tx.InsertRow("subscriptions", "id, organization_id, url, description, events, phone_number_ids, custom_headers, status, "+
		"created_at, updated_at, format, verify_token", s)
	if err != nil {
		return "", err
	}
	if s.Status != WebhookActive {
		tx.closeLane(deliveryLane(s.ID))
	}

	_, secret, err = tx.InsertSecret(s.ID, s.FirstSecret, 0)
	return secret, tx.hintSubscription(err, s.ID)
}

// UpdateSubscription stores what a client can change of s, but for its status.
func (tx *Tx) UpdateSubscription(s *Subscription) error {
	if err := tx.seal(s); err != nil {
		return err
	}

	s.UpdatedAt = tx.Order
	const changeable = "url, description, events, phone_number_ids, custom_headers, verify_token, updated_at"
	return tx.hintSubscription(tx.UpdateRow("subscriptions", changeable, "id, organization_id", s), s.ID)
}
