package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"confab/app"
	"confab/storage"
)

// purgeView is what a purge has deleted, or would delete.
type purgeView struct {
	Object string       `json:"object"`
	DryRun bool         `json:"dry_run"`
	Before storage.Time `json:"before"`
	storage.Purged
}

// purgeFlags say what is to be purged.
type purgeFlags struct {
	age          time.Duration
	org, account string
	dryRun       bool
	asJSON       bool
}

func (e *env) purge() *cobra.Command {
	var f purgeFlags
	cmd := &cobra.Command{
		Use:   "purge",
		Short: "Delete messages, events and logs that are older than you want them",
		Long: "Delete messages with the media that came with them, events with their deliveries, lines of the API\n" +
			"log and raw callbacks that are older than an age, and give the space back. Contacts, conversations\n" +
			"and the media library stay, as does what is still under way. It goes in small steps beside the\n" +
			"server's work; where a server runs, that does it. Stop it at any time and run it again for the rest.\n\n" +
			"What the settings say is deleted in time without this: retention_days of the plan for messages, of\n" +
			"[webhooks] for events, and log.api_log_days.",
		Example: "  confab purge --older-than 90d --dry-run\n  confab purge --older-than 90d --org org_01J…\n  confab purge --older-than 720h --account 106540352242922 --json",
		Args:    arguments(),
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			v, err := s.purge(cmd, f)
			if err != nil {
				return err
			}

			heading := "DELETED"
			if f.dryRun {
				heading = "WOULD DELETE"
			}
			return printOne(cmd, f.asJSON, v, [][]string{{"WHAT", heading},
				{"messages", formatCount(v.Messages)}, {"media", formatCount(v.Media)}, {"events", formatCount(v.Events)}, {"deliveries", formatCount(v.Deliveries)},
				{"API log", formatCount(v.Calls)}, {"raw callbacks", formatCount(v.RawCallbacks)}})
		}),
	}

	parsedFlag(cmd, &f.age, "older-than", "delete what is older than this `age`, such as 90d or 720h", parseAge)
	cmd.MarkFlagRequired("older-than")
	optionalOrg(cmd, &f.org)
	parsedFlag(cmd, &f.account, "account", "only of the account with this `phone number id`", parseText)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only count")
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

// purge counts, and deletes unless that is all that is wanted.
func (s *store) purge(cmd *cobra.Command, f purgeFlags) (purgeView, error) {
	ctx := cmd.Context()
	what := storage.Purge{Before: storage.Now().Add(-f.age)}

	var found storage.Purged
	err := s.View(ctx, func(rx *storage.Rx) (err error) {
		if err := f.resolveScope(rx, &what); err != nil {
			return err
		}
		found, err = rx.PurgeCounts(what)
		return err
	})

	v := purgeView{Object: "purge", DryRun: f.dryRun, Before: what.Before, Purged: found}
	if err != nil || f.dryRun {
		return v, err
	}

	line := newProgress(cmd.ErrOrStderr(), "purging", formatCount)
	v.Purged = storage.Purged{}
	err = s.dir.Purge(ctx, s.DB, what, app.NewLogger(cmd.ErrOrStderr(), s.config.Log), func(purged storage.Purged) {
		v.Purged = purged
		line.step(purged.Total(), found.Total())
	})
	line.end()

	if err != nil && v.Total() > 0 {
		err = fmt.Errorf("%w (%s rows were deleted so far)", err, formatCount(v.Total()))
	}

	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("stopped after %s rows: run it again for the rest", formatCount(v.Total()))
	}
	return v, err
}

// resolveScope finds whose data the flags mean.
func (f purgeFlags) resolveScope(rx *storage.Rx, what *storage.Purge) error {
	if f.org != "" {
		o, err := organization(rx, f.org)
		if err != nil {
			return err
		}
		what.Organization = o.ID
	}

	if f.account == "" {
		return nil
	}

	a, err := rx.AccountKey(f.account)
	if errors.Is(err, storage.ErrNotFound) || err == nil && what.Organization != 0 && a.OrganizationID != what.Organization {
		return fmt.Errorf("there is no account with the phone number id %s", f.account)
	}
	what.Organization, what.Account = a.OrganizationID, a.ID
	return err
}
