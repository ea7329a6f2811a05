package api

import (
	"strconv"

	"confab/app/api"
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
			return rest.Reply{}, rest.Invalid("name", "cannot be added: there are already "+strconv.Itoa(maxTeams)+" teams")
		}

		t := storage.Team{OrganizationID: r.Org.ID, Name: *in.Name}
		err = tx.InsertTeam(&t)
		return rest.Created(api.TeamView{ID: t.PublicID, Object: "team", Name: t.Name}), err
	})
}
