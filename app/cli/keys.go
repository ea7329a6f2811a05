package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"confab/storage"
)

func (e *env) keys() *cobra.Command {
	return e.group("keys", "Issue, list and revoke API keys", e.keysCreate(), e.keysList(), e.keysRevoke())
}

// newKeyView is a new key with its secret, which is shown only once.
type newKeyView struct {
	ID             string       `json:"id"`
	Key            string       `json:"key"`
	Label          *string      `json:"label"`
	Last4          string       `json:"last4"`
	OrganizationID string       `json:"organization_id"`
	ExpiresAt      storage.Time `json:"expires_at"`
}

func (e *env) keysCreate() *cobra.Command {
	var (
		org, label string
		expiresIn  time.Duration
		asJSON     bool
	)
	cmd := &cobra.Command{
		Use:   "create --org ORG",
		Short: "Issue a key and print it once",
		Example: "  confab keys create --org org_01J…\n" +
			"  confab keys create --org org_01J… --label \"nightly export\" --expires-in 30d",
		Args: arguments(),
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			k := storage.Key{}
			if label != "" {
				k.Label = &label
			}
			if expiresIn != 0 {
				k.ExpiresAt = storage.Now().Add(expiresIn)
			}

			var secret string
			err := s.change(cmd.Context(), func(tx *storage.Tx) error {
				o, err := organization(&tx.Rx, org)
				if err != nil {
					return err
				}
				k.OrganizationID = o.ID
				if secret, err = tx.InsertKey(&k); err != nil {
					return err
				}
				return s.audit(tx, o.ID, "key.created", "key", k.ID)
			})
			if err != nil {
				return err
			}

			return printNew(cmd, asJSON, secret, newKeyView{
				ID:             k.ID,
				Key:            secret,
				Label:          k.Label,
				Last4:          k.Last4,
				OrganizationID: org,
				ExpiresAt:      k.ExpiresAt,
			})
		}),
	}

	requiredOrg(cmd, &org, "that the key belongs to")
	parsedFlag(cmd, &label, "label", "what the key is for, a short `text`", parseName)
	parsedFlag(cmd, &expiresIn, "expires-in", "`time` after which the key expires, such as 720h or 30d (default: never)", parseAge)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// keyView is a key without its secret.
type keyView struct {
	ID             string       `json:"id"`
	Object         string       `json:"object"`
	Label          *string      `json:"label"`
	Last4          string       `json:"last4"`
	OrganizationID string       `json:"organization_id"`
	Status         string       `json:"status"`
	CreatedAt      storage.Time `json:"created_at"`
	ExpiresAt      storage.Time `json:"expires_at"`
	RevokedAt      storage.Time `json:"revoked_at"`
	LastUsedAt     storage.Time `json:"last_used_at"`
}

func viewKey(k storage.Key, o storage.Organization) keyView {
	return keyView{
		ID:             k.ID,
		Object:         "api_key",
		Label:          k.Label,
		Last4:          k.Last4,
		OrganizationID: o.PublicID,
		Status:         k.Status(storage.Now()),
		CreatedAt:      k.CreatedAt,
		ExpiresAt:      k.ExpiresAt,
		RevokedAt:      k.RevokedAt,
		LastUsedAt:     k.LastUsedAt,
	}
}

func (e *env) keysList() *cobra.Command {
	var (
		org    string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List keys, revoked and expired ones too",
		Example: "  confab keys list\n  confab keys list --org org_01J… --json",
		Args:    arguments(),
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			s.flushCalls(cmd) // stores when each key was used last, too

			var views []keyView
			err := s.eachOrganization(cmd.Context(), org, func(rx *storage.Rx, o storage.Organization) error {
				keys, err := rx.Keys(o.ID)
				for _, k := range keys {
					views = append(views, viewKey(k, o))
				}
				return err
			})
			if err != nil {
				return err
			}

			heading := []string{"ID", "ORGANIZATION", "KEY", "LABEL", "STATUS", "CREATED", "LAST USED", "EXPIRES"}
			return printList(cmd, asJSON, views, heading, func(v keyView) []string {
				return []string{
					v.ID, v.OrganizationID, "…" + v.Last4, optionalText(v.Label), v.Status,
					v.CreatedAt.String(), v.LastUsedAt.String(), v.ExpiresAt.String(),
				}
			})
		}),
	}

	optionalOrg(cmd, &org)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (e *env) keysRevoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke KEY_ID",
		Short:   "Revoke a key for good; a running server refuses it at once",
		Example: "  confab keys revoke key_01J…",
		Args:    arguments("KEY_ID"),
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			err := s.change(cmd.Context(), func(tx *storage.Tx) error {
				k, err := tx.RevokeKey(0, args[0])
				if err != nil {
					return err
				}
				return s.audit(tx, k.OrganizationID, "key.revoked", "key", k.ID)
			})
			if errors.Is(err, storage.ErrNotFound) {
				return fmt.Errorf("there is no key %s", args[0])
			}
			return err
		}),
	}
}
