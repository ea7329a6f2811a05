package storage

import "confab/storage/sqlite"

// A conversation's unread messages are the newest of those that came in, as many as
// unread_count says; reactions never count. Each that comes in adds one (MarkMessageReceived), a
// read receipt leaves at most those after it (MarkRead), the end of a snooze at least one, be it
// of none (WakeConversation), and what deletes messages leaves no
// more than there are (DeleteMessages, ForgetMessages).

// UnreadCount is what came in after a message, as far as a reader saw.
type UnreadCount struct {
	conversation string
	count        int
	upTo         string // the newest message that was looked at
}

// countsAsUnread are the messages that an unread count counts; reactions never do.
const countsAsUnread = `direction = 'inbound' AND type <> 'reaction'`

// CountUnreadAfter counts what came in after a message. It may be much, so it is a walk,
// and not part of the transaction, which then counts only newer messages.
func (rx *Rx) CountUnreadAfter(m Message) (u UnreadCount, err error) {
	u.conversation = m.ConversationID
	if u.upTo, err = rx.newestMessage(m.ConversationID); err != nil {
		return u, err
	}

	q := sqlite.ListQuery{
		Table: "messages",
		Index: "messages_of_conversation",
		ID:    "id",
		End:   After{ID: m.ID + " "}, // the first place after it
	}
	q.ByIndex("conversation_id = ?", true, m.ConversationID)
	q.Filter(countsAsUnread, true)
	u.count, err = sqlite.CountRows(&rx.Rx, q)
	return u, err
}

func (rx *Rx) newestMessage(conversation string) (id string, err error) {
	return value[string](rx, `
		SELECT id FROM messages
		WHERE conversation_id = ?
		ORDER BY id DESC
		LIMIT 1`, conversation)
}

// MarkRead records that an inbound message was read. The conversation's unread
// messages are then those that came after it, unless fewer were: a later one was read before.
func (tx *Tx) MarkRead(m *Message, unread UnreadCount) error {
	m.Status, m.UpdatedAt = MessageRead, tx.Order
	err := tx.ExecOne(`
		UPDATE messages
		SET status = ?, updated_at = ?
		WHERE number = ? AND id = ?`, m.Status, m.UpdatedAt, m.Number, m.ID)
	if err != nil {
		return err
	}

	// The message may have come into another conversation after it was counted, by a
	// merge of contacts: then all after it counts.
	if unread.conversation != m.ConversationID {
		unread = UnreadCount{upTo: m.ID}
	}
	return tx.hintMessage(tx.limitUnread(m.ConversationID, unread), m)
}

// limitUnread leaves no more unread in a conversation than was counted, and what came in since.
func (tx *Tx) limitUnread(conversation string, u UnreadCount) error {
	return tx.Run(`
		UPDATE conversations
		SET updated_at = ?1, unread_count = min(unread_count, ?2 + (
			SELECT count(*) FROM messages
			WHERE conversation_id = ?3 AND id > ?4 AND `+countsAsUnread+`))
		WHERE id = ?3`, tx.Order, u.count, conversation, u.upTo)
}

// NewestInbound finds the newest message of the person that counts as unread or did. There may be many of ours
// after it, so it is no part of a transaction that writes.
func (rx *Rx) NewestInbound(conversation string) (Message, error) {
	return rx.message(`m.conversation_id = ? AND m.`+countsAsUnread+` ORDER BY m.id DESC LIMIT 1`, conversation)
}

// HasInboundAfter reports whether the person has written in a conversation after a message of it,
// reactions apart. ErrNotFound means that it is no message of the conversation.
func (rx *Rx) HasInboundAfter(c Conversation, message string) (bool, error) {
	return value[bool](rx, `
		SELECT EXISTS (
			SELECT 1 FROM messages n
			WHERE n.conversation_id = m.conversation_id AND n.id > coalesce(m.place, m.id) AND n.`+countsAsUnread+`)
		FROM messages m
		WHERE m.account_id = ? AND m.id = ? AND m.conversation_id = ?`, c.AccountID, message, c.ID)
}

// SetUnread makes a conversation that was read count as unread, by the newest message of the person, which is known
// to be there, or with 0 one in which the person never wrote as read: it counts only because its snooze has ended.
func (tx *Tx) SetUnread(conversation string, count int) error {
	err := tx.Run(`
		UPDATE conversations
		SET unread_count = ?1, updated_at = ?2
		WHERE id = ?3 AND (unread_count > 0) <> (?1 > 0)`, count, tx.Order, conversation)
	return tx.hint(err, HintConversation, Scope{}, conversation)
}

// UnreadLeft counts, before messages of an account are deleted, what will be left unread of each
// conversation that loses unread messages with them. The messages are the oldest of
// their conversations; with keepPending those stay that DeleteMessages leaves alone.
func (rx *Rx) UnreadLeft(account int64, rows []Row, keepPending bool) (map[string]UnreadCount, error) {
	if len(rows) == 0 {
		return nil, nil
	}

	threads, err := list[Conversation](rx, `
		SELECT id, unread_count FROM conversations
		WHERE id IN (SELECT conversation_id FROM messages WHERE account_id = ? AND id IN (SELECT value FROM json_each(?)))
			AND unread_count > 0`, account, idList(rows))
	if err != nil {
		return nil, err
	}

	left, last := make(map[string]UnreadCount), rows[len(rows)-1]
	for _, t := range threads {
		u, err := rx.unreadAfter(t.ID, last, keepPending, t.UnreadCount)
		if err != nil {
			return nil, err
		}
		if u.count < t.UnreadCount {
			left[t.ID] = u
		}
	}
	return left, nil
}

// unreadAfter counts, up to a limit, what stays unread when messages up to a row are deleted.
func (rx *Rx) unreadAfter(conversation string, last Row, keepPending bool, limit int) (u UnreadCount, err error) {
	if u.upTo, err = rx.newestMessage(conversation); err != nil {
		return u, err
	}

	err = rx.Scan([]any{&u.count}, `
		SELECT count(*) FROM (
			SELECT 1 FROM messages
			WHERE conversation_id = ? AND `+countsAsUnread+`
				AND (id > ? OR ? AND NOT (`+nothingPending+`))
			ORDER BY id DESC
			LIMIT ?)`, conversation, last.ID, keepPending, limit)
	return u, err
}

func (tx *Tx) markUnread(left map[string]UnreadCount) error {
	for conversation, u := range left {
		if err := tx.limitUnread(conversation, u); err != nil {
			return err
		}
	}
	return nil
}
