package storage

// User is a person of an organization whom conversations can be assigned to.
type User struct {
	ID             string  `db:"id"`
	OrganizationID int64   `db:"organization_id"`
	TeamID         int64   `db:"team_id"`
	TeamPublicID   string  `db:"team_public_id"`
	Name           string  `db:"name"`
	Email          *string `db:"email"`
	CreatedAt      Time    `db:"created_at"`
}

const userColumns = `u.id, u.organization_id, u.team_id, t.public_id AS team_public_id, u.name, u.email, u.created_at`

// User finds a user of an organization.
func (rx *Rx) User(organization int64, id string) (User, error) {
	var u User
	err := rx.get(&u, `
		SELECT `+userColumns+`
		FROM users u JOIN teams t ON t.id = u.team_id
		WHERE u.id = ? AND u.organization_id = ?`, id, organization)
	return u, err
}

// Users lists an organization's users, oldest first.
func (rx *Rx) Users(organization int64) ([]User, error) {
	var all []User
	err := rx.list(&all, `
		SELECT `+userColumns+`
		FROM users u JOIN teams t ON t.id = u.team_id
		WHERE u.organization_id = ?
		ORDER BY u.id`, organization)
	return all, err
}

// InsertUser stores a new user and fills in its id and time.
func (tx *Tx) InsertUser(u *User) error {
	u.ID, u.CreatedAt = tx.NewID(""), tx.Now
	_, err := tx.exec(`
		INSERT INTO users (id, organization_id, team_id, name, email, created_at)
		VALUES (?, ?, ?, ?, ?, ?)`, u.ID, u.OrganizationID, u.TeamID, u.Name, u.Email, u.CreatedAt)
	return err
}
