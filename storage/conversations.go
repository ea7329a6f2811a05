package storage

import "errors"

// Conversation is the thread of an account and a contact.
type Conversation struct {
	ID            string `db:"id"`
	AccountID     int64  `db:"account_id"`
	ContactID     string `db:"contact_id"`
	Status        string `db:"status"`
	LastMessageAt Time   `db:"last_message_at"`
	LastInboundAt Time   `db:"last_inbound_at"`
	CreatedAt     Time   `db:"created_at"`
	UpdatedAt     Time   `db:"updated_at"`
}

// States of a conversation; a new one is open.
const (
	ConversationOpen     = "open"
	ConversationResolved = "resolved"
)

const conversationColumns = `id, account_id, contact_id, status, last_message_at, last_inbound_at, created_at, updated_at`

// ConversationOf finds the conversation of a contact.
func (rx *Rx) ConversationOf(contact string) (Conversation, error) {
	var c Conversation
	err := rx.get(&c, `
		SELECT `+conversationColumns+`
		FROM conversations
		WHERE contact_id = ?`, contact)
	return c, err
}

// EnsureConversation finds or makes the conversation of a contact, and records
// that a message was written in it now.
func (tx *Tx) EnsureConversation(account int64, contact string) (Conversation, error) {
	c, err := tx.ConversationOf(contact)
	if errors.Is(err, ErrNotFound) {
		c = Conversation{ID: tx.NewID(PrefixConversation), AccountID: account, ContactID: contact, Status: ConversationOpen,
			LastMessageAt: tx.Now, CreatedAt: tx.Now, UpdatedAt: tx.Now}
		_, err = tx.exec(`
			INSERT INTO conversations (id, account_id, contact_id, status, last_message_at, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?)`, c.ID, c.AccountID, c.ContactID, c.Status, c.LastMessageAt, c.CreatedAt, c.UpdatedAt)
		return c, err
	}
	if err != nil {
		return c, err
	}
	c.LastMessageAt, c.UpdatedAt = tx.Now, tx.Now
	return c, tx.MarkWrittenIn(c.ID)
}

// MarkWrittenIn records that a message was written in a conversation now.
func (tx *Tx) MarkWrittenIn(conversation string) error {
	return tx.must(`
		UPDATE conversations
		SET last_message_at = ?, updated_at = ?
		WHERE id = ?`, tx.Now, tx.Now, conversation)
}
