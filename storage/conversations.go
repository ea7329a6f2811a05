package storage

import (
	"errors"
	"strings"

	"confab/storage/sqlite"
)

// Conversation is the thread of an account and a contact.
type Conversation struct {
	ID            string  `db:"id"`
	AccountID     int64   `db:"account_id"`
	ContactID     string  `db:"contact_id"`
	Status        string  `db:"status"`
	AssigneeID    *string `db:"assignee_id"`
	UnreadCount   int     `db:"unread_count"`
	LastMessageAt Time    `db:"last_message_at"`
	LastInboundAt Time    `db:"last_inbound_at"`
	WaitingSince  Time    `db:"waiting_since"`
	SnoozedUntil  Time    `db:"snoozed_until"`
	HolderType    string  `db:"holder_type"`
	HolderID      *string `db:"holder_id"`
	HolderSince   Time    `db:"holder_since"`
	CreatedAt     Time    `db:"created_at"`
	UpdatedAt     Time    `db:"updated_at"`
}

// Holder is who holds the conversation.
func (c Conversation) Holder() Holder { return Holder{c.HolderType, c.HolderID, c.HolderSince} }

// States of a conversation; a new one is open.
const (
	ConversationOpen     = "open"
	ConversationResolved = "resolved"
	ConversationPending  = "pending"
)

const conversationColumns = `v.id, v.account_id, v.contact_id, v.status, v.assignee_id, v.unread_count,
	v.last_message_at, v.last_inbound_at, v.waiting_since, v.snoozed_until, v.holder_type, v.holder_id, v.holder_since,
	v.created_at, v.updated_at`

// HasConversation reports whether a conversation is one of an organization's.
func (rx *Rx) HasConversation(organization int64, id string) (bool, error) {
	return rx.exists(`
		SELECT 1 FROM conversations v JOIN accounts a ON a.id = v.account_id
		WHERE v.id = ? AND a.organization_id = ?`, id, organization)
}

// FullConversation is a conversation with what it shows of its people.
type FullConversation struct {
	Conversation
	ContactPhone  *string `db:"contact_phone"`
	ContactName   *string `db:"contact_name"`
	ContactBSUID  *string `db:"contact_bsuid"`
	ContactParent *string `db:"contact_parent_bsuid"`
	AssigneeName  *string `db:"assignee_name"`
	AssigneeEmail *string `db:"assignee_email"`
}

const (
	fullConversationColumns = conversationColumns + `, c.phone_number, c.name, c.bsuid, c.parent_bsuid, u.name, u.email`
	fullConversationJoins   = `JOIN contacts c ON c.id = v.contact_id LEFT JOIN users u ON u.id = v.assignee_id`
)

// Fields are where fullConversationColumns go.
func (t *FullConversation) Fields() []any {
	return []any{
		&t.ID, &t.AccountID, &t.ContactID, &t.Status, &t.AssigneeID, &t.UnreadCount,
		&t.LastMessageAt, &t.LastInboundAt, &t.WaitingSince, &t.SnoozedUntil, &t.HolderType, &t.HolderID, &t.HolderSince,
		&t.CreatedAt, &t.UpdatedAt,
		&t.ContactPhone, &t.ContactName, &t.ContactBSUID, &t.ContactParent, &t.AssigneeName, &t.AssigneeEmail,
	}
}

// Conversation finds a conversation of an account.
func (rx *Rx) Conversation(account int64, id string) (FullConversation, error) {
	var t FullConversation
	err := rx.ScanPacked(t.Fields(), `
		SELECT `+sqlite.Packed(fullConversationColumns)+`
		FROM conversations v `+fullConversationJoins+`
		WHERE v.id = ? AND v.account_id = ?`, id, account)
	return t, err
}

// ConversationFilter narrows a list of conversations. Zero fields choose everything.
type ConversationFilter struct {
	Statuses     []string // any of these
	ContactID    string
	AssigneeID   string // a user's id
	Unassigned   bool
	Unread       bool
	Waiting      bool
	Snoozed      bool
	Awake        bool   // not snoozed
	Holder       string // none, user, agent
	MentionedID  string // a user's id: with notes that mention them since they last opened it
	LabelID      string
	UpdatedSince Time // strict
	ByWaiting    bool // those that wait, the longest first; not with UpdatedSince
}

// Conversations lists an account's conversations, those with the newest message first, with UpdatedSince
// the last updated first, or in the order of ByWaiting, as sqlite.FindPage does.
func (rx *Rx) Conversations(account int64, f ConversationFilter, after After, limit int) ([]FullConversation, After, error) {
	return sqlite.FindMerged(&rx.Rx, f.listQueries(account), f.Key, after, limit)
}

// Key is the position of a conversation in a list with the filter.
func (f ConversationFilter) Key(t FullConversation) After {
	switch {
	case f.UpdatedSince != 0:
		return After{Key: t.UpdatedAt, ID: t.ID}
	case f.ByWaiting:
		return After{Key: longestWaitingOrder - t.WaitingSince, ID: t.ID}
	}
	return After{Key: t.LastMessageAt, ID: t.ID}
}

func conversationStates() []string {
	return []string{ConversationOpen, ConversationResolved, ConversationPending}
}

// listQueries are the lists of which the list with the filter is merged, each by an index. What that does
// not answer is held against each row.
func (f ConversationFilter) listQueries(account int64) []sqlite.ListQuery {
	q := f.listQuery(account, "", f.key())
	switch {
	case f.ContactID != "":
		q.Index = "sqlite_autoindex_conversations_2" // contact_id is unique
		q.ByIndex("v.contact_id = ?", true, f.ContactID)
		f.Waiting = f.Waiting || f.ByWaiting
	case f.UpdatedSince != 0:
		return f.updatedQueries(account)
	case f.ByWaiting:
		q.PartialIndex("conversations_waiting", "v.waiting_since > 0")
	case f.Snoozed:
		q.PartialIndex("conversations_snoozed", "v.snoozed_until > 0")
		f.Snoozed = false
	case f.AssigneeID != "":
		q.Index = "conversations_assigned"
		q.ByIndex("v.assignee_id = ?", true, f.AssigneeID)
		f.AssigneeID = ""
	case f.Unread:
		q.PartialIndex("conversations_unread", "v.unread_count > 0")
		f.Unread = false
	default:
		return f.stateQueries(account)
	}
	return []sqlite.ListQuery{f.narrow(q)}
}

// stateQueries are a list for each state, or for each of those that are asked for.
func (f ConversationFilter) stateQueries(account int64) (all []sqlite.ListQuery) {
	states := conversationStates()
	if len(f.Statuses) > 0 {
		states = f.Statuses
	}

	f.Statuses = nil
	for _, state := range states {
		q := f.listQuery(account, "conversations_by_status", "v.last_message_at")
		q.ByIndex("v.status = ?", true, state)
		all = append(all, f.narrow(q))
	}
	return all
}

// updatedQueries are the lists of those that were updated since a time: those to which nothing has happened
// since their last message, by that, and the others.
func (f ConversationFilter) updatedQueries(account int64) []sqlite.ListQuery {
	all := f.stateQueries(account)
	for i := range all {
		all[i].Filter("v.updated_at = v.last_message_at", true)
	}

	q := f.listQuery(account, "", f.key())
	q.PartialIndex("conversations_by_update", "v.updated_at <> v.last_message_at")
	return append(all, f.narrow(q))
}

// narrow adds the filters that no index answers.
func (f ConversationFilter) narrow(q sqlite.ListQuery) sqlite.ListQuery {
	q.Filter("instr(?, v.status) > 0", len(f.Statuses) > 0, strings.Join(f.Statuses, ",")) // no state is a part of another
	q.Filter("v.assignee_id = ?", f.AssigneeID != "", f.AssigneeID)
	q.Filter("v.assignee_id IS NULL", f.Unassigned)
	q.Filter("v.unread_count > 0", f.Unread)
	q.Filter("v.waiting_since > 0", f.Waiting)
	q.Filter("v.snoozed_until > 0", f.Snoozed)
	q.Filter("v.snoozed_until = 0", f.Awake)
	q.Filter("v.holder_type = ?", f.Holder != "", f.Holder)
	q.Filter("EXISTS (SELECT 1 FROM unread_mentions WHERE user_id = ? AND account_id = v.account_id AND conversation_id = v.id)",
		f.MentionedID != "", f.MentionedID)
	q.Filter("EXISTS (SELECT 1 FROM conversation_labels WHERE conversation_id = v.id AND label_id = "+liveLabel+")",
		f.LabelID != "", f.LabelID)
	return q
}

func (f ConversationFilter) key() string {
	switch {
	case f.UpdatedSince != 0:
		return "v.updated_at"
	case f.ByWaiting:
		return "v.waiting_order"
	}
	return "v.last_message_at"
}

func (f ConversationFilter) listQuery(account int64, index, key string) sqlite.ListQuery {
	q := sqlite.ListQuery{
		Columns: fullConversationColumns,
		Table:   "conversations v",
		Index:   index,
		Joins:   fullConversationJoins,
		Key:     key,
		ID:      "v.id",
	}
	q.Since(f.UpdatedSince)
	q.ByIndex("v.account_id = ?", true, account)
	return q
}

// ConversationOf finds the conversation of a contact.
func (rx *Rx) ConversationOf(contact string) (Conversation, error) {
	return get[Conversation](rx, `
		SELECT `+conversationColumns+`
		FROM conversations v
		WHERE v.contact_id = ?`, contact)
}

// EnsureConversation finds or makes a contact's conversation, in which a message is written now.
func (tx *Tx) EnsureConversation(account int64, contact string) (Conversation, error) {
	c, err := tx.ConversationOf(contact)
	if errors.Is(err, ErrNotFound) {
		c = Conversation{
			ID:            tx.NewID(PrefixConversation),
			AccountID:     account,
			ContactID:     contact,
			Status:        ConversationOpen,
			HolderType:    HolderNone,
			LastMessageAt: tx.Order,
			CreatedAt:     tx.Order,
			UpdatedAt:     tx.Order,
		}
		_, err = tx.Exec(`
			INSERT INTO conversations (id, account_id, contact_id, status, last_message_at, created_at, updated_at,
				spell_opened_at, spell_out)
			VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?5, ?5, 1)`, c.ID, c.AccountID, c.ContactID, c.Status, tx.Order)
		return c, err
	}

	if err != nil {
		return c, err
	}

	c.LastMessageAt, c.UpdatedAt = tx.Order, tx.Order
	return c, tx.ExecOne(markMessageWritten, tx.Order, SourceAPI, c.ID)
}

// MarkMessageWritten records that we wrote a message of a type in a conversation now: a user did, or
// what is its source. It answers whoever waits there, unless it is a reaction.
func (tx *Tx) MarkMessageWritten(conversation, messageType, by string) error {
	if messageType == "reaction" {
		return tx.ExecOne(markReactionWritten, tx.Order, tx.Order, conversation)
	}
	return tx.ExecOne(markMessageWritten, tx.Order, by, conversation)
}

// UpdateConversation stores state, assignee and snooze of a conversation, as a user or something else
// wants it. In one that is resolved nobody waits, nor by any message that is there already, it does not
// sleep, and its spell is over; with any other state one begins. Its holder is stored by SetHolder.
func (tx *Tx) UpdateConversation(c *Conversation, by string) error {
	c.UpdatedAt = tx.Order
	waitsFrom := ""
	spell := `spell_opened_at = CASE status WHEN 'resolved' THEN ?6 ELSE spell_opened_at END`
	if c.Status == ConversationResolved {
		c.WaitingSince, c.SnoozedUntil, waitsFrom = 0, 0, tx.NewID(PrefixMessage)
		spell = noSpell
		if err := tx.endSpell(c.ID, c.AssigneeID, tx.Order, &by); err != nil {
			return err
		}
	}

	err := tx.ExecOne(`
		UPDATE conversations
		SET status = ?1, assignee_id = ?2, snoozed_until = ?3, waiting_since = ?4, waits_from = max(waits_from, ?5),
			updated_at = ?6, `+spell+`
		WHERE id = ?7 AND account_id = ?8`,
		c.Status, c.AssigneeID, c.SnoozedUntil, c.WaitingSince, waitsFrom, c.UpdatedAt, c.ID, c.AccountID)
	return tx.hint(err, HintConversation, Scope{Account: c.AccountID}, c.ID)
}
