package api

import "confab/storage"

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
