package storage

// A person and the conversation with it are read at once, because every message
// needs both. There are two shapes of that, which find their row alike:
//
//   - a Thread, for messages that come in: all of the contact, which the message
//     may change, and the state of the conversation;
//   - a Recipient, for messages that go out: no more of the contact than sending
//     needs. Reading a Thread takes 60 % longer, and one of the two is read for
//     every message.
const (
	contactAndConversation = `contacts c LEFT JOIN conversations v ON v.contact_id = c.id`

	// The number is the contact's own, or else its alias. coalesce evaluates the
	// second query only where the first finds nothing, and to find a row by its
	// rowid costs no more than the index that leads to it.
	withPhone = `c.rowid = coalesce(
		(SELECT o.rowid FROM contacts o WHERE o.account_id = ?1 AND o.phone_number = ?2),
		(SELECT o.rowid FROM contact_aliases x JOIN contacts o ON o.id = x.contact_id WHERE x.account_id = ?1 AND x.phone_number = ?2))`
	withBSUID  = `c.account_id = ? AND c.bsuid = ?`
	withParent = `c.account_id = ? AND c.parent_bsuid = ?`
	onlyOldest = ` ORDER BY c.created_at, c.id LIMIT 1`
)

// The fields of a conversation that every message changes. Threads in memory hold none of them: see
// messageStatements.
const (
	markMessageWritten = `
		UPDATE conversations
		SET last_message_at = ?1, updated_at = ?1, waiting_since = 0, spell_out = spell_out + (spell_opened_at > 0),
			spell_replied_by = CASE WHEN spell_replied_at = 0 AND spell_inbound_at > 0 THEN ?2 ELSE spell_replied_by END,
			spell_replied_at = CASE WHEN spell_replied_at = 0 AND spell_inbound_at > 0 THEN ?1 ELSE spell_replied_at END
		WHERE id = ?3`
	markReactionWritten = `
		UPDATE conversations
		SET last_message_at = ?, updated_at = ?
		WHERE id = ?`
	markMessageReceived = `
		UPDATE conversations
		SET unread_count = unread_count + 1, last_message_at = ?1, last_inbound_at = max(last_inbound_at, ?2), updated_at = ?1,
			waiting_since = CASE waiting_since WHEN 0 THEN ?1 ELSE waiting_since END, snoozed_until = 0,
			spell_in = spell_in + 1, spell_inbound_at = CASE spell_inbound_at WHEN 0 THEN ?1 ELSE spell_inbound_at END
		WHERE id = ?3`
	touchThread = `
		UPDATE conversations
		SET updated_at = ?
		WHERE id = ?`
)

// Thread is a contact with its conversation.
type Thread struct {
	Contact
	ConversationID string // "" while nothing was said
	Status         string
	AssigneeID     *string
	Labeled        bool // the conversation has labels
}

const threads = `
	SELECT ` + contactColumns + `, coalesce(v.id, ''), coalesce(v.status, ''), v.assignee_id,
		EXISTS (SELECT 1 FROM conversation_labels l WHERE l.conversation_id = v.id)
	FROM ` + contactAndConversation + `
	WHERE `

func (rx *Rx) thread(query string, args ...any) (t Thread, err error) {
	dest := append(t.Contact.Fields(), &t.ConversationID, &t.Status, &t.AssigneeID, &t.Labeled)
	err = rx.Scan(dest, query, args...)
	return t, err
}

// Thread finds the thread of a contact.
func (rx *Rx) Thread(account int64, contact string) (Thread, error) {
	return rx.thread(threads+`c.id = ? AND c.account_id = ?`, contact, account)
}

// ThreadOf finds the thread that a message belongs to.
func (rx *Rx) ThreadOf(m Message) (Thread, error) {
	return rx.thread(threads+`c.id = (SELECT contact_id FROM messages WHERE number = ? AND id = ?)`, m.Number, m.ID)
}

// ThreadByPhone finds the thread of the person with a number in E.164, or with an alias.
func (rx *Rx) ThreadByPhone(account int64, phone string) (Thread, error) {
	return rx.db.caches.threads.find(rx, phoneOf{account, phone})
}

func (rx *Rx) readThreadByPhone(of phoneOf) (Thread, error) {
	return rx.thread(threads+withPhone, of.account, of.phone)
}

// ThreadByBSUID finds the thread of the person with a business-scoped user id.
func (rx *Rx) ThreadByBSUID(account int64, bsuid string) (Thread, error) {
	return rx.thread(threads+withBSUID, account, bsuid)
}

// ThreadByParent finds the thread of a person of whom only the business-scoped
// user id of a parent portfolio is known. Of several, the oldest is meant.
func (rx *Rx) ThreadByParent(account int64, parent string) (Thread, error) {
	return rx.thread(threads+withParent+` AND c.bsuid IS NULL AND c.phone_number IS NULL`+onlyOldest, account, parent)
}

// ThreadOfParent is ThreadByParent for somebody of whom more may be known.
func (rx *Rx) ThreadOfParent(account int64, parent string) (Thread, error) {
	return rx.thread(threads+withParent+onlyOldest, account, parent)
}

// Recipient is a contact as far as sending to it goes, with its conversation. It
// is no contact to be stored again: UpdateContact refuses it.
type Recipient struct {
	Contact
	ConversationID *string // nil while there is none
}

const recipients = `
	SELECT c.id, c.phone_number, c.bsuid, c.parent_bsuid, c.username, c.name, c.marketing_opted_out, c.opted_in, v.id
	FROM ` + contactAndConversation + `
	WHERE `

func (rx *Rx) recipient(query string, account int64, identity string) (Recipient, error) {
	r := Recipient{Contact: Contact{AccountID: account}}
	err := rx.Scan([]any{
		&r.ID, &r.PhoneNumber, &r.BSUID, &r.ParentBSUID, &r.Username, &r.Name, &r.MarketingOptedOut, &r.OptedIn, &r.ConversationID,
	}, query, account, identity)
	return r, err
}

// RecipientByPhone finds whom to send to by a number in E.164, or by an alias.
func (rx *Rx) RecipientByPhone(account int64, phone string) (Recipient, error) {
	return rx.db.caches.recipients.find(rx, phoneOf{account, phone})
}

func (rx *Rx) readRecipientByPhone(of phoneOf) (Recipient, error) {
	return rx.recipient(recipients+withPhone, of.account, of.phone)
}

// RecipientByBSUID finds whom to send to by a business-scoped user id.
func (rx *Rx) RecipientByBSUID(account int64, bsuid string) (Recipient, error) {
	return rx.recipient(recipients+withBSUID, account, bsuid)
}

// RecipientByParent finds whom to send to by the BSUID of a parent portfolio, the oldest.
func (rx *Rx) RecipientByParent(account int64, parent string) (Recipient, error) {
	return rx.recipient(recipients+withParent+onlyOldest, account, parent)
}

// InsertThreadConversation makes the conversation of a contact that has none.
func (tx *Tx) InsertThreadConversation(t *Thread) error {
	t.ConversationID, t.Status = tx.NewID(PrefixConversation), ConversationOpen
	return tx.Run(`
		INSERT INTO conversations (id, account_id, contact_id, status, created_at, updated_at, spell_opened_at)
		VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?5)`, t.ConversationID, t.AccountID, t.ID, t.Status, tx.Order)
}

// EnsureResolvedThread makes the conversation of a contact for a message of a broadcast: it is resolved. One
// that is there shows another last message, but stays where it is.
func (tx *Tx) EnsureResolvedThread(t *Thread) error {
	if t.ConversationID != "" {
		return tx.TouchConversation(t.ConversationID)
	}

	t.ConversationID, t.Status = tx.NewID(PrefixConversation), ConversationResolved
	return tx.Run(`
		INSERT INTO conversations (id, account_id, contact_id, status, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?)`, t.ConversationID, t.AccountID, t.ID, t.Status, tx.Order, tx.Order)
}

// MarkMessageReceived records a message of the person, not read yet, that waits for an answer, opens a
// resolved conversation again, and ends its snooze.
func (tx *Tx) MarkMessageReceived(t *Thread, at Time) error {
	if t.Status == ConversationResolved {
		t.Status = ConversationOpen
		err := tx.ExecOne(`UPDATE conversations SET status = ?, spell_opened_at = ? WHERE id = ?`, t.Status, tx.Order, t.ConversationID)
		if err != nil {
			return err
		}

		err = tx.RecordChange(ConversationChange{
			ConversationID: t.ConversationID,
			AccountID:      t.AccountID,
			Kind:           ChangeReopened,
			Actor:          ChangedByContact,
		})
		if err != nil {
			return err
		}
	}
	return tx.ExecOne(markMessageReceived, tx.Order, at, t.ConversationID)
}

// TouchConversation records that a conversation shows another last message, without moving it.
func (tx *Tx) TouchConversation(conversation string) error {
	return tx.ExecOne(touchThread, tx.Order, conversation)
}

// threadState is what a message that was sent shows of its thread besides its contact.
type threadState struct{ status, contact string }

func (rx *Rx) readThreadState(conversation string) (s threadState, err error) {
	err = rx.Scan([]any{&s.status, &s.contact}, `SELECT status, contact_id FROM conversations WHERE id = ?`, conversation)
	return s, err
}

// MarkReactionReceived records that the person reacted, which is no message to be read.
func (tx *Tx) MarkReactionReceived(t Thread, at Time) error {
	return tx.ExecOne(`
		UPDATE conversations
		SET last_inbound_at = max(last_inbound_at, ?), updated_at = ?
		WHERE id = ?`, at, tx.Order, t.ConversationID)
}

// SetLastInbound records when the person last wrote, be it earlier than before: a sandbox
// opens and closes the 24-hour window by it.
func (tx *Tx) SetLastInbound(t Thread, at Time) error {
	err := tx.ExecOne(`
		UPDATE conversations
		SET last_inbound_at = ?, updated_at = ?
		WHERE id = ?`, at, tx.Order, t.ConversationID)
	return tx.hint(err, HintConversation, Scope{Account: t.AccountID}, t.ConversationID)
}
