package storage

import "confab/storage/sqlite"

// AttachedLabel is a label as a contact or a conversation shows it. Which labels they
// have is kept in the tables contact_labels and conversation_labels. Those of a label
// that was deleted may still be there, and are not shown.
type AttachedLabel struct {
	ID    string `db:"id" json:"id"`
	Name  string `db:"name" json:"name"`
	Color string `db:"color" json:"color"`
}

// ContactLabels finds the labels of those contacts that have any, in the order of their names.
func (rx *Rx) ContactLabels(contacts ...string) (map[string][]AttachedLabel, error) {
	return rx.labelsOf("contact_labels", "contact_id", contacts)
}

// ConversationLabels is ContactLabels for conversations.
func (rx *Rx) ConversationLabels(conversations ...string) (map[string][]AttachedLabel, error) {
	return rx.labelsOf("conversation_labels", "conversation_id", conversations)
}

// labelsOf finds labels by the table that links them to their owners, and the column of those.
func (rx *Rx) labelsOf(links, owned string, owners []string) (map[string][]AttachedLabel, error) {
	if len(owners) == 0 {
		return nil, nil
	}

	var owner string
	var label AttachedLabel
	all := make(map[string][]AttachedLabel, len(owners))
	read := func() { all[owner] = append(all[owner], label) }

	err := sqlite.EachPacked(&rx.Rx, []any{&owner, &label.ID, &label.Name, &label.Color}, read, `
		SELECT json_array(j.`+owned+`, l.id, l.name, l.color)
		FROM json_each(?) wanted
		JOIN `+links+` j ON j.`+owned+` = wanted.value
		JOIN labels l ON l.id = j.label_id AND l.deleted_at = 0
		ORDER BY l.name_folded, l.id`, jsonList(owners))
	return all, err
}

// SetContactLabel puts a label on a contact, or takes it off; false when it was so already.
func (tx *Tx) SetContactLabel(contact, label string, attached bool) (bool, error) {
	query := `DELETE FROM contact_labels WHERE label_id = ? AND contact_id = ?`
	if attached {
		query = `
		INSERT OR IGNORE INTO contact_labels (contact_id, label_id, account_id, contact_created_at)
		SELECT id, ?, account_id, created_at
		FROM contacts
		WHERE id = ?`
	}

	n, err := tx.Exec(query, label, contact)
	if err == nil && n > 0 {
		err = tx.recordLabelChange(label, !attached, `?3`, contact)
	}
	return tx.touchLabeled("contacts", HintContact, contact, n, err)
}

// SetConversationLabel is SetContactLabel for a conversation.
func (tx *Tx) SetConversationLabel(conversation, label string, attached bool) (bool, error) {
	query := `DELETE FROM conversation_labels WHERE conversation_id = ? AND label_id = ?`
	if attached {
		query = `INSERT OR IGNORE INTO conversation_labels (conversation_id, label_id) VALUES (?, ?)`
	}
	n, err := tx.Exec(query, conversation, label)
	return tx.touchLabeled("conversations", HintConversation, conversation, n, err)
}

func (tx *Tx) touchLabeled(table, kind, id string, changed int64, err error) (bool, error) {
	if err != nil || changed == 0 {
		return false, err
	}
	err = tx.ExecOne(`UPDATE `+table+` SET updated_at = ? WHERE id = ?`, tx.Order, id)
	return true, tx.hint(err, kind, Scope{}, id)
}
