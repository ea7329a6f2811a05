package storage

// Team is a part of an organization.
type Team struct {
	ID             int64  `db:"id"`
	PublicID       string `db:"public_id"`
	OrganizationID int64  `db:"organization_id"`
	Name           string `db:"name"`
	CreatedAt      Time   `db:"created_at"`
}

const teamColumns = `id, public_id, organization_id, name, created_at`

// Team finds a team of an organization by its public id.
func (rx *Rx) Team(organization int64, publicID string) (Team, error) {
	return get[Team](rx, `
		SELECT `+teamColumns+`
		FROM teams
		WHERE public_id = ? AND organization_id = ?`, publicID, organization)
}

// Teams lists an organization's teams, oldest first.
func (rx *Rx) Teams(organization int64) ([]Team, error) {
	return list[Team](rx, `
		SELECT `+teamColumns+`
		FROM teams
		WHERE organization_id = ?
		ORDER BY id`, organization)
}

// InsertTeam stores a new team and fills in its ids and time.
func (tx *Tx) InsertTeam(t *Team) error {
	t.PublicID, t.CreatedAt = tx.NewID(PrefixTeam), tx.Order
	var err error
	t.ID, err = tx.Insert(`
		INSERT INTO teams (public_id, organization_id, name, created_at)
		VALUES (?, ?, ?, ?)`, t.PublicID, t.OrganizationID, t.Name, t.CreatedAt)
	return err
}
