package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"confab/app/api"
	"confab/jobs/messaging"
	"confab/storage"
)

// newKeyView is a new key with its secret, which is shown only once.
type newKeyView struct {
	ID             string       `json:"id"`
	Key            string       `json:"key"`
	Label          *string      `json:"label"`
	Last4          string       `json:"last4"`
	OrganizationID string       `json:"organization_id"`
	ExpiresAt      storage.Time `json:"expires_at"`
	api.KeyLimitsView
}

func (e *env) keysCreate() *cobra.Command {
	var (
		org, label, agent string
		expiresIn         time.Duration
		limits            api.KeyLimits
	)
	cmd := &cobra.Command{
		Use:   "create --org ORG",
		Short: "Create a key and print it once",
		Long: "Create a key and print it once. What a key may do never changes: to change it, create another key.\n\n" +
			"Scopes, none of which includes another:\n" +
			"  read       read everything, follow events, try rules\n" +
			"  send       send and cancel messages, read receipts, media\n" +
			"  inbox      change conversations, contacts, labels, quick replies, notes and views\n" +
			"  campaigns  change templates and broadcasts\n" +
			"  webhooks   change webhooks, which receive everything: as wide as read\n" +
			"  platform   change customers, setup links, numbers, rules, hours and opt-out words",
		Example: "  confab keys create --org org_01J…\n" +
			"  confab keys create --org org_01J… --label \"nightly export\" --scope read --expires-in 30d\n" +
			"  confab keys create --org org_01J… --scope read --scope send --number 106540352242922",
		RunE: e.runWrite(func(tx *storage.Tx, _ []string) (done written, err error) {
			o, err := organization(&tx.Rx, org)
			if err != nil {
				return done, err
			}

			k := storage.Key{OrganizationID: o.ID, Label: storage.OrNil(label), Agent: storage.OrNil(agent)}
			if err := applyKeyLimits(&tx.Rx, &k, limits); err != nil {
				return done, err
			}
			if expiresIn != 0 {
				k.ExpiresAt = tx.Now.Add(expiresIn)
			}
			secret, err := tx.InsertKey(&k)

			return written{auditEntry{o.ID, "key.created", "key", k.ID}, secret, newKeyView{
				ID:             k.ID,
				Key:            secret,
				Label:          k.Label,
				Last4:          k.Last4,
				OrganizationID: org,
				ExpiresAt:      k.ExpiresAt,
				KeyLimitsView:  api.ViewKeyLimits(k),
			}}, err
		}),
	}

	requiredOrg(cmd, &org, "that owns the key")
	parsedFlag(cmd, &label, "label", "what the key is for, a short `text`", parseName)
	parsedFlag(cmd, &expiresIn, "expires-in", "`time` after which the key expires, such as 720h or 30d (default: never)", parseAge)
	cmd.Flags().Func("scope", "allow only this `scope`; repeat for several (default: all)", func(s string) error {
		limits.Scopes = append(limits.Scopes, s)
		if known := storage.Scopes(); s != "*" && !slices.Contains(known, s) {
			return errors.New("must be one of " + strings.Join(known, ", "))
		}
		return nil
	})
	cmd.Flags().StringArrayVar(&limits.PhoneNumberIDs, "number", nil,
		"allow only this `phone_number_id`; repeat for several (default: all)")
	parsedFlag(cmd, &agent, "agent", "the bot that uses the key: keys with the same `name` are one bot", parseName)
	return withJSON(cmd)
}

// applyKeyLimits gives a new key its limits, and names the flag of one that is refused.
func applyKeyLimits(rx *storage.Rx, k *storage.Key, limits api.KeyLimits) error {
	err := limits.Validate()
	if err == nil {
		err = limits.Apply(rx, k)
	}

	names := make(map[string]string)
	for i, scope := range limits.Scopes {
		names[fmt.Sprintf("scopes[%d]", i)] = "--scope " + scope
	}
	for i, number := range limits.PhoneNumberIDs {
		names[fmt.Sprintf("phone_number_ids[%d]", i)] = "--number " + number
	}
	return plainError(err, names)
}

// keyView is a key without its secret.
type keyView struct {
	api.KeyView
	OrganizationID string       `json:"organization_id"`
	Status         string       `json:"status"`
	RevokedAt      storage.Time `json:"revoked_at"`
	LastUsedAt     storage.Time `json:"last_used_at"`
}

func viewKey(k storage.Key, o storage.Organization, now storage.Time) keyView {
	return keyView{api.ViewKey(k), o.PublicID, k.Status(now), k.RevokedAt, k.LastUsedAt}
}

func (e *env) keysList() *cobra.Command {
	columns := table[keyView]{
		heading: []string{"ID", "ORGANIZATION", "KEY", "LABEL", "STATUS", "CREATED", "LAST USED", "EXPIRES", "SCOPES", "NUMBERS", "AGENT"},
		row: func(v keyView) []string {
			return []string{
				v.ID, v.OrganizationID, "…" + v.Last4, storage.OrEmpty(v.Label), v.Status,
				v.CreatedAt.String(), v.LastUsedAt.String(), v.ExpiresAt.String(),
				strings.Join(v.Scopes, ","), numbersOfKey(v.PhoneNumberIDs), storage.OrEmpty(v.Agent),
			}
		},
		flush: true,
	}
	return organizationList(e, "keys", "List keys, including revoked and expired ones", columns, (*storage.Rx).Keys, viewKey)
}

// numbersOfKey are the numbers that a key is bound to, in a table.
func numbersOfKey(numbers []string) string {
	switch {
	case numbers == nil:
		return "*"
	case len(numbers) == 0:
		return "none" // those that it had were removed
	}
	return strings.Join(numbers, ",")
}

func (e *env) keysRevoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke KEY_ID",
		Short:   "Revoke a key permanently, effective immediately",
		Example: "  confab keys revoke key_01J…",
		RunE: e.runWrite(func(tx *storage.Tx, args []string) (written, error) {
			k, err := tx.RevokeKey(0, args[0])
			if err == nil && k.Agent != nil {
				_, err = messaging.ReleaseHolders(tx)
			}
			return written{entry: auditEntry{k.OrganizationID, "key.revoked", "key", k.ID}}, notFound(err, "key", args[0])
		}),
	}
}
