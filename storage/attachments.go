package storage

import "encoding/json"

// Attached is a label as a contact or a conversation shows it.
type Attached struct {
	ID    string `db:"id" json:"id"`
	Name  string `db:"name" json:"name"`
	Color string `db:"color" json:"color"`
}

// ContactLabels finds the labels of contacts: for each that has any, in the
// order of their names.
func (rx *Rx) ContactLabels(contacts ...string) (map[string][]Attached, error) {
	return rx.attached(`
		SELECT j.contact_id AS owner, l.id, l.name, l.color
		FROM json_each(?) wanted
		JOIN contact_labels j ON j.contact_id = wanted.value
		JOIN labels l ON l.id = j.label_id
		ORDER BY l.name_folded, l.id`, contacts)
}

// ConversationLabels finds the labels of conversations: for each that has any,
// in the order of their names.
func (rx *Rx) ConversationLabels(conversations ...string) (map[string][]Attached, error) {
	return rx.attached(`
		SELECT j.conversation_id AS owner, l.id, l.name, l.color
		FROM json_each(?) wanted
		JOIN conversation_labels j ON j.conversation_id = wanted.value
		JOIN labels l ON l.id = j.label_id
		ORDER BY l.name_folded, l.id`, conversations)
}

func (rx *Rx) attached(query string, owners []string) (map[string][]Attached, error) {
	if len(owners) == 0 {
		return nil, nil
	}
	var rows []struct {
		Owner string `db:"owner"`
		Attached
	}
	if err := rx.list(&rows, query, idList(owners)); err != nil {
		return nil, err
	}
	all := make(map[string][]Attached, len(owners))
	for _, row := range rows {
		all[row.Owner] = append(all[row.Owner], row.Attached)
	}
	return all, nil
}

// idList binds any number of ids as one argument, for json_each: a statement
// with as many marks as there are ids would be prepared anew for each number.
func idList(ids []string) JSON {
	list, err := json.Marshal(ids)
	if err != nil {
		panic(err) // strings always encode
	}
	return list
}

// AttachToContact puts a label on a contact; false when it was there already.
func (tx *Tx) AttachToContact(contact, label string) (bool, error) {
	n, err := tx.exec(`
		INSERT OR IGNORE INTO contact_labels (contact_id, label_id)
		VALUES (?, ?)`, contact, label)
	return tx.touchContact(contact, n, err)
}

// DetachFromContact takes a label off a contact; false when it was not there.
func (tx *Tx) DetachFromContact(contact, label string) (bool, error) {
	n, err := tx.exec(`
		DELETE FROM contact_labels
		WHERE contact_id = ? AND label_id = ?`, contact, label)
	return tx.touchContact(contact, n, err)
}

func (tx *Tx) touchContact(contact string, changed int64, err error) (bool, error) {
	if err != nil || changed == 0 {
		return false, err
	}
	return true, tx.must(`UPDATE contacts SET updated_at = ? WHERE id = ?`, tx.Now, contact)
}

// AttachToConversation puts a label on a conversation; false when it was there
// already.
func (tx *Tx) AttachToConversation(conversation, label string) (bool, error) {
	n, err := tx.exec(`
		INSERT OR IGNORE INTO conversation_labels (conversation_id, label_id)
		VALUES (?, ?)`, conversation, label)
	return tx.touchConversation(conversation, n, err)
}

// DetachFromConversation takes a label off a conversation; false when it was not
// there.
func (tx *Tx) DetachFromConversation(conversation, label string) (bool, error) {
	n, err := tx.exec(`
		DELETE FROM conversation_labels
		WHERE conversation_id = ? AND label_id = ?`, conversation, label)
	return tx.touchConversation(conversation, n, err)
}

func (tx *Tx) touchConversation(conversation string, changed int64, err error) (bool, error) {
	if err != nil || changed == 0 {
		return false, err
	}
	return true, tx.must(`UPDATE conversations SET updated_at = ? WHERE id = ?`, tx.Now, conversation)
}
