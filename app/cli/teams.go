package cli

import (
	"github.com/spf13/cobra"

	"confab/storage"
)

func (e *env) teams() *cobra.Command {
	return e.group("teams", "Create and list teams", e.teamsCreate(), e.teamsList())
}

// teamView is a team as GET /v1/me shows it, with its organization.
type teamView struct {
	ID             string       `json:"id"`
	Object         string       `json:"object"`
	Name           string       `json:"name"`
	OrganizationID string       `json:"organization_id"`
	CreatedAt      storage.Time `json:"created_at"`
}

func viewTeam(t storage.Team, o storage.Organization) teamView {
	return teamView{ID: t.PublicID, Object: "team", Name: t.Name, OrganizationID: o.PublicID, CreatedAt: t.CreatedAt}
}

func (e *env) teamsCreate() *cobra.Command {
	var org string
	cmd := &cobra.Command{
		Use:     "create NAME --org ORG",
		Short:   "Create a team and print its id",
		Example: "  confab teams create \"Support\" --org org_01J…",
		Args:    nameArgument,
		RunE: e.runWrite(func(tx *storage.Tx, args []string) (written, error) {
			o, err := organization(&tx.Rx, org)
			if err != nil {
				return written{}, err
			}

			t := storage.Team{OrganizationID: o.ID, Name: args[0]}
			err = tx.InsertTeam(&t)
			return written{text: t.PublicID, view: viewTeam(t, o)}, err
		}),
	}

	requiredOrg(cmd, &org, "that the team belongs to")
	return withJSON(cmd)
}

func (e *env) teamsList() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List teams",
		Example: "  confab teams list\n  confab teams list --org org_01J… --json",
	}
	columns := table[teamView]{
		heading: []string{"ID", "NAME", "ORGANIZATION", "CREATED"},
		row:     func(v teamView) []string { return []string{v.ID, v.Name, v.OrganizationID, v.CreatedAt.String()} },
	}
	return listCommand(e, cmd, columns, readEachOrganization(cmd, (*storage.Rx).Teams, viewTeam))
}
