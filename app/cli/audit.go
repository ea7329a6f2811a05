package cli

import (
	"context"
	osuser "os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"confab/app/api"
	"confab/storage"
)

// operator is who runs the command, as the audit log shows it.
func operator() storage.Actor {
	by := storage.Actor{Type: storage.ActorCommandLine}
	if account, err := osuser.Current(); err == nil && account.Username != "" {
		by.Name = &account.Username
	}
	return by
}

// audit records in a transaction what the command does.
func (s *store) audit(tx *storage.Tx, organization int64, action, targetType, targetID string) error {
	return tx.Audit(organization, operator(), action, targetType, targetID)
}

// auditWebhook is audit for a webhook subscription.
func (s *store) auditWebhook(tx *storage.Tx, action, id string) error {
	organization, err := tx.SubscriptionOrganization(id)
	if err != nil {
		return err
	}
	return s.audit(tx, organization, action, "webhook_subscription", id)
}

func (e *env) audit() *cobra.Command {
	var (
		org    string
		since  time.Duration
		asJSON bool
	)
	limit := listLimit
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show who did what that matters for safety, oldest first",
		Long: "Show who did what that matters for safety or cannot be undone, oldest first: signing in and out, invitations,\n" +
			"roles, keys, webhooks and their secrets, replays, templates, numbers, customers and their links, and what was\n" +
			"deleted. It is kept for console.audit_days.",
		Example: "  confab audit\n  confab audit --org org_01J… --since 7d --json",
		Args:    arguments(),
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			entries, err := s.latestAudit(cmd.Context(), org, since, limit)
			if err != nil {
				return err
			}

			var views []api.AuditView
			for _, a := range entries {
				views = append(views, api.ViewAuditEntry(a))
			}

			heading := []string{"AT", "WHO", "ACTION", "TARGET", "ADDRESS", "ORGANIZATION"}
			return printList(cmd, asJSON, views, heading, func(v api.AuditView) []string {
				who := strings.TrimSpace(v.Actor.Type + " " + optionalText(v.Actor.Name))
				return []string{v.At.String(), who, v.Action, optionalText(v.Target.ID), optionalText(v.IP), optionalText(v.OrganizationID)}
			})
		}),
	}

	optionalOrg(cmd, &org)
	parsedFlag(cmd, &since, "since", "only what is younger than this `age`, such as 1h or 7d", parseAge)
	limitFlag(cmd, &limit)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// latestAudit reads the audit log of an organization, or of the whole server.
func (s *store) latestAudit(ctx context.Context, org string, age time.Duration, limit int) (entries []storage.AuditEntry, err error) {
	var since storage.Time
	if age != 0 {
		since = storage.Now().Add(-age)
	}

	err = s.View(ctx, func(rx *storage.Rx) error {
		var o storage.Organization
		if org != "" {
			if o, err = organization(rx, org); err != nil {
				return err
			}
		}

		entries, err = rx.LatestAudit(o.ID, since, limit)
		return err
	})
	return entries, err
}
