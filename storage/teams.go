package storage

import "slices"

// Team is a part of an organization.
type Team struct {
	ID             int64  `db:"id"`
	PublicID       string `db:"public_id"`
	OrganizationID int64  `db:"organization_id"`
	Name           string `db:"name"`
	CreatedAt      Time   `db:"created_at"`

	Assignment      string `db:"assignment"`
	AssignmentLimit *int   `db:"assignment_limit"` // open and pending conversations of a person; nil: any number
}

const selectTeams = `SELECT id, public_id, organization_id, name, created_at, assignment, assignment_limit FROM teams `

// Team finds a team of an organization by its public id.
func (rx *Rx) Team(organization int64, publicID string) (Team, error) {
	return get[Team](rx, selectTeams+`WHERE public_id = ? AND organization_id = ?`, publicID, organization)
}

// TeamByID finds a team of any organization, for the command line.
func (rx *Rx) TeamByID(publicID string) (Team, error) {
	return get[Team](rx, selectTeams+`WHERE public_id = ?`, publicID)
}

func (rx *Rx) readTeam(id int64) (Team, error) { return get[Team](rx, selectTeams+`WHERE id = ?`, id) }

// Teams lists an organization's teams, oldest first.
func (rx *Rx) Teams(organization int64) ([]Team, error) {
	return list[Team](rx, selectTeams+`WHERE organization_id = ? ORDER BY id`, organization)
}

// Teams are those that a list is about; nil means all.
type Teams []int64

// Has reports whether a team is one of them.
func (t Teams) Has(team int64) bool { return t == nil || slices.Contains(t, team) }

// have is the condition that a row's team is one of those that text wrote as ?N.
func (t Teams) have(team, n string) string { return `(` + n + ` = '' OR ` + isAmong(team, n) + `)` }

func (t Teams) text() string {
	if t == nil {
		return ""
	}
	return idText(t)
}

// TeamsOf are the teams of the accounts that a key is bound to; all if it is not bound.
func (rx *Rx) TeamsOf(accounts Accounts) (Teams, error) {
	if !accounts.Bound() {
		return nil, nil
	}

	teams, err := list[int64](rx, `
		SELECT DISTINCT team_id
		FROM accounts
		WHERE id IN (SELECT value FROM json_each(?)) AND deleted_at = 0`, accounts)
	return append(Teams{}, teams...), err
}

// InsertTeam stores a new team and fills in its ids and time.
func (tx *Tx) InsertTeam(t *Team) error {
	t.PublicID, t.CreatedAt, t.Assignment = tx.NewID(PrefixTeam), tx.Order, AssignmentOff
	var err error
	t.ID, err = tx.Insert(`
		INSERT INTO teams (public_id, organization_id, name, created_at)
		VALUES (?, ?, ?, ?)`, t.PublicID, t.OrganizationID, t.Name, t.CreatedAt)
	return err
}
