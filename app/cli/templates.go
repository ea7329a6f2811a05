package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"confab/app/api"
	"confab/storage"
)

func (e *env) templates() *cobra.Command {
	return e.group("templates", "Synchronize message templates with the provider", e.templatesSync())
}

func (e *env) templatesSync() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "sync PHONE_NUMBER_ID",
		Short:   "Fetch the templates of a number from the provider",
		Example: "  confab templates sync 106540352242922\n  confab templates sync 106540352242922 --json",
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			ctx := cmd.Context()
			a, err := s.findAccount(ctx, args[0])
			if err != nil {
				return err
			}

			accounts, err := s.providerAccounts(e.Version)
			if err != nil {
				return err
			}

			found, err := accounts.CompareTemplates(ctx, a.ID)
			if err != nil {
				return s.reportRefusal(ctx, err)
			}

			err = s.change(ctx, func(tx *storage.Tx) error {
				if err := found.Store(tx); err != nil {
					return err
				}
				return s.audit(tx, a.OrganizationID, "templates.synced", "number", args[0])
			})
			if err != nil {
				return err
			}

			return printOne(cmd, api.ViewTemplateSync(found), [][]string{
				{"created", strconv.Itoa(found.Created)},
				{"updated", strconv.Itoa(found.Updated)},
				{"deleted", strconv.Itoa(found.Deleted)},
				{"at the provider", strconv.Itoa(found.Synced)},
			})
		}),
	})
}
