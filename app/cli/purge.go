package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"confab/app"
	"confab/jobs"
	"confab/storage"
)

// purgeView is how many rows a purge has deleted, or would delete.
type purgeView struct {
	Object string       `json:"object"`
	DryRun bool         `json:"dry_run"`
	Before storage.Time `json:"before"`
	storage.PurgeCounts
}

type purgeFlags struct {
	age          time.Duration
	org, account string
	dryRun       bool
	confirmClock bool
}

func (e *env) purge() *cobra.Command {
	var f purgeFlags
	cmd := &cobra.Command{
		Use:   "purge",
		Short: "Delete old messages, events and logs",
		Long: "Delete messages with their media, events with their deliveries, API log entries, raw callbacks and audit\n" +
			"entries that are older than an age, and free the space. Contacts, conversations, the media library and\n" +
			"anything still in progress stay. A running server does the work, in small steps between its own; without\n" +
			"a server, this command does. You can stop it at any time and run it again for the rest.\n\n" +
			"The server itself deletes what is older than the settings allow: retention_days of the plan for\n" +
			"messages, retention_days of [webhooks] for events, log.api_log_days and console.audit_days.\n\n" +
			"Nothing is deleted by age, here or by the server, while this machine's clock is days ahead of where a\n" +
			"server last saw it: it may be wrong. --confirm-clock confirms that it is right. Otherwise a server\n" +
			"accepts such a clock after running with it for a day.",
		Example: "  confab purge --older-than 90d --dry-run\n" +
			"  confab purge --older-than 90d --org org_01J…\n" +
			"  confab purge --older-than 720h --account 106540352242922 --json\n" +
			"  confab purge --confirm-clock",
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			if f.confirmClock {
				if err := s.change(cmd.Context(), (*storage.Tx).ConfirmClock); err != nil {
					return err
				}
			}
			if f.age == 0 {
				now := s.Now()
				return printOne(cmd, map[string]any{"object": "clock", "confirmed_at": now}, [][]string{{"clock confirmed", now.String()}})
			}

			return s.purge(cmd, f)
		}),
	}

	parsedFlag(cmd, &f.age, "older-than", "delete data older than this `age`, such as 90d or 720h", parseAge)
	cmd.Flags().BoolVar(&f.confirmClock, "confirm-clock", false, "confirm that this machine's clock is right; alone, do only that")
	cmd.MarkFlagsOneRequired("older-than", "confirm-clock")
	optionalOrg(cmd, &f.org)
	parsedFlag(cmd, &f.account, "account", "only the account with this `phone number id`", parseText)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only count what would be deleted")
	return withJSON(cmd)
}

func printPurged(cmd *cobra.Command, v purgeView) error {
	heading := "DELETED"
	if v.DryRun {
		heading = "WOULD DELETE"
	}

	return printOne(cmd, v, [][]string{
		{"DATA", heading},
		{"messages", formatCount(v.Messages)},
		{"media", formatCount(v.Media)},
		{"events", formatCount(v.Events)},
		{"deliveries", formatCount(v.Deliveries)},
		{"API log", formatCount(v.Calls)},
		{"raw callbacks", formatCount(v.RawCallbacks)},
		{"audit", formatCount(v.Audit)},
	})
}

// purge counts what there is to delete, deletes it unless --dry-run is set, and prints the counts.
func (s *store) purge(cmd *cobra.Command, f purgeFlags) error {
	ctx := cmd.Context()
	scope := storage.PurgeScope{Before: s.Now().Add(-f.age)}
	found, err := storage.Query(ctx, s.DB, func(rx *storage.Rx) (found storage.PurgeCounts, err error) {
		if err := f.resolveScope(rx, &scope); err != nil {
			return found, err
		}
		return rx.CountPurge(scope)
	})
	v := purgeView{Object: "purge", DryRun: f.dryRun, Before: scope.Before, PurgeCounts: found}
	if err == nil && f.dryRun {
		return printPurged(cmd, v)
	}
	if err == nil {
		err = s.write(cmd, func(*storage.Tx) (written, error) {
			return written{entry: auditEntry{scope.Organization, "data.purged", "older_than", scope.Before.String()}}, nil
		})
	}
	if err != nil {
		return err
	}

	// The counts of before are only the total of the progress line: the result has what was deleted.
	line := newProgress(cmd.ErrOrStderr(), "purging", formatCount)
	v.PurgeCounts = storage.PurgeCounts{}
	report := func(purged storage.PurgeCounts) {
		v.PurgeCounts = purged
		line.step(purged.Total(), found.Total())
	}
	err = s.dir.Purge(ctx, scope, report, func(ctx context.Context) error { // without a server
		files, err := app.OpenMediaFiles(s.dir, s.config.Media)
		if err != nil {
			return err
		}
		defer files.Close()
		log := app.NewLogger(cmd.ErrOrStderr(), s.config.Log)
		return jobs.New(jobs.Options{DB: s.DB, Files: files, Log: log}).Purge(ctx, scope, report)
	})
	line.end()

	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("stopped after %s rows: run it again for the rest", formatCount(v.Total()))
	case err != nil && v.Total() > 0:
		return fmt.Errorf("%w (%s rows deleted so far)", err, formatCount(v.Total()))
	case err != nil:
		return err
	}
	return printPurged(cmd, v)
}

// resolveScope puts the organization and the account of the flags into scope. An
// account of another organization counts as unknown.
func (f purgeFlags) resolveScope(rx *storage.Rx, scope *storage.PurgeScope) error {
	if f.account != "" {
		a, err := numberFlags{f.org, f.account}.account(rx)
		scope.Organization, scope.Account = a.OrganizationID, a.ID
		return err
	}

	o, err := optionalOrganization(rx, f.org)
	scope.Organization = o.ID
	return err
}
