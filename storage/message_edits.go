package storage

// MessageEdit is an earlier version of a message, and the edit that replaced it.
type MessageEdit struct {
	Version    int     `db:"version"`
	Content    JSON    `db:"content"`
	Body       *string `db:"body"`
	EditedAt   Time    `db:"edited_at"`
	ProviderID string  `db:"provider_id"`
}

// MessageEdits lists the earlier versions of a message, oldest first.
func (rx *Rx) MessageEdits(m Message) ([]MessageEdit, error) {
	return list[MessageEdit](rx, `
		SELECT version, content, body, edited_at, provider_id
		FROM message_edits
		WHERE message = ?
		ORDER BY version`, m.Number)
}

// EditMessage gives a message the content that m has, and keeps the one before.
func (tx *Tx) EditMessage(m *Message, before MessageEdit) error {
	err := tx.Run(`
		INSERT INTO message_edits (message, version, content, body, edited_at, provider_id)
		VALUES (?, ?, ?, ?, ?, ?)`, m.Number, before.Version, before.Content, before.Body, before.EditedAt, before.ProviderID)
	if err != nil {
		return err
	}

	m.EditedAt, m.UpdatedAt = before.EditedAt, tx.Order
	if err := tx.UpdateRow("messages", "type, content, body, edited_at, updated_at", "number, id", m); err != nil {
		return err
	}
	return tx.hintMessage(tx.TouchConversation(m.ConversationID), m)
}

// UpgradeMessage gives a message the content that m has, which could not be shown at first.
func (tx *Tx) UpgradeMessage(m *Message) error {
	m.UpdatedAt = tx.Order
	if err := tx.UpdateRow("messages", "type, content, body, context, media_status, updated_at", "number, id", m); err != nil {
		return err
	}
	return tx.hintMessage(tx.TouchConversation(m.ConversationID), m)
}

// MarkRevoked records that a message was deleted for everyone, and if that is new. It stays.
func (tx *Tx) MarkRevoked(m *Message) (bool, error) {
	n, err := tx.Exec(`
		UPDATE messages
		SET is_revoked = 1, updated_at = ?
		WHERE number = ? AND id = ? AND is_revoked = 0`, tx.Order, m.Number, m.ID)
	if err != nil || n == 0 {
		return false, err
	}
	m.IsRevoked, m.UpdatedAt = true, tx.Order
	return true, tx.hintMessage(tx.TouchConversation(m.ConversationID), m)
}
