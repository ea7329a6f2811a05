package cli

import (
	"github.com/spf13/cobra"

	"confab/storage"
)

func (e *env) teams() *cobra.Command {
	return e.group("teams", "Make and list the teams of organizations", e.teamsCreate(), e.teamsList())
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
	var (
		org    string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "create NAME --org ORG",
		Short:   "Make a team and print its id",
		Example: "  confab teams create \"Support\" --org org_01J…",
		Args:    nameArgument,
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			var v teamView
			err := s.change(cmd.Context(), func(tx *storage.Tx) error {
				o, err := organization(&tx.Rx, org)
				if err != nil {
					return err
				}

				t := storage.Team{OrganizationID: o.ID, Name: args[0]}
				err = tx.InsertTeam(&t)
				v = viewTeam(t, o)
				return err
			})
			if err != nil {
				return err
			}
			return printNew(cmd, asJSON, v.ID, v)
		}),
	}

	requiredOrg(cmd, &org, "that the team is part of")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (e *env) teamsList() *cobra.Command {
	var (
		org    string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List teams",
		Example: "  confab teams list\n  confab teams list --org org_01J… --json",
		Args:    arguments(),
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			var views []teamView
			err := s.eachOrganization(cmd.Context(), org, func(rx *storage.Rx, o storage.Organization) error {
				teams, err := rx.Teams(o.ID)
				for _, t := range teams {
					views = append(views, viewTeam(t, o))
				}
				return err
			})
			if err != nil {
				return err
			}

			heading := []string{"ID", "NAME", "ORGANIZATION", "CREATED"}
			return printList(cmd, asJSON, views, heading, func(v teamView) []string {
				return []string{v.ID, v.Name, v.OrganizationID, v.CreatedAt.String()}
			})
		}),
	}

	optionalOrg(cmd, &org)
	jsonFlag(cmd, &asJSON)
	return cmd
}
