package api

import (
	"cmp"
	"strconv"
	"strings"

	"confab/app/api/rest"
	"confab/storage"
)

const (
	maxTeamName = 200
	// maxTeams is how many teams an organization may have: forms offer all of them.
	maxTeams = 100
)

// teamView is a team with how its conversations are assigned.
type teamView struct {
	ID              string `json:"id"`
	Object          string `json:"object"`
	Name            string `json:"name"`
	Assignment      string `json:"assignment"`
	AssignmentLimit *int   `json:"assignment_limit"`
}

func viewTeam(t storage.Team) teamView {
	return teamView{ID: t.PublicID, Object: "team", Name: t.Name, Assignment: t.Assignment, AssignmentLimit: t.AssignmentLimit}
}

// listTeams handles GET /console/api/teams.
func (s *Server) listTeams(r *rest.Request) (rest.Reply, error) {
	all, err := rest.QueryMany(s.Server, r, func(rx *storage.Rx) ([]storage.Team, error) { return rx.Teams(r.Org.ID) })
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.WholeList(all, viewTeam)
}

// newTeam is the body of POST /console/api/teams.
type newTeam struct {
	Name *string `json:"name"`
}

func (t *newTeam) Validate() error { return rest.Required("name", t.Name, maxTeamName) }

// createTeam handles POST /console/api/teams.
func (s *Server) createTeam(r *rest.Request, in newTeam) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		all, err := tx.Teams(r.Org.ID)
		if err != nil {
			return rest.Reply{}, err
		}
		if len(all) >= maxTeams {
			return rest.Reply{}, rest.Invalid("name", "cannot be added: there are already "+strconv.Itoa(maxTeams)+" teams")
		}

		t := storage.Team{OrganizationID: r.Org.ID, Name: *in.Name}
		err = tx.InsertTeam(&t)
		return rest.Created(viewTeam(t)), err
	})
}

var teamIn = rest.OfOrganization(storage.PrefixTeam, (*storage.Rx).Team)

// teamChanges is the body of PATCH /console/api/teams/:id.
type teamChanges struct {
	Name            rest.Patch[string] `json:"name"`
	Assignment      rest.Patch[string] `json:"assignment"`
	AssignmentLimit rest.Patch[int]    `json:"assignment_limit"`
}

func (c *teamChanges) Validate() error {
	switch limit := c.AssignmentLimit; {
	case !c.Name.Set && !c.Assignment.Set && !limit.Set:
		return rest.NoneGiven("name", "Provide at least one of name, assignment and assignment_limit.")
	case c.Assignment.Set && c.Assignment.Value != storage.AssignmentOff && c.Assignment.Value != storage.AssignmentRoundRobin:
		return rest.Invalid("assignment", "must be off or round_robin")
	case limit.Given() && (limit.Value < 1 || limit.Value > storage.MaxAssignmentLimit):
		return rest.Invalid("assignment_limit", "must be between 1 and "+strconv.Itoa(storage.MaxAssignmentLimit)+", or null")
	case c.Name.Set && strings.TrimSpace(c.Name.Value) == "":
		return rest.Invalid("name", rest.LengthRule(1, maxTeamName))
	}
	return cmp.Or(c.Name.NotNull("name"), rest.Optional("name", c.Name.OrNil(), maxTeamName))
}

// updateTeam handles PATCH /console/api/teams/:id.
func (s *Server) updateTeam(r *rest.Request, in teamChanges) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, teamIn, func(tx *storage.Tx, t storage.Team) (rest.Reply, error) {
		in.Name.Apply(&t.Name)
		in.Assignment.Apply(&t.Assignment)
		in.AssignmentLimit.ApplyOrNil(&t.AssignmentLimit)
		return rest.OK(viewTeam(t)), tx.UpdateTeam(t)
	})
}
