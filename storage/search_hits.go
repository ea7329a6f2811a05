package storage

// SearchHit is what a search found a message by.
type SearchHit struct {
	ID            string  `db:"id" json:"id"`
	Text          string  `db:"text" json:"text"` // what it says, or the name of its file
	BroadcastID   *string `db:"broadcast_id" json:"broadcast_id"`
	BroadcastName *string `db:"broadcast_name" json:"broadcast_name"`
}

// SearchHits lists what some messages of an account say, and of which broadcasts they are.
func (rx *Rx) SearchHits(account int64, ids []string) ([]SearchHit, error) {
	return list[SearchHit](rx, `
		SELECT m.id, coalesce(m.body, m.content ->> '$.filename', f.filename, '') AS text, b.id AS broadcast_id, b.name AS broadcast_name
		FROM json_each(?) wanted
			CROSS JOIN messages m INDEXED BY messages_of_account ON m.account_id = ? AND m.id = wanted.value
			LEFT JOIN broadcasts b ON b.number = m.broadcast
			LEFT JOIN media f ON f.id = m.media_id AND f.deleted_at = 0
		WHERE m.is_revoked = 0`, jsonList(ids), account)
}
