package storage

import (
	"slices"

	"confab/storage/sqlite"
)

// Note is what colleagues write to each other in a conversation.
type Note struct {
	ID             string  `db:"id" json:"id"`
	AccountID      int64   `db:"account_id" json:"-"`
	ConversationID string  `db:"conversation_id" json:"conversation_id"`
	Text           string  `db:"text" json:"text"`
	Mentions       Strings `db:"mentions" json:"mentions"` // ids of users
	NoteAuthor     `json:"author"`
	CreatedAt      Time `db:"created_at" json:"created_at"`
	UpdatedAt      Time `db:"updated_at" json:"updated_at"`
}

// NoteAuthor is who wrote a note.
type NoteAuthor struct {
	Type string  `db:"author_type" json:"type"`
	ID   string  `db:"author_id" json:"id"`
	Name *string `db:"author_name" json:"name"` // when it was written
}

// Who writes notes.
const (
	NoteByUser = "user"
	NoteByKey  = "key"
	NoteByRule = "rule"
)

const noteColumns = `n.id, n.account_id, n.conversation_id, n.author_type, n.author_id, n.author_name, n.text, n.mentions,
	n.created_at, n.updated_at`

// Note finds a note of a conversation.
func (rx *Rx) Note(conversation, id string) (Note, error) {
	return get[Note](rx, `SELECT `+noteColumns+` FROM notes n WHERE n.id = ? AND n.conversation_id = ?`, id, conversation)
}

// NoteFilter narrows a list of notes. Zero fields choose everything.
type NoteFilter struct {
	Search string // words that must occur
}

// Notes lists the notes of a conversation, newest first, as sqlite.FindPage does.
func (rx *Rx) Notes(conversation string, f NoteFilter, after After, limit int) ([]Note, After, error) {
	q := sqlite.ListQuery{Columns: noteColumns, Table: "notes n", Index: "notes_of_conversation", ID: "n.id"}
	q.ByIndex("n.conversation_id = ?", true, conversation)
	q.Filter("says(?, n.text)", f.Search != "", f.Search)
	return sqlite.FindPage[Note](&rx.Rx, q, after, limit)
}

// InsertNote stores a new note. Those whom it mentions, but its author, have an unread mention.
func (tx *Tx) InsertNote(n *Note) error {
	n.ID = tx.NewID(PrefixNote)
	n.CreatedAt, n.UpdatedAt = tx.Order, tx.Order
	const given = "id, account_id, conversation_id, author_type, author_id, author_name, text, mentions, created_at, updated_at"
	if err := tx.InsertRow("notes", given, n); err != nil {
		return err
	}
	return tx.hintNote(tx.insertMentions(*n, n.Mentions), *n)
}

// UpdateNote stores text and mentions of a note, of which before are those that it had: who is
// mentioned now and was not before has an unread mention.
func (tx *Tx) UpdateNote(n *Note, before []string) error {
	n.UpdatedAt = tx.Order
	if err := tx.UpdateRow("notes", "text, mentions, updated_at", "id, conversation_id", n); err != nil {
		return err
	}

	err := tx.Run(`
		DELETE FROM unread_mentions
		WHERE note_id = ? AND user_id NOT IN (SELECT value FROM json_each(?))`, n.ID, n.Mentions)
	if err != nil {
		return err
	}
	added := slices.DeleteFunc(slices.Clone(n.Mentions), func(user string) bool { return slices.Contains(before, user) })
	return tx.hintNote(tx.insertMentions(*n, added), *n)
}

func (tx *Tx) insertMentions(n Note, users Strings) error {
	return tx.Run(`
		INSERT OR IGNORE INTO unread_mentions (user_id, account_id, conversation_id, note_id)
		SELECT value, ?1, ?2, ?3 FROM json_each(?4) WHERE value <> ?5`, n.AccountID, n.ConversationID, n.ID, users, n.NoteAuthor.ID)
}

// DeleteNote deletes a note.
func (tx *Tx) DeleteNote(n Note) error {
	return tx.hintNote(tx.ExecOne(`DELETE FROM notes WHERE id = ? AND conversation_id = ?`, n.ID, n.ConversationID), n)
}

func (tx *Tx) hintNote(err error, n Note) error {
	return tx.hint(err, HintConversation, Scope{Account: n.AccountID}, n.ConversationID)
}

// MarkMentionsRead records that a user has opened a conversation.
func (tx *Tx) MarkMentionsRead(user string, c Conversation) error {
	n, err := tx.Exec(`
		DELETE FROM unread_mentions
		WHERE user_id = ? AND account_id = ? AND conversation_id = ?`, user, c.AccountID, c.ID)
	if err != nil || n == 0 {
		return err
	}
	return tx.hint(nil, HintConversation, Scope{Account: c.AccountID}, c.ID)
}
