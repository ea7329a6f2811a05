package storage

import (
	"errors"
	"strings"
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

// Key is where a message stands in a list with the filter. What is searched for stands where
// it was stored.
func (f MessageFilter) Key(m Message) After {
	switch {
	case f.Scheduled:
		return After{Key: m.ScheduledAt, ID: m.ID}
	case f.Search != "":
		return After{ID: m.ID}
	}
	return After{ID: m.Place}
}

// Messages lists an account's messages, newest first and as the API shows them, and
// tells how far it came: to Last, unless the page was full or its time was up before.
func (rx *Rx) Messages(account int64, f MessageFilter, after After, limit int) ([]Message, After, error) {
	if f.Scheduled {
		page, err := f.scheduled(rx, account, after, limit)
		if len(page) > 0 && err == nil {
			err = rx.setAccount(account, page)
		}
		return page, Last, err
	}

	if before := firstID(PrefixMessage, f.CreatedBefore); f.CreatedBefore != 0 && before < after.ID {
		after.ID = before
	}
	page, reached, err := rx.findMessages(account, f, after, limit)
	if err == nil && f.Search == "" {
		page, err = f.addPlaced(rx, account, page, after, reached, limit)
	}
	if len(page) > 0 && err == nil {
		err = rx.setAccount(account, page)
	}
	return page, reached, err
}

// findMessages finds the page, by the search index where that helps and works.
func (rx *Rx) findMessages(account int64, f MessageFilter, after After, limit int) ([]Message, After, error) {
	if f.Search != "" && len(parseSearch(f.Search)) == 0 {
		return []Message{}, Last, nil // JSON writes nil as null
	}
	if !f.isNarrow() {
		page, reached, err := rx.searchMessages(account, f, after, limit)
		if !errors.Is(err, errNoIndex) {
			return page, reached, err
		}
	}
	return findPage[Message](rx, f.listQuery(account), after, limit)
}

// addPlaced puts the messages into a page that were sent later than they were stored: as
// far as the page goes, which the others have filled.
func (f MessageFilter) addPlaced(rx *Rx, account int64, page []Message, after, reached After, limit int) ([]Message, error) {
	until := reached
	if len(page) == limit || rx.budget.Cut() {
		until = f.Key(page[len(page)-1])
	}

	q := f.listQuery(account)
	q.id, q.index = "m.place", "messages_placed"
	q.where[len(q.where)-1] = "m.place IS NOT NULL" // instead of the others
	if f.ConversationID != "" || f.ContactID != "" {
		q.index = "messages_placed_in_conversation"
	}
	until = higher(until, q.end)

	placed, err := readRange[Message](rx.Within(nil), q, After{ID: after.ID}, until, limit)
	if err != nil || len(placed) == 0 {
		return page, err
	}
	return mergeRows(page, placed, f.Key, limit), nil
}

// listQuery lets an index find the messages: that of a conversation, or that of the
// account. What failed, and what came in, is little among what an account sends,
// and has an index of its own, which takes its condition in so many words.
func (f MessageFilter) listQuery(account int64) listQuery {
	q := listQuery{
		columns: shownMessageColumns,
		fields:  func(row any) []any { return row.(*Message).shownFields() },
		table:   "messages m",
		index:   "messages_of_account",
		joins:   shownMessageJoins,
		id:      "m.id",
	}
	if f.CreatedAfter != 0 {
		q.end.ID = firstID(PrefixMessage, f.CreatedAfter+1)
	}

	q.byIndex("m.account_id = ?", true, account)
	switch {
	case f.ConversationID != "" || f.ContactID != "":
		q.index = "messages_of_conversation"
	case f.Status == MessageFailed:
		q.partialIndex("messages_failed", "m.status = 'failed'")
		f.Status = ""
	case f.Direction == Inbound:
		q.partialIndex("messages_inbound", "m.direction = 'inbound'")
		f.Direction = ""
	}

	q.byIndex("m.conversation_id = ?", f.ConversationID != "", f.ConversationID)
	// A contact has one conversation, whose index this then uses.
	q.byIndex("m.conversation_id = (SELECT id FROM conversations WHERE contact_id = ?)", f.ContactID != "", f.ContactID)

	if f.Search == "" {
		q.where = append(q.where, "m.place IS NULL") // the last: see addPlaced
	}
	q.filter("m.direction = ?", f.Direction != "", f.Direction)
	q.filter("m.status = ?", f.Status != "", f.Status)
	q.filter("m.type = ?", f.Type != "", f.Type)
	q.filter("m.is_revoked = 0 AND says(?, "+saidTexts+")", f.Search != "", f.Search)
	return q
}

// scheduled lists the messages that wait for their time, the soonest first. It is the only
// list in that direction: First stands before the soonest.
func (f MessageFilter) scheduled(rx *Rx, account int64, after After, limit int) ([]Message, error) {
	if after == First {
		after = Last
	}

	var q listQuery
	q.filter("m.conversation_id = ?", f.ConversationID != "", f.ConversationID)
	q.filter("m.conversation_id = (SELECT id FROM conversations WHERE contact_id = ?)", f.ContactID != "", f.ContactID)
	q.filter("m.created_at > ?", f.CreatedAfter != 0, f.CreatedAfter)
	q.filter("m.created_at < ?", f.CreatedBefore != 0, f.CreatedBefore)
	q.filter("m.direction = ?", f.Direction != "", f.Direction)
	q.filter("m.status = ?", f.Status != "", f.Status)
	q.filter("m.type = ?", f.Type != "", f.Type)
	where := append([]string{"m.scheduled_at <> 0 AND m.place IS NULL AND m.status = 'queued'"}, q.filters...)

	row := new(Message)
	args := append(append([]any{account, after.Key, after.ID}, q.filterArgs...), limit)
	return listPacked(rx, row, row.shownFields(), limit, `
		SELECT `+packed(shownMessageColumns)+`
		FROM messages m INDEXED BY messages_scheduled `+shownMessageJoins+`
		WHERE m.account_id = ? AND (m.scheduled_at, m.id) > (?, ?) AND `+strings.Join(where, " AND ")+`
		ORDER BY m.scheduled_at, m.id
		LIMIT ?`, args...)
}
