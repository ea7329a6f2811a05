package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"confab/app/config"
	"confab/app/datadir"
	"confab/app/replica"
	"confab/storage"
	"confab/storage/objects"
)

func (e *env) configCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Load all settings and print their values, secrets hidden",
		Long: "Load all settings as 'confab serve' does, from the file, CONFAB_ variables and flags, and print the\n" +
			"values in effect, secrets hidden. If a setting is invalid, it is named and the exit status is 1. Where\n" +
			"replica.url or media.store is set, one small object is written there, read and deleted; where people\n" +
			"are added through an identity provider, the organization they belong to is looked for. Files and\n" +
			"directories named in other settings are not checked: 'confab doctor' does that.",
		Example: "  confab config check\n  confab config check --config /etc/confab.toml",
		RunE: e.run(func(cmd *cobra.Command, _ []string) error {
			from := e.sources(cmd)
			c, err := config.Load(from)
			if err != nil {
				return err
			}

			// An unknown variable is no error: another release may know it.
			for _, unknown := range c.UnknownVariables {
				fmt.Fprintln(cmd.ErrOrStderr(), "confab: warning:", unknown)
			}

			origin := "# From " + from.File + ", variables and defaults."
			if _, err := os.Stat(from.File); errors.Is(err, fs.ErrNotExist) {
				origin = "# From variables and defaults: there is no " + from.File + "."
			}

			if _, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s", origin, c); err != nil {
				return err
			}
			return errors.Join(checkReplica(cmd.Context(), c.Replica), checkMediaStore(cmd.Context(), c.Media),
				e.checkOrganization(cmd.Context(), c))
		}),
	}
}

func checkReplica(ctx context.Context, c config.Replica) error {
	if c.URL == "" {
		return nil
	}
	if err := replica.Probe(ctx, c); err != nil {
		return fmt.Errorf("replica.url: %w", err)
	}
	return nil
}

func checkMediaStore(ctx context.Context, c config.Media) error {
	store, err := c.Open()
	if err != nil || store == nil {
		return err
	}
	if err := objects.Check(ctx, store); err != nil {
		return fmt.Errorf("media.store: %w", err)
	}
	return nil
}

// checkOrganization looks for the organization to which people are added through the identity
// provider, once there is a database.
func (e *env) checkOrganization(ctx context.Context, c config.Config) error {
	dir := datadir.Dir(c.DataDir)
	exists, err := dir.Exists()
	if err != nil || !exists || !c.AddsPeople() {
		return err
	}
	db, err := dir.OpenForCommand(storage.Options{Schema: e.Schema}, os.Getenv("CONFAB_MASTER_KEY"), true)
	if err != nil {
		return err
	}
	defer db.Close()

	_, err = storage.Query(ctx, db, func(rx *storage.Rx) (storage.Organization, error) { return rx.NamedOrganization(c.OIDC.Organization) })
	if err != nil {
		return fmt.Errorf("oidc.organization must name an organization of this server ('confab orgs list'): %w", err)
	}
	return nil
}
