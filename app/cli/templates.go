package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"confab/jobs/provisioning"
	"confab/storage"
)

func (e *env) templatesSync() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "sync PHONE_NUMBER_ID",
		Short:   "Fetch the templates of a number from the provider",
		Example: "  confab templates sync 106540352242922\n  confab templates sync 106540352242922 --json",
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			var found provisioning.TemplateSync
			sync := func(accounts *provisioning.Accounts, id int64) (_ writer, err error) {
				found, err = accounts.SyncTemplates(cmd.Context(), id)
				return func(*storage.Tx) error { return nil }, err
			}
			if err := s.updateFromProvider(cmd, args[0], "templates.synced", sync); err != nil {
				return err
			}

			return printOne(cmd, found, [][]string{
				{"created", strconv.Itoa(found.Created)},
				{"updated", strconv.Itoa(found.Updated)},
				{"deleted", strconv.Itoa(found.Deleted)},
				{"at the provider", strconv.Itoa(found.Synced)},
			})
		}),
	})
}
