package storage

import "confab/storage/sqlite"

// ConversationChange is something that happened besides messages, and is shown between them.
type ConversationChange struct {
	ID             string  `db:"id"`
	ConversationID string  `db:"conversation_id"`
	AccountID      int64   `db:"account_id"`
	Kind           string  `db:"kind"`
	Actor          string  `db:"actor"`
	UserID         *string `db:"user_id"` // the actor, when that is a user
	UserName       *string `db:"user_name"`
	AssigneeID     *string `db:"assignee_id"` // of ChangeAssigned; nil: to nobody
	AssigneeName   *string `db:"assignee_name"`
	Label          *string `db:"label"` // its name at that time
	Until          Time    `db:"until"` // of ChangeSnoozed
	CreatedAt      Time    `db:"created_at"`
}

// Kinds of changes.
const (
	ChangeAssigned  = "assigned"
	ChangeLabeled   = "labeled"
	ChangeUnlabeled = "unlabeled"
	ChangeResolved  = "resolved"
	ChangeReopened  = "reopened"
	ChangePending   = "pending"
	ChangeSnoozed   = "snoozed"
	ChangeWoken     = "woken"

	ChangeHandedOver = "handed_over" // to the assignee, to the bot in Label, or to nobody
)

// Who changes a conversation.
const (
	ChangedByUser    = "user"
	ChangedByAPI     = "api"
	ChangedByContact = "contact" // by writing
	ChangedByTime    = "time"    // it had come
	// ChangedByAssignment is the team's rule for conversations that nobody has.
	ChangedByAssignment = "assignment"
	ChangedByRule       = "rule"
)

// RecordChange records a change of a conversation in its transaction.
func (tx *Tx) RecordChange(c ConversationChange) error {
	c.ID, c.CreatedAt = tx.NewID(PrefixChange), tx.Order
	return tx.InsertRow("conversation_changes",
		"id, conversation_id, account_id, kind, actor, user_id, assignee_id, label, until, created_at", c)
}

// ConversationChanges lists a conversation's changes, newest first, as sqlite.FindPage does.
func (rx *Rx) ConversationChanges(conversation string, after After, limit int) ([]ConversationChange, After, error) {
	q := sqlite.ListQuery{
		Columns: `h.id, h.conversation_id, h.account_id, h.kind, h.actor, h.user_id, u.name AS user_name,
			h.assignee_id, a.name AS assignee_name, h.label, h.until, h.created_at`,
		Table: "conversation_changes h",
		Index: "conversation_changes_of_conversation",
		Joins: "LEFT JOIN users u ON u.id = h.user_id LEFT JOIN users a ON a.id = h.assignee_id",
		ID:    "h.id",
	}
	q.ByIndex("h.conversation_id = ?", true, conversation)
	return sqlite.FindPage[ConversationChange](&rx.Rx, q, after, limit)
}
