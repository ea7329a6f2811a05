package api

import (
	"strconv"

	"confab/app/api/rest"
	"confab/storage"
)

// checkTeamID checks the team that a body names, if it names one.
func checkTeamID(id *string) error {
	if id != nil && *id == "" {
		return rest.Invalid("team_id", "must not be empty")
	}
	return nil
}

// errTeamFull reports that a team has as many of something as it may.
func errTeamFull(param string, most int) error {
	return rest.Invalid(param, "are limited to "+strconv.Itoa(most)+" in a team: delete one first")
}

// checkTeamOfKey refuses what belongs to a team, if the key is bound to numbers of others.
func checkTeamOfKey(rx *storage.Rx, r *rest.Request, team int64) error {
	teams, err := rx.TeamsOf(r.Key.Accounts)
	if err == nil && !teams.Has(team) {
		return rest.NotFound()
	}
	return err
}

// ChooseTeam finds the team that a body names. An organization with a single team need
// not name it.
func ChooseTeam(rx *storage.Rx, organization int64, id *string) (storage.Team, error) {
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
