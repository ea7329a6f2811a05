package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"confab/storage"
)

// teamView is a team as GET /v1/me shows it, with its organization.
type teamView struct {
	ID             string       `json:"id"`
	Object         string       `json:"object"`
	Name           string       `json:"name"`
	OrganizationID string       `json:"organization_id"`
	CreatedAt      storage.Time `json:"created_at"`

	Assignment      string `json:"assignment"`
	AssignmentLimit *int   `json:"assignment_limit"`
}

func viewTeam(t storage.Team, o storage.Organization, _ storage.Time) teamView {
	return teamView{
		ID:              t.PublicID,
		Object:          "team",
		Name:            t.Name,
		OrganizationID:  o.PublicID,
		CreatedAt:       t.CreatedAt,
		Assignment:      t.Assignment,
		AssignmentLimit: t.AssignmentLimit,
	}
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
			return written{text: t.PublicID, view: viewTeam(t, o, tx.Now)}, err
		}),
	}

	requiredOrg(cmd, &org, "that the team belongs to")
	return withJSON(cmd)
}

func (e *env) teamsSet() *cobra.Command {
	var (
		name, assignment string
		limit            *int
	)
	cmd := &cobra.Command{
		Use:   "set TEAM",
		Short: "Change a team: its name, and whether its conversations are assigned automatically",
		Long: "Change a team: its name, and whether its conversations are assigned automatically. With round_robin,\n" +
			"a new message in an unassigned conversation assigns it to the next available person of the team:\n" +
			"not away, and with the console open in the last 10 minutes.",
		Example: "  confab teams set team_01J… --assignment round_robin --limit 20\n  confab teams set team_01J… --limit none",
		PreRunE: requireAnyFlag("name", "assignment", "limit"),
	}

	parsedFlag(cmd, &name, "name", "new `name`", parseName)
	parsedFlag(cmd, &assignment, "assignment", "how conversations are assigned: `off|round_robin`",
		parseChoice(storage.AssignmentOff, storage.AssignmentRoundRobin))
	parsedFlag(cmd, &limit, "limit", "most open conversations per person; the next go to someone else: `N|none`", parseLimit)

	cmd.RunE = e.runWrite(func(tx *storage.Tx, args []string) (written, error) {
		t, err := tx.TeamByID(args[0])
		if err != nil {
			return written{}, notFound(err, "team", args[0])
		}

		setGiven(cmd, "name", &t.Name, name)
		setGiven(cmd, "assignment", &t.Assignment, assignment)
		setGiven(cmd, "limit", &t.AssignmentLimit, limit)
		return written{entry: auditEntry{t.OrganizationID, "team.updated", "team", t.PublicID}}, tx.UpdateTeam(t)
	})
	return cmd
}

// parseLimit reads how many conversations a person may have; nil for none, which is any number.
func parseLimit(s string) (*int, error) {
	if s == "none" {
		return nil, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > storage.MaxAssignmentLimit {
		return nil, fmt.Errorf("must be between 1 and %d, or none", storage.MaxAssignmentLimit)
	}
	return &n, nil
}

func (e *env) teamsList() *cobra.Command {
	columns := table[teamView]{
		heading: []string{"ID", "NAME", "ORGANIZATION", "ASSIGNMENT", "CREATED"},
		row: func(v teamView) []string {
			return []string{v.ID, v.Name, v.OrganizationID, v.Assignment, v.CreatedAt.String()}
		},
	}
	return organizationList(e, "teams", "List teams", columns, (*storage.Rx).Teams, viewTeam)
}
