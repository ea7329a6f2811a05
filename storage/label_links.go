package storage

// Attached is a label as a contact or a conversation shows it. Which labels they
// have is kept in the tables contact_labels and conversation_labels.
type Attached struct {
	ID    string `db:"id" json:"id"`
	Name  string `db:"name" json:"name"`
	Color string `db:"color" json:"color"`
}

// ContactLabels finds the labels of contacts: for each that has any, in the
// order of their names.
func (rx *Rx) ContactLabels(contacts ...string) (map[string][]Attached, error) {
	return rx.labelsOf(`
		SELECT j.contact_id AS owner, l.id, l.name, l.color
		FROM json_each(?) wanted
		JOIN contact_labels j ON j.contact_id = wanted.value
		JOIN labels l ON l.id = j.label_id
		ORDER BY l.name_folded, l.id`, contacts)
}

// ConversationLabels finds the labels of conversations: for each that has any,
// in the order of their names.
func (rx *Rx) ConversationLabels(conversations ...string) (map[string][]Attached, error) {
	return rx.labelsOf(`
		SELECT j.conversation_id AS owner, l.id, l.name, l.color
		FROM json_each(?) wanted
		JOIN conversation_labels j ON j.conversation_id = wanted.value
		JOIN labels l ON l.id = j.label_id
		ORDER BY l.name_folded, l.id`, conversations)
}

// labelsOf runs a query for the labels of many contacts or conversations, its
// owners.
func (rx *Rx) labelsOf(query string, owners []string) (map[string][]Attached, error) {
	if len(owners) == 0 {
		return nil, nil
	}

	// Many owners share a label, and then the one copy of it.
	var owner string
	var label Attached
	all, shared := make(map[string][]Attached, len(owners)), make(map[string]Attached)
	read := func() {
		if _, known := shared[label.ID]; !known {
			shared[label.ID] = label
		}
		all[owner] = append(all[owner], shared[label.ID])
	}

	if err := eachRow(rx, []any{&owner, &label.ID, &label.Name, &label.Color}, read, query, jsonList(owners)); err != nil {
		return nil, err
	}
	return all, nil
}

// AttachToContact puts a label on a contact; false when it was there already.
func (tx *Tx) AttachToContact(contact, label string) (bool, error) {
	n, err := tx.exec(`
		INSERT OR IGNORE INTO contact_labels (contact_id, label_id, account_id, contact_created_at)
		SELECT id, ?, account_id, created_at
		FROM contacts
		WHERE id = ?`, label, contact)
	return tx.touchContact(contact, n, err)
}

// DetachFromContact takes a label off a contact; false when it was not there.
func (tx *Tx) DetachFromContact(contact, label string) (bool, error) {
	n, err := tx.exec(`
		DELETE FROM contact_labels
		WHERE contact_id = ? AND label_id = ?`, contact, label)
	return tx.touchContact(contact, n, err)
}

// touchContact counts a contact as updated if its labels were changed.
func (tx *Tx) touchContact(contact string, changed int64, err error) (bool, error) {
	if err != nil || changed == 0 {
		return false, err
	}
	return true, tx.execOne(`UPDATE contacts SET updated_at = ? WHERE id = ?`, tx.Now, contact)
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

// touchConversation counts a conversation as updated if its labels were changed.
func (tx *Tx) touchConversation(conversation string, changed int64, err error) (bool, error) {
	if err != nil || changed == 0 {
		return false, err
	}
	return true, tx.execOne(`UPDATE conversations SET updated_at = ? WHERE id = ?`, tx.Now, conversation)
}

// LabeledConversations finds up to limit conversations that have a label, in the
// order of their ids; they have no time here.
func (rx *Rx) LabeledConversations(label string, after Row, limit int) ([]Row, error) {
	var rows []Row
	err := rx.list(&rows, `
		SELECT 0 AS created_at, conversation_id AS id
		FROM conversation_labels
		WHERE label_id = ? AND conversation_id > ?
		ORDER BY conversation_id
		LIMIT ?`, label, after.ID, limit)
	return rows, err
}

// TouchConversations counts conversations as updated now.
func (tx *Tx) TouchConversations(rows []Row) error {
	_, err := tx.exec(`UPDATE conversations SET updated_at = ? WHERE id IN (SELECT value FROM json_each(?))`, tx.Now, idList(rows))
	return err
}

// DetachLabel takes a label of an organization off up to limit contacts and as
// many conversations, and returns off how many: so that DeleteLabel, which would
// do it for all at once, stays short.
func (tx *Tx) DetachLabel(organization int64, label string, limit int) (int64, error) {
	if _, err := tx.Label(organization, label); err != nil {
		return 0, err
	}

	// Each label is counted twice: where it is taken off, and where its owner is
	// counted as updated.
	var total int64
	for _, query := range []string{
		`UPDATE conversations SET updated_at = ?1 WHERE id IN (` + someConversations + `)`,
		`DELETE FROM conversation_labels WHERE label_id = ?2 AND conversation_id IN (` + someConversations + `)`,
		`UPDATE contacts SET updated_at = ?1 WHERE id IN (` + someContacts + `)`,
		`DELETE FROM contact_labels WHERE label_id = ?2 AND contact_id IN (` + someContacts + `)`,
	} {
		n, err := tx.exec(query, tx.Now, label, limit)
		if err != nil {
			return 0, err
		}
		total += n
	}

	return total / 2, nil
}

// Which conversations and contacts DetachLabel takes next.
const (
	someConversations = `SELECT conversation_id FROM conversation_labels WHERE label_id = ?2 ORDER BY conversation_id LIMIT ?3`
	someContacts      = `SELECT contact_id FROM contact_labels WHERE label_id = ?2 ORDER BY account_id, contact_created_at, contact_id LIMIT ?3`
)

// AttachToContacts puts a label on contacts of an account, and returns on which
// of them it was not yet.
func (tx *Tx) AttachToContacts(account int64, contacts []string, label string) ([]string, error) {
	return tx.changeContactLabels(`
		INSERT OR IGNORE INTO contact_labels (contact_id, label_id, account_id, contact_created_at)
		SELECT c.id, ?, c.account_id, c.created_at
		FROM json_each(?) wanted CROSS JOIN contacts c ON c.id = wanted.value
		WHERE c.account_id = ?
		RETURNING contact_id`, label, jsonList(contacts), account)
}

// DetachFromContacts takes a label off contacts of an account, and returns on
// which of them it was.
func (tx *Tx) DetachFromContacts(account int64, contacts []string, label string) ([]string, error) {
	return tx.changeContactLabels(`
		DELETE FROM contact_labels
		WHERE label_id = ? AND contact_id IN (SELECT value FROM json_each(?)) AND account_id = ?
		RETURNING contact_id`, label, jsonList(contacts), account)
}

// changeContactLabels runs a statement that changes the labels of contacts and
// returns which, and counts those as updated.
func (tx *Tx) changeContactLabels(query string, args ...any) (changed []string, err error) {
	if err := tx.list(&changed, query, args...); err != nil || len(changed) == 0 {
		return nil, err
	}

	_, err = tx.exec(`UPDATE contacts SET updated_at = ? WHERE id IN (SELECT value FROM json_each(?))`, tx.Now, jsonList(changed))
	return changed, err
}
