package api

import (
	"strconv"

	"confab/app/api/rest"
	"confab/storage"
)

const (
	maxTeamName = 200
	// maxTeams is how many teams an organization may have: forms offer all of them.
	maxTeams = 100
)

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
			return rest.Reply{}, rest.Invalid("name", "cannot be a team's: there are "+strconv.Itoa(maxTeams)+" teams already")
		}

		t := storage.Team{OrganizationID: r.Org.ID, Name: *in.Name}
		err = tx.InsertTeam(&t)
		return rest.Created(teamView{ID: t.PublicID, Object: "team", Name: t.Name}), err
	})
}

// checkTeamID checks the team that a body names, if it names one.
func checkTeamID(id *string) error {
	if id != nil && *id == "" {
		return rest.Invalid("team_id", "must not be empty")
	}
	return nil
}

// errTeamFull reports that a team has as many of something as it may.
func errTeamFull(param string, most int) error {
	return rest.Invalid(param, "are "+strconv.Itoa(most)+" in this team, which is the most: delete one first")
}

// chooseTeam finds the team that a body names. An organization with a single team need
// not name it.
func chooseTeam(rx *storage.Rx, organization int64, id *string) (storage.Team, error) {
	if id != nil {
		if !storage.ValidID(storage.PrefixTeam, *id) {
			return storage.Team{}, rest.NotFound()
		}
		return rx.Team(organization, *id)
	}

	teams, err := rx.Teams(organization)
	if err != nil {
		return storage.Team{}, err
	}

	if len(teams) != 1 {
		return storage.Team{}, rest.Missing("team_id")
	}
	return teams[0], nil
}
