package storage

import "confab/storage/sqlite"

// Label marks contacts and conversations of a team.
type Label struct {
	ID             string `db:"id" json:"id"`
	OrganizationID int64  `db:"organization_id" json:"-"`
	TeamID         int64  `db:"team_id" json:"-"`
	Name           string `db:"name" json:"name"`
	Color          string `db:"color" json:"color"`
	TeamPublicID   string `db:"team_public_id" json:"team_id"`
	CreatedAt      Time   `db:"created_at" json:"created_at"`
	UpdatedAt      Time   `db:"updated_at" json:"updated_at"`
}

const selectLabels = `
	SELECT l.id, l.organization_id, l.team_id, t.public_id AS team_public_id, l.name, l.color, l.created_at, l.updated_at
	FROM labels l JOIN teams t ON t.id = l.team_id `

// Label finds a label of an organization.
func (rx *Rx) Label(organization int64, id string) (Label, error) {
	return get[Label](rx, selectLabels+`WHERE l.id = ? AND l.organization_id = ? AND l.deleted_at = 0`, id, organization)
}

// liveLabel is the id of a label, NULL once that was deleted: it is still on those that the job has not reached.
const liveLabel = `(SELECT id FROM labels WHERE id = ? AND deleted_at = 0)`

// Labels lists an organization's labels, newest first.
func (rx *Rx) Labels(organization int64, of Teams, after After, limit int) ([]Label, error) {
	return sqlite.ReadRows[Label](&rx.Rx, selectLabels+`
		WHERE l.organization_id = ?1 AND l.deleted_at = 0 AND (l.created_at, l.id) < (?2, ?3) AND `+of.have("l.team_id", "?4")+`
		ORDER BY l.created_at DESC, l.id DESC
		LIMIT ?5`, organization, after.Key, after.ID, of.text(), limit)
}

// CountLabels counts the labels of a team.
func (rx *Rx) CountLabels(team int64) (int, error) {
	return get[int](rx, `SELECT count(*) FROM labels WHERE team_id = ?`, team)
}

// InsertLabel stores a new label. ErrConflict means that the team has one of that name.
func (tx *Tx) InsertLabel(l *Label) error {
	l.ID = tx.NewID(PrefixLabel)
	l.CreatedAt, l.UpdatedAt = tx.Order, tx.Order
	_, err := tx.Exec(`
		INSERT INTO labels (id, organization_id, team_id, name, name_folded, color, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		l.ID, l.OrganizationID, l.TeamID, l.Name, Fold(l.Name), l.Color, l.CreatedAt, l.UpdatedAt)
	return tx.hint(err, HintLabel, Scope{Organization: l.OrganizationID}, l.ID)
}

// UpdateLabel stores name and color. ErrConflict means that the team has another of that name.
func (tx *Tx) UpdateLabel(l *Label) error {
	l.UpdatedAt = tx.Order
	err := tx.ExecOne(`
		UPDATE labels
		SET name = ?, name_folded = ?, color = ?, updated_at = ?
		WHERE id = ? AND organization_id = ? AND deleted_at = 0`,
		l.Name, Fold(l.Name), l.Color, l.UpdatedAt, l.ID, l.OrganizationID)
	return tx.hint(err, HintLabel, Scope{Organization: l.OrganizationID}, l.ID)
}
