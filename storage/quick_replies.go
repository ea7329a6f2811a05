package storage

import "confab/storage/sqlite"

// QuickReply is a text that the people of a team insert by a short word.
type QuickReply struct {
	ID             string `db:"id" json:"id"`
	OrganizationID int64  `db:"organization_id" json:"-"`
	TeamID         int64  `db:"team_id" json:"-"`
	TeamPublicID   string `db:"team_public_id" json:"team_id"`
	Shortcut       string `db:"shortcut" json:"shortcut"`
	Text           string `db:"text" json:"text"`
	Interactive    JSON   `db:"interactive" json:"interactive"` // buttons or a list below the text; nil for none
	CreatedAt      Time   `db:"created_at" json:"created_at"`
	UpdatedAt      Time   `db:"updated_at" json:"updated_at"`
}

const selectQuickReplies = `
	SELECT q.id, q.organization_id, q.team_id, t.public_id AS team_public_id, q.shortcut, q.text, q.interactive, q.created_at, q.updated_at
	FROM quick_replies q JOIN teams t ON t.id = q.team_id `

// QuickReply finds a quick reply of an organization.
func (rx *Rx) QuickReply(organization int64, id string) (QuickReply, error) {
	return get[QuickReply](rx, selectQuickReplies+`WHERE q.id = ? AND q.organization_id = ?`, id, organization)
}

// QuickReplies lists an organization's quick replies, newest first.
func (rx *Rx) QuickReplies(organization int64, of Teams, after After, limit int) ([]QuickReply, error) {
	return sqlite.ReadRows[QuickReply](&rx.Rx, selectQuickReplies+`
		WHERE q.organization_id = ?1 AND (q.created_at, q.id) < (?2, ?3) AND `+of.have("q.team_id", "?4")+`
		ORDER BY q.created_at DESC, q.id DESC
		LIMIT ?5`, organization, after.Key, after.ID, of.text(), limit)
}

// CountQuickReplies counts the quick replies of a team.
func (rx *Rx) CountQuickReplies(team int64) (int, error) {
	return get[int](rx, `SELECT count(*) FROM quick_replies WHERE team_id = ?`, team)
}

// InsertQuickReply stores a new quick reply. ErrConflict: the team has one of that shortcut.
func (tx *Tx) InsertQuickReply(q *QuickReply) error {
	q.ID = tx.NewID(PrefixQuickReply)
	q.CreatedAt, q.UpdatedAt = tx.Order, tx.Order
	err := tx.InsertRow("quick_replies", "id, organization_id, team_id, shortcut, text, interactive, created_at, updated_at", q)
	return tx.hint(err, HintQuickReply, Scope{Organization: q.OrganizationID}, q.ID)
}

// UpdateQuickReply stores a quick reply. ErrConflict: its team has another of that shortcut.
func (tx *Tx) UpdateQuickReply(q *QuickReply) error {
	q.UpdatedAt = tx.Order
	err := tx.UpdateRow("quick_replies", "shortcut, text, interactive, updated_at", "id, organization_id", q)
	return tx.hint(err, HintQuickReply, Scope{Organization: q.OrganizationID}, q.ID)
}

// DeleteQuickReply deletes a quick reply of an organization.
func (tx *Tx) DeleteQuickReply(organization int64, id string) error {
	err := tx.ExecOne(`DELETE FROM quick_replies WHERE id = ? AND organization_id = ?`, id, organization)
	return tx.hint(err, HintQuickReply, Scope{Organization: organization}, id)
}

// FindQuickReplies finds the quick reply with an id, or all with a shortcut, of whomever.
func (rx *Rx) FindQuickReplies(idOrShortcut string) ([]QuickReply, error) {
	return list[QuickReply](rx, selectQuickReplies+`WHERE q.id = ?1 OR q.shortcut = ?1 ORDER BY q.id`, idOrShortcut)
}
