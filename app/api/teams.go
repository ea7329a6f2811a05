package api

import (
	"strconv"

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

func (t *newTeam) validate() error {
	switch {
	case t.Name == nil:
		return missing("name")
	case !between(*t.Name, 1, maxTeamName):
		return invalid("name", lengthRule(1, maxTeamName))
	}
	return nil
}

// createTeam handles POST /console/api/teams.
func (s *Server) createTeam(r *request) (reply, error) {
	var in newTeam
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	return s.update(r, func(tx *storage.Tx) (reply, error) {
		all, err := tx.Teams(r.org.ID)
		if err != nil {
			return reply{}, err
		}
		if len(all) >= maxTeams {
			return reply{}, invalid("name", "cannot be a team's: there are "+strconv.Itoa(maxTeams)+" teams already")
		}

		t := storage.Team{OrganizationID: r.org.ID, Name: *in.Name}
		err = tx.InsertTeam(&t)
		return created(teamView{ID: t.PublicID, Object: "team", Name: t.Name}), err
	})
}

// chooseTeam finds the team that a body names. An organization with a single team need
// not name it.
func chooseTeam(rx *storage.Rx, organization int64, id *string) (storage.Team, error) {
	if id != nil {
		if !storage.ValidID(storage.PrefixTeam, *id) {
			return storage.Team{}, notFound()
		}
		return rx.Team(organization, *id)
	}

	teams, err := rx.Teams(organization)
	if err != nil {
		return storage.Team{}, err
	}

	if len(teams) != 1 {
		return storage.Team{}, missing("team_id")
	}
	return teams[0], nil
}
