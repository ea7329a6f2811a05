package storage

import "cmp"

// Directions and sources of messages.
const (
	Inbound  = "inbound"
	Outbound = "outbound"

	SourceAPI     = "api"
	SourceApp     = "app" // on a phone
	SourceConsole = "console"

	SourceBroadcast = "broadcast"
	SourceRule      = "rule"
	SourceGateway   = "gateway" // a client of the provider
)

// Message is a message in either direction, with what the API shows of contact, account and media.
type Message struct {
	Number            int64   `db:"number"` // of its row, for statements that every message needs
	ID                string  `db:"id"`
	AccountID         int64   `db:"account_id"`
	ConversationID    string  `db:"conversation_id"`
	ContactID         string  `db:"contact_id"`
	Direction         string  `db:"direction"`
	Type              string  `db:"type"`
	Status            string  `db:"status"`
	Source            string  `db:"source"`
	ProviderID        *string `db:"provider_id"`
	Recipient         *string `db:"recipient"`
	PhoneNumber       *string `db:"phone_number"` // it was addressed to
	Content           JSON    `db:"content"`
	Body              *string `db:"body"`
	Context           JSON    `db:"context"`
	MediaID           *string `db:"media_id"`
	MediaStatus       *string `db:"media_status"`
	ErrorCode         *string `db:"error_code"`
	ErrorMessage      *string `db:"error_message"`
	ErrorProviderCode *int    `db:"error_provider_code"`
	IsRevoked         bool    `db:"is_revoked"`
	PlayedAt          Time    `db:"played_at"`
	EditedAt          Time    `db:"edited_at"`
	SentAt            Time    `db:"sent_at"`
	CreatedAt         Time    `db:"created_at"`
	UpdatedAt         Time    `db:"updated_at"`
	SentBy            *string `db:"sent_by"`    // the user who sent it in the console
	RequestID         *string `db:"request_id"` // of the API call that made it
	ScheduledAt       Time    `db:"scheduled_at"`
	Place             string  `db:"-"`         // its id, or that of a message that was sent later, with the time of that; only in lists
	Broadcast         *int64  `db:"broadcast"` // the number of the one that made it, and of its recipient there
	RecipientNumber   *int64  `db:"recipient_number"`
	Pricing           JSON    `db:"pricing"`      // the provider's object, nil until known
	DeliveredAt       Time    `db:"delivered_at"` // at the latest; 0 for not yet

	RuleID             *string `db:"rule_id"` // the rule that sent it
	ContactPhone       *string `db:"contact_phone"`
	ContactBSUID       *string `db:"contact_bsuid"`
	ContactParentBSUID *string `db:"contact_parent_bsuid"`
	ContactUsername    *string `db:"contact_username"`
	ContactName        *string `db:"contact_name"`
	AccountPhone       *string `db:"account_phone"`
	AccountNumberID    *string `db:"account_number_id"`

	MediaToken    *string `db:"media_token"` // these four of hosted media that was not deleted
	MediaMIMEType *string `db:"media_mime_type"`
	MediaSize     *int64  `db:"media_size"`
	MediaFilename *string `db:"media_filename"`

	ConversationStatus string `db:"-"` // known once it was marked as sent
}

// SetMedia makes hosted media the message's own.
func (m *Message) SetMedia(file Media) {
	m.MediaID, m.MediaStatus = &file.ID, new(MediaReady)
	m.MediaToken, m.MediaMIMEType, m.MediaSize, m.MediaFilename = &file.URLToken, &file.MIMEType, &file.Size, file.Filename
}

// SetThread makes a thread the message's own.
func (m *Message) SetThread(t Thread) {
	m.ConversationID, m.ConversationStatus = t.ConversationID, t.Status
	m.ContactID, m.ContactPhone, m.ContactBSUID, m.ContactParentBSUID = t.ID, t.PhoneNumber, t.BSUID, t.ParentBSUID
	m.ContactUsername, m.ContactName = t.Username, t.Name
}

// To is the number that a message goes to: the one it was addressed to, or its contact's.
func (m Message) To() *string { return cmp.Or(m.PhoneNumber, m.ContactPhone) }

const messageColumns = `m.number, m.id, m.account_id, m.conversation_id, m.contact_id, m.direction, m.type, m.status, m.source,
	m.provider_id, m.recipient, m.phone_number, m.content, m.body, m.context, m.media_id, m.media_status,
	m.error_code, m.error_message, m.error_provider_code, m.is_revoked,
	m.played_at, m.edited_at, m.sent_at, m.created_at, m.updated_at,
	m.sent_by, m.request_id, m.scheduled_at, m.broadcast, m.recipient_number, m.pricing, m.delivered_at, m.rule_id,
	c.phone_number AS contact_phone, c.bsuid AS contact_bsuid, c.parent_bsuid AS contact_parent_bsuid,
	c.username AS contact_username, c.name AS contact_name,
	a.phone_number AS account_phone, a.phone_number_id AS account_number_id,
	f.url_token AS media_token, f.mime_type AS media_mime_type, f.size AS media_size, f.filename AS media_filename`

// columns are where messageColumns go.
func (m *Message) columns() []any {
	return []any{
		&m.Number, &m.ID, &m.AccountID, &m.ConversationID, &m.ContactID, &m.Direction, &m.Type, &m.Status, &m.Source,
		&m.ProviderID, &m.Recipient, &m.PhoneNumber, &m.Content, &m.Body, &m.Context, &m.MediaID, &m.MediaStatus,
		&m.ErrorCode, &m.ErrorMessage, &m.ErrorProviderCode, &m.IsRevoked,
		&m.PlayedAt, &m.EditedAt, &m.SentAt, &m.CreatedAt, &m.UpdatedAt,
		&m.SentBy, &m.RequestID, &m.ScheduledAt, &m.Broadcast, &m.RecipientNumber, &m.Pricing, &m.DeliveredAt, &m.RuleID,
		&m.ContactPhone, &m.ContactBSUID, &m.ContactParentBSUID, &m.ContactUsername, &m.ContactName,
		&m.AccountPhone, &m.AccountNumberID,
		&m.MediaToken, &m.MediaMIMEType, &m.MediaSize, &m.MediaFilename,
	}
}

const messageJoins = `JOIN contacts c ON c.id = m.contact_id JOIN accounts a ON a.id = m.account_id
	LEFT JOIN media f ON f.id = m.media_id AND f.deleted_at = 0`

const messageTables = `messages m ` + messageJoins

func (rx *Rx) message(condition string, args ...any) (m Message, err error) {
	err = rx.Scan(m.columns(), `
		SELECT `+messageColumns+`
		FROM `+messageTables+`
		WHERE `+condition, args...)
	return m, err
}

// Message finds a message of an account.
func (rx *Rx) Message(account int64, id string) (Message, error) {
	return rx.message(`m.account_id = ? AND m.id = ?`, account, id)
}

// OutboundMessage finds a message of an account that goes out.
func (rx *Rx) OutboundMessage(account int64, id string) (Message, error) {
	return rx.message(`m.account_id = ? AND m.id = ? AND m.direction = 'outbound'`, account, id)
}

// MessageByProviderID finds a message of an account by the provider's id.
func (rx *Rx) MessageByProviderID(account int64, providerID string) (Message, error) {
	return rx.message(`m.account_id = ? AND m.provider_id = ?`, account, providerID)
}

// ReportedMessage finds the outbound message that a status callback is about, by
// the provider's id: no more of it than a callback changes or needs, because most
// messages have several.
func (rx *Rx) ReportedMessage(account int64, providerID string) (Message, error) {
	m := Message{AccountID: account, Direction: Outbound, ProviderID: &providerID}
	err := rx.Scan([]any{
		&m.Number, &m.ID, &m.ConversationID, &m.ContactID, &m.Type, &m.Status, &m.PhoneNumber, &m.PlayedAt,
		&m.CreatedAt, &m.Broadcast, &m.RecipientNumber, &m.Pricing, &m.DeliveredAt, &m.ContactPhone, &m.ContactBSUID,
	}, `
		SELECT m.number, m.id, m.conversation_id, m.contact_id, m.type, m.status, m.phone_number, m.played_at,
			m.created_at, m.broadcast, m.recipient_number, m.pricing, m.delivered_at, c.phone_number, c.bsuid
		FROM messages m JOIN contacts c ON c.id = m.contact_id
		WHERE m.account_id = ? AND m.provider_id = ? AND m.direction = 'outbound'`, account, providerID)
	return m, err
}

// InsertMessage stores a new message and fills in its number, its id and its times.
func (tx *Tx) InsertMessage(m *Message) error {
	m.ID = tx.NewID(PrefixMessage)
	m.CreatedAt, m.UpdatedAt = tx.Order, tx.Order

	var err error
	m.Number, err = tx.Insert(`
		INSERT INTO messages (id, account_id, conversation_id, contact_id, direction, type, status, source,
			provider_id, recipient, phone_number,
			content, body, context, media_id, media_status, sent_at, created_at, updated_at, sent_by, request_id,
			scheduled_at, broadcast, recipient_number, rule_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.ID, m.AccountID, m.ConversationID, m.ContactID, m.Direction, m.Type, m.Status, m.Source, m.ProviderID, m.Recipient, m.PhoneNumber,
		m.Content, m.Body, m.Context, m.MediaID, m.MediaStatus, m.SentAt, m.CreatedAt, m.UpdatedAt, m.SentBy, m.RequestID,
		m.ScheduledAt, m.Broadcast, m.RecipientNumber, m.RuleID)
	if err != nil {
		return err
	}
	tx.countMessage(m, "")
	return tx.hintMessage(nil, m)
}

// MarkSent records that the provider took a message, under which id, and reads
// the state of its conversation. A callback may have been faster: then the status
// stays ahead. With "" it has no id: another message has it already. It returns
// false where nothing is left to do: the message was deleted, or a callback has
// brought its id.
//
// It tries what is almost always so before it asks: a message that waits.
// RETURNING would cost more than the second statement.
func (tx *Tx) MarkSent(m *Message, id string) (bool, error) {
	providerID := OrNil(id)
	status := MessageSent
	n, err := tx.Exec(`
		UPDATE messages
		SET provider_id = ?, status = ?, updated_at = ?
		WHERE number = ? AND id = ? AND provider_id IS NULL AND (status = 'queued' OR status = 'pending')`,
		providerID, status, tx.Order, m.Number, m.ID)
	if err == nil && n == 0 {
		status, err = tx.markSentLate(m, providerID)
	}
	if err != nil || status == "" {
		return false, err
	}

	m.ProviderID, m.Status, m.UpdatedAt = providerID, status, tx.Order
	if n > 0 {
		tx.countMessage(m, MessageQueued) // one that has moved on stays where it is
	}
	if err := tx.moveRecipient(*m); err != nil {
		return false, err
	}
	return true, tx.hintMessage(tx.readThread(m), m)
}

// markSentLate is MarkSent for a message that has moved on; "" if nothing is left to do.
func (tx *Tx) markSentLate(m *Message, providerID *string) (status string, err error) {
	err = tx.Scan([]any{&status}, `SELECT status FROM messages WHERE number = ? AND id = ? AND provider_id IS NULL`, m.Number, m.ID)
	if err != nil {
		return "", IgnoreNotFound(err)
	}

	status = NextStatus(status, MessageSent)
	return status, tx.ExecOne(`
		UPDATE messages
		SET provider_id = ?, status = ?, updated_at = ?
		WHERE number = ?`, providerID, status, tx.Order, m.Number)
}

// readThread reads the state of a message's conversation. The caller that holds the message
// read it before a call that may have taken minutes. If its contact was merged into
// another meanwhile, the message has gone along, and now shows what it has become.
func (tx *Tx) readThread(m *Message) error {
	state, err := tx.db.caches.states.find(&tx.Rx, m.ConversationID)
	m.ConversationStatus = state.status
	if err == nil && state.contact == m.ContactID || IgnoreNotFound(err) != nil {
		return err
	}

	t, err := tx.ThreadOf(*m)
	m.SetThread(t)
	return err
}

var reportedBits = map[string]int{
	MessageSent:      1 << 0,
	MessageDelivered: 1 << 1,
	MessageRead:      1 << 2,
	MessageFailed:    1 << 3,
	StatusPlayed:     1 << 4,
}

// MarkStatus moves a message to the state that a callback reports, and records the
// callback with its pricing, if any is known. It returns false for one that came before.
func (tx *Tx) MarkStatus(m *Message, reported string, at Time, price *Pricing) (bool, error) {
	bit := reportedBits[reported]
	if bit == 0 { // such a callback has a row instead
		n, err := tx.Exec(`
			INSERT OR IGNORE INTO message_statuses (message, status, at)
			VALUES (?, ?, ?)`, m.Number, reported, at)
		if err != nil || n == 0 {
			return false, err
		}
	}

	after := *m
	after.DeliveredAt = earliestDelivery(m.DeliveredAt, reported, at)
	if price != nil {
		after.Pricing = price.Raw
	}
	if reported != StatusPlayed {
		after.Status = NextStatus(m.Status, reported)
	} else if m.PlayedAt == 0 {
		voice, err := tx.isVoiceNote(*m)
		if err != nil {
			return false, err
		}
		if voice {
			after.PlayedAt = at
		}
	}

	// Which states were reported is the row's to say, however much of it m has read.
	n, err := tx.Exec(`
		UPDATE messages
		SET status = ?, reported = reported | ?, played_at = ?, pricing = ?, delivered_at = ?, updated_at = ?
		WHERE number = ? AND id = ? AND reported & ? = 0`,
		after.Status, bit, after.PlayedAt, after.Pricing, after.DeliveredAt, tx.Order, m.Number, m.ID, bit)
	if err != nil || n == 0 {
		return false, err
	}

	before := *m
	*m = after
	m.UpdatedAt = tx.Order
	tx.countMessage(m, before.Status)
	tx.moveCost(before, *m, price)
	return true, tx.hintMessage(tx.moveRecipient(*m), m)
}

// isVoiceNote reports whether a message is an audio that was sent as a voice note. Its content
// is read for it, because the code that applies a callback has not.
func (rx *Rx) isVoiceNote(m Message) (bool, error) {
	if m.Type != "audio" {
		return false, nil
	}
	voice, err := get[bool](rx, `
		SELECT coalesce(content ->> '$.voice', 0) = 1
		FROM messages
		WHERE number = ? AND id = ?`, m.Number, m.ID)
	return voice, IgnoreNotFound(err)
}

// MarkPending records that a message was tried and will be tried again.
func (tx *Tx) MarkPending(m Message) error {
	_, err := tx.Exec(`
		UPDATE messages
		SET status = 'pending', updated_at = ?
		WHERE number = ? AND id = ? AND status = 'queued'`, tx.Order, m.Number, m.ID)
	return tx.hintMessage(err, &m)
}

// MarkFailed ends a message with an error. One that has an error keeps it.
func (tx *Tx) MarkFailed(m *Message, code, message string, providerCode *int) error {
	n, err := tx.Exec(`
		UPDATE messages
		SET status = 'failed', error_code = ?, error_message = ?, error_provider_code = ?, updated_at = ?
		WHERE number = ? AND id = ? AND error_code IS NULL`, code, message, providerCode, tx.Order, m.Number, m.ID)
	if err != nil || n == 0 {
		return err
	}

	before := m.Status
	m.Status, m.ErrorCode, m.ErrorMessage, m.ErrorProviderCode, m.UpdatedAt = MessageFailed, &code, &message, providerCode, tx.Order
	tx.countMessage(m, before)
	tx.countFailure(m)
	if m.Broadcast == nil { // those answer nobody
		if err := tx.recountWaiting(m.ConversationID); err != nil {
			return err
		}
	}
	return tx.hintMessage(tx.moveRecipient(*m), m)
}

// Deletions counts what has deleted messages that may wait to be sent. A caller that has a
// message in memory, and finds that the count has not moved since before the message
// was read or stored, knows that it is still there: without a statement.
func (db *DB) Deletions() int64 { return db.deletions.Load() }

// Deletions is that of the database.
func (tx *Tx) Deletions() int64 { return tx.db.Deletions() }

// countDeletion counts a durable transaction among Deletions before anybody is answered.
func (tx *Tx) countDeletion() { tx.AfterCommit(func() { tx.db.deletions.Add(1) }) }
