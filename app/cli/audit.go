package cli

import (
	osuser "os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	consoleapi "confab/app/console/api"
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

func (s *store) audit(tx *storage.Tx, organization int64, action, targetType, targetID string) error {
	return tx.Audit(organization, operator(), action, targetType, targetID)
}

// webhookEntry is the entry for an action on a webhook subscription.
func webhookEntry(rx *storage.Rx, action, id string) (auditEntry, error) {
	organization, err := rx.SubscriptionOrganization(id)
	return auditEntry{organization, action, "webhook_subscription", id}, err
}

func (e *env) audit() *cobra.Command {
	var (
		org   string
		since time.Duration
	)
	limit := listLimit
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show the audit log, oldest first",
		Long: "Show the audit log, oldest first: actions that affect security or cannot be undone, such as sign-ins,\n" +
			"invitations, roles, keys, webhooks and their secrets, replays, templates, numbers, customers and their\n" +
			"links, and deletions. Entries are kept for console.audit_days.",
		Example: "  confab audit\n  confab audit --org org_01J… --since 7d --json",
	}

	optionalOrg(cmd, &org)
	parsedFlag(cmd, &since, "since", "only entries newer than this `age`, such as 1h or 7d", parseAge)
	limitFlag(cmd, &limit)

	columns := table[storage.AuditEntry]{
		heading: []string{"TIME", "ACTOR", "ACTION", "TARGET", "IP", "ORGANIZATION"},
		row: func(a storage.AuditEntry) []string {
			v := consoleapi.ViewAuditEntry(a)
			who := strings.TrimSpace(v.Actor.Type + " " + storage.OrEmpty(v.Actor.Name))
			return []string{
				v.CreatedAt.String(), who, v.Action, storage.OrEmpty(v.AuditTarget.ID),
				storage.OrEmpty(v.IP), storage.OrEmpty(v.OrganizationID),
			}
		},
		view: func(a storage.AuditEntry) any { return consoleapi.ViewAuditEntry(a) },
	}
	return listCommand(e, cmd, columns, func(rx *storage.Rx, _ []string) ([]storage.AuditEntry, error) {
		o, err := optionalOrganization(rx, org)
		if err != nil {
			return nil, err
		}
		return rx.LatestAudit(o.ID, youngerThan(since, rx.ClockTime()), limit)
	})
}
