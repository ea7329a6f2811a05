package storage

// Thread is a contact with its conversation, read at once because every message
// that comes in needs both.
type Thread struct {
	Contact
	ConversationID string // "" while nothing was said
	Status         string
	AssigneeID     *string
	Labeled        bool // the conversation has labels
}

// threadQuery reads a thread, up to its condition.
const threadQuery = `
	SELECT ` + contactColumns + `,
		coalesce(v.id, ''), coalesce(v.status, ''), v.assignee_id,
		EXISTS (SELECT 1 FROM conversation_labels l WHERE l.conversation_id = v.id)
	FROM contacts c LEFT JOIN conversations v ON v.contact_id = c.id
	WHERE `

func (rx *Rx) thread(where string, args ...any) (t Thread, err error) {
	dest := append(t.Contact.fields(), &t.ConversationID, &t.Status, &t.AssigneeID, &t.Labeled)
	err = rx.scan(dest, threadQuery+where, args...)
	return t, err
}

// Thread finds the thread of a contact.
func (rx *Rx) Thread(account int64, contact string) (Thread, error) {
	return rx.thread(`c.id = ? AND c.account_id = ?`, contact, account)
}

// ThreadByPhone finds the thread of the person with a number in E.164.
func (rx *Rx) ThreadByPhone(account int64, phone string) (Thread, error) {
	return rx.thread(`c.account_id = ? AND c.phone_number = ?`, account, phone)
}

// ThreadByBSUID finds the thread of the person with a business-scoped user id.
func (rx *Rx) ThreadByBSUID(account int64, bsuid string) (Thread, error) {
	return rx.thread(`c.account_id = ? AND c.bsuid = ?`, account, bsuid)
}

// ThreadByParent finds the thread of a person of whom only the business-scoped
// user id of a parent portfolio is known.
func (rx *Rx) ThreadByParent(account int64, parent string) (Thread, error) {
	return rx.thread(`c.account_id = ? AND c.parent_bsuid = ? AND c.bsuid IS NULL AND c.phone_number IS NULL ORDER BY c.created_at, c.id LIMIT 1`, account, parent)
}

// BeginThread makes the conversation of a contact that has none.
func (tx *Tx) BeginThread(t *Thread) error {
	t.ConversationID, t.Status, t.AssigneeID, t.Labeled = tx.NewID(PrefixConversation), ConversationOpen, nil, false
	_, err := tx.exec(`
		INSERT INTO conversations (id, account_id, contact_id, status, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?)`, t.ConversationID, t.AccountID, t.ID, t.Status, tx.Now, tx.Now)
	return err
}

// MarkHeard records that the person wrote, when: a message that was not read yet,
// which opens the conversation again if it was resolved.
func (tx *Tx) MarkHeard(t *Thread, at Time) error {
	if t.Status == ConversationResolved {
		t.Status = ConversationOpen
	}
	return tx.must(`
		UPDATE conversations
		SET status = ?, unread_count = unread_count + 1, last_message_at = ?, last_inbound_at = max(last_inbound_at, ?), updated_at = ?
		WHERE id = ?`, t.Status, tx.Now, at, tx.Now, t.ConversationID)
}

// MarkReacted records that the person reacted, which is no message to be read.
func (tx *Tx) MarkReacted(t Thread, at Time) error {
	return tx.must(`
		UPDATE conversations
		SET last_inbound_at = max(last_inbound_at, ?), updated_at = ?
		WHERE id = ?`, at, tx.Now, t.ConversationID)
}

// MarkSaid records that the business wrote.
func (tx *Tx) MarkSaid(t Thread) error {
	return tx.must(`
		UPDATE conversations
		SET last_message_at = ?, updated_at = ?
		WHERE id = ?`, tx.Now, tx.Now, t.ConversationID)
}

// UpdatePerson stores what the provider may change about a contact. ErrConflict
// means that another contact has the number or the BSUID.
func (tx *Tx) UpdatePerson(t *Thread) error { return tx.UpdateContact(&t.Contact) }

// MergeThreads makes one person of two: all that belongs to from becomes into's,
// and from is gone. What only from knew, into knows afterwards; who of them was
// meant by number and BSUID is for the caller to say, by UpdatePerson. It returns
// whether into has got labels.
func (tx *Tx) MergeThreads(into *Thread, from Thread) (labeled bool, err error) {
	adopt(into, from)
	if err := tx.mergeConversations(into, from); err != nil {
		return false, err
	}
	n, err := tx.exec(`
		INSERT OR IGNORE INTO contact_labels (contact_id, label_id, account_id, contact_created_at)
		SELECT ?, label_id, account_id, ? FROM contact_labels WHERE contact_id = ?`, into.ID, into.CreatedAt, from.ID)
	if err != nil {
		return false, err
	}
	return n > 0, tx.must(`DELETE FROM contacts WHERE id = ? AND account_id = ?`, from.ID, from.AccountID)
}

// adopt fills in what into does not know of itself.
func adopt(into *Thread, from Thread) {
	if into.Name == nil || from.NameIsOurs && !into.NameIsOurs && from.Name != nil {
		into.Name, into.NameIsOurs = from.Name, from.NameIsOurs
	}
	for _, field := range []struct {
		to   **string
		from *string
	}{{&into.PhoneNumber, from.PhoneNumber}, {&into.BSUID, from.BSUID}, {&into.ParentBSUID, from.ParentBSUID}, {&into.Username, from.Username}, {&into.Email, from.Email}} {
		if *field.to == nil {
			*field.to = field.from
		}
	}
	if into.Metadata == nil {
		into.Metadata = from.Metadata
	}
	into.MarketingOptedOut = into.MarketingOptedOut || from.MarketingOptedOut
	into.OptedIn = into.OptedIn || from.OptedIn
}

// mergeConversations moves what was said with one contact to another.
func (tx *Tx) mergeConversations(into *Thread, from Thread) error {
	switch {
	case from.ConversationID == "":
		return nil
	case into.ConversationID == "":
		if err := tx.must(`UPDATE conversations SET contact_id = ?, updated_at = ? WHERE id = ?`, into.ID, tx.Now, from.ConversationID); err != nil {
			return err
		}
		into.ConversationID, into.Status, into.AssigneeID, into.Labeled = from.ConversationID, from.Status, from.AssigneeID, from.Labeled
		_, err := tx.exec(`UPDATE messages SET contact_id = ? WHERE conversation_id = ?`, into.ID, from.ConversationID)
		return err
	}
	if into.Status == ConversationResolved || from.Status == ConversationOpen {
		into.Status = from.Status // what is not done stays so
	}
	if into.AssigneeID == nil {
		into.AssigneeID = from.AssigneeID
	}
	into.Labeled = into.Labeled || from.Labeled
	if err := tx.must(`
		UPDATE conversations AS c
		SET status = ?, assignee_id = ?, updated_at = ?, created_at = min(c.created_at, other.created_at),
			unread_count = c.unread_count + other.unread_count,
			last_message_at = max(c.last_message_at, other.last_message_at), last_inbound_at = max(c.last_inbound_at, other.last_inbound_at)
		FROM (SELECT unread_count, last_message_at, last_inbound_at, created_at FROM conversations WHERE id = ?) other
		WHERE c.id = ?`, into.Status, into.AssigneeID, tx.Now, from.ConversationID, into.ConversationID); err != nil {
		return err
	}
	_, err := tx.exec(`
		INSERT OR IGNORE INTO conversation_labels (conversation_id, label_id)
		SELECT ?, label_id FROM conversation_labels WHERE conversation_id = ?`, into.ConversationID, from.ConversationID)
	if err != nil {
		return err
	}
	_, err = tx.exec(`UPDATE messages SET conversation_id = ?, contact_id = ? WHERE conversation_id = ?`, into.ConversationID, into.ID, from.ConversationID)
	return err
}
