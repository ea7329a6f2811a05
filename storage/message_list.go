package storage

import (
	"errors"
	"strings"

	"confab/storage/search"
	"confab/storage/sqlite"
)

// MessageFilter narrows a list of messages. Zero fields choose everything.
type MessageFilter struct {
	ConversationID string
	ContactID      string
	Direction      string
	Status         string
	Type           string
	CreatedAfter   Time // strict
	CreatedBefore  Time // strict
	Scheduled      bool // those that wait for their time, the soonest first
	Search         string
}

// Key is the position of a message in a list.
func (f MessageFilter) Key(m Message) After {
	if f.Scheduled {
		return After{Key: m.ScheduledAt, ID: m.ID}
	}
	return After{ID: m.Place}
}

// Messages lists an account's messages as the API shows them, newest first, as FindPage does.
func (rx *Rx) Messages(account int64, f MessageFilter, after After, limit int) ([]Message, After, error) {
	if f.Search != "" && search.IsEmpty(f.Search) {
		return []Message{}, Last, nil // JSON writes nil as null
	}
	if f.Scheduled {
		page, err := f.scheduled(rx, account, after, limit)
		if len(page) > 0 && err == nil {
			err = rx.setAccount(account, page)
		}
		return page, Last, err
	}

	if before := sqlite.FirstID(PrefixMessage, f.CreatedBefore); f.CreatedBefore != 0 && before < after.ID {
		after.ID = before
	}
	page, reached, err := rx.findMessages(account, f, after, limit)
	if err == nil {
		page, reached, err = f.addPlaced(rx, account, page, after, reached, limit)
	}
	if len(page) > 0 && err == nil {
		err = rx.setAccount(account, page)
	}
	return page, reached, err
}

// findMessages finds the page, by the search index where that helps and works.
func (rx *Rx) findMessages(account int64, f MessageFilter, after After, limit int) ([]Message, After, error) {
	if !f.isNarrow() {
		page, reached, err := rx.searchMessages(account, f, after, limit)
		if !errors.Is(err, search.ErrNoIndex) {
			return page, reached, err
		}
	}
	return sqlite.FindPage[Message](&rx.Rx, f.listQuery(account), after, limit)
}

// addPlaced puts the messages into a page that were sent later than they were stored: as
// far as the page goes, which the others have filled.
func (f MessageFilter) addPlaced(rx *Rx, account int64, page []Message, after, reached After, limit int) ([]Message, After, error) {
	q := f.listQuery(account)
	q.ID, q.Index = "m.place", "messages_placed"
	q.Where[len(q.Where)-1] = "m.place IS NOT NULL" // instead of the others
	if f.ConversationID != "" || f.ContactID != "" {
		q.Index = "messages_placed_in_conversation"
	}
	q.End = sqlite.Higher(q.End, reached)
	if rx.Cut() {
		q.End = sqlite.Higher(q.End, f.Key(page[len(page)-1]))
	}

	page, until, err := sqlite.MergePage(&rx.Rx, page, q, f.Key, After{ID: after.ID}, limit)
	reached = sqlite.Higher(reached, until)
	return sqlite.UpTo(page, reached, f.Key), reached, err
}

// ListQuery lets an index find the messages: that of a conversation, or that of the
// account. Failed and incoming messages are few among those an account sends,
// and have indexes of their own, which need their condition in so many words.
func (f MessageFilter) listQuery(account int64) sqlite.ListQuery {
	q := sqlite.ListQuery{
		Columns: shownMessageColumns,
		Table:   "messages m",
		Index:   "messages_of_account",
		Joins:   shownMessageJoins,
		ID:      "m.id",
	}
	if f.CreatedAfter != 0 {
		q.End.ID = sqlite.FirstID(PrefixMessage, f.CreatedAfter+1)
	}

	q.ByIndex("m.account_id = ?", true, account)
	switch {
	case f.ConversationID != "" || f.ContactID != "":
		q.Index = "messages_of_conversation"
	case f.Status == MessageFailed:
		q.PartialIndex("messages_failed", "m.status = 'failed'")
		f.Status = ""
	case f.Direction == Inbound:
		q.PartialIndex("messages_inbound", "m.direction = 'inbound'")
		f.Direction = ""
	}

	q.ByIndex("m.conversation_id = ?", f.ConversationID != "", f.ConversationID)
	// A contact has one conversation, whose index this then uses.
	q.ByIndex("m.conversation_id = (SELECT id FROM conversations WHERE contact_id = ?)", f.ContactID != "", f.ContactID)

	q.Where = append(q.Where, "m.place IS NULL") // the last: see addPlaced
	q.Filter("m.direction = ?", f.Direction != "", f.Direction)
	q.Filter("m.status = ?", f.Status != "", f.Status)
	q.Filter("m.type = ?", f.Type != "", f.Type)
	q.Filter("m.is_revoked = 0 AND says(?, "+saidTexts+")", f.Search != "", f.Search)
	return q
}

// scheduled lists the messages that wait for their time, the soonest first. It is the only
// list in that direction: First is before the soonest.
func (f MessageFilter) scheduled(rx *Rx, account int64, after After, limit int) ([]Message, error) {
	if after == First {
		after = Last
	}

	var q sqlite.ListQuery
	q.Filter("m.conversation_id = ?", f.ConversationID != "", f.ConversationID)
	q.Filter("m.conversation_id = (SELECT id FROM conversations WHERE contact_id = ?)", f.ContactID != "", f.ContactID)
	q.Filter("m.created_at > ?", f.CreatedAfter != 0, f.CreatedAfter)
	q.Filter("m.created_at < ?", f.CreatedBefore != 0, f.CreatedBefore)
	q.Filter("m.direction = ?", f.Direction != "", f.Direction)
	q.Filter("m.status = ?", f.Status != "", f.Status)
	q.Filter("m.type = ?", f.Type != "", f.Type)
	q.Filter("says(?, "+saidTexts+")", f.Search != "", f.Search)
	where := append([]string{"m.scheduled_at <> 0 AND m.place IS NULL AND m.status = 'queued'"}, q.Filters...)

	row := new(Message)
	args := append(append([]any{account, after.Key, after.ID}, q.FilterArgs...), limit)
	return sqlite.ListPacked(&rx.Rx, row, row.Fields(), limit, `
		SELECT `+sqlite.Packed(shownMessageColumns)+`
		FROM messages m INDEXED BY messages_scheduled `+shownMessageJoins+`
		WHERE m.account_id = ? AND (m.scheduled_at, m.id) > (?, ?) AND `+strings.Join(where, " AND ")+`
		ORDER BY m.scheduled_at, m.id
		LIMIT ?`, args...)
}

// What the API shows of a message is less than what is kept of it, and what clients read
// most. The account is the same for all messages of a list, and is not joined to each;
// media only to those that have some.
const (
	shownMessageColumns = `m.number, m.id, m.conversation_id, m.contact_id, m.direction, m.type, m.status, m.source,
		m.provider_id, m.phone_number, m.content, m.context, m.media_status,
		m.error_code, m.error_message, m.error_provider_code, m.is_revoked, m.played_at, m.edited_at, m.created_at, m.updated_at,
		m.sent_by, m.rule_id, m.scheduled_at, m.pricing, coalesce(m.place, m.id),
		c.phone_number, c.bsuid, c.parent_bsuid, c.username, f.url_token, f.mime_type, f.size, f.filename`

	shownMessageJoins = `JOIN contacts c ON c.id = m.contact_id LEFT JOIN media f ON f.id = m.media_id AND f.deleted_at = 0`
)

var shownMessage = `
	SELECT ` + sqlite.Packed(shownMessageColumns) + `
	FROM messages m ` + shownMessageJoins + `
	WHERE m.account_id = ? AND m.id = ?`

// Fields are where shownMessageColumns go.
func (m *Message) Fields() []any {
	return []any{
		&m.Number, &m.ID, &m.ConversationID, &m.ContactID, &m.Direction, &m.Type, &m.Status, &m.Source,
		&m.ProviderID, &m.PhoneNumber, &m.Content, &m.Context, &m.MediaStatus,
		&m.ErrorCode, &m.ErrorMessage, &m.ErrorProviderCode, &m.IsRevoked, &m.PlayedAt, &m.EditedAt, &m.CreatedAt, &m.UpdatedAt,
		&m.SentBy, &m.RuleID, &m.ScheduledAt, &m.Pricing, &m.Place,
		&m.ContactPhone, &m.ContactBSUID, &m.ContactParentBSUID, &m.ContactUsername,
		&m.MediaToken, &m.MediaMIMEType, &m.MediaSize, &m.MediaFilename,
	}
}

// ShownMessage finds a message of an account: no more of it than the API shows.
func (rx *Rx) ShownMessage(account int64, id string) (Message, error) {
	all := make([]Message, 1)
	err := rx.ScanPacked(all[0].Fields(), shownMessage, account, id)
	if err == nil {
		err = rx.setAccount(account, all)
	}
	return all[0], err
}

func (rx *Rx) setAccount(account int64, all []Message) error {
	a, err := rx.AccountSummary(account)
	for i := range all {
		m := &all[i]
		m.AccountID, m.AccountPhone, m.AccountNumberID = account, a.PhoneNumber, a.PhoneNumberID
	}
	return err
}
