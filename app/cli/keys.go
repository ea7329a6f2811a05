package cli

import (
	"time"

	"github.com/spf13/cobra"

	"confab/storage"
)

func (e *env) keys() *cobra.Command {
	return e.group("keys", "Create, list and revoke API keys", e.keysCreate(), e.keysList(), e.keysRevoke())
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
	)
	cmd := &cobra.Command{
		Use:   "create --org ORG",
		Short: "Create a key and print it once",
		Example: "  confab keys create --org org_01J…\n" +
			"  confab keys create --org org_01J… --label \"nightly export\" --expires-in 30d",
		RunE: e.runWrite(func(tx *storage.Tx, _ []string) (done written, err error) {
			o, err := organization(&tx.Rx, org)
			if err != nil {
				return done, err
			}

			k := storage.Key{OrganizationID: o.ID}
			if label != "" {
				k.Label = &label
			}
			if expiresIn != 0 {
				k.ExpiresAt = storage.Now().Add(expiresIn)
			}
			secret, err := tx.InsertKey(&k)

			return written{auditEntry{o.ID, "key.created", "key", k.ID}, secret, newKeyView{
				ID:             k.ID,
				Key:            secret,
				Label:          k.Label,
				Last4:          k.Last4,
				OrganizationID: org,
				ExpiresAt:      k.ExpiresAt,
			}}, err
		}),
	}

	requiredOrg(cmd, &org, "that owns the key")
	parsedFlag(cmd, &label, "label", "what the key is for, a short `text`", parseName)
	parsedFlag(cmd, &expiresIn, "expires-in", "`time` after which the key expires, such as 720h or 30d (default: never)", parseAge)
	return withJSON(cmd)
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
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List keys, including revoked and expired ones",
		Example: "  confab keys list\n  confab keys list --org org_01J… --json",
	}

	columns := table[keyView]{
		heading: []string{"ID", "ORGANIZATION", "KEY", "LABEL", "STATUS", "CREATED", "LAST USED", "EXPIRES"},
		row: func(v keyView) []string {
			return []string{
				v.ID, v.OrganizationID, "…" + v.Last4, optionalText(v.Label), v.Status,
				v.CreatedAt.String(), v.LastUsedAt.String(), v.ExpiresAt.String(),
			}
		},
		flush: true,
	}
	return listCommand(e, cmd, columns, readEachOrganization(cmd, (*storage.Rx).Keys, viewKey))
}

func (e *env) keysRevoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke KEY_ID",
		Short:   "Revoke a key permanently, effective immediately",
		Example: "  confab keys revoke key_01J…",
		RunE: e.runWrite(func(tx *storage.Tx, args []string) (written, error) {
			k, err := tx.RevokeKey(0, args[0])
			return written{entry: auditEntry{k.OrganizationID, "key.revoked", "key", k.ID}}, notFound(err, "key", args[0])
		}),
	}
}
