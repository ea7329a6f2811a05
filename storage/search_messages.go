package storage

import (
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"time"

	driversqlite "modernc.org/sqlite"

	"confab/storage/search"
	"confab/storage/sqlite"
)

// fewestFound and mostFound are how many messages the index is asked for at once: few
// at first, because most of what it finds is shown.
const fewestFound, mostFound = 64, 2048

// isNarrow reports whether the filters leave so little that it is walked faster than found
// by the index, or whether there is nothing to look for.
func (f MessageFilter) isNarrow() bool {
	return f.Search == "" || f.ConversationID != "" || f.ContactID != "" || f.Status == MessageFailed
}

// searchMessages is Messages for a list that the index narrows.
func (rx *Rx) searchMessages(account int64, f MessageFilter, after After, limit int) ([]Message, After, error) {
	q := f.listQuery(account)
	found, err := rx.db.index.Load().Find(search.Query{
		Account: account, Text: f.Search, Direction: f.Direction, Type: f.Type, Below: after.ID, From: q.End.ID,
	})
	if err != nil {
		return nil, Last, err
	}

	page := make([]Message, 0, min(limit, fewestFound))
	began := time.Now()
	for n := max(limit, fewestFound); ; n = min(2*n, mostFound) {
		ids, err := found.Next(n)
		if err != nil {
			return nil, Last, errors.Join(search.ErrNoIndex, err)
		}
		rows, err := rx.messagesByID(q, ids, limit-len(page))
		page = append(page, rows...)

		switch {
		case err != nil || found.IsAtEnd || rx.Cut() || len(page) == limit:
			return page, Last, err
		case time.Since(began) >= rx.ScanTime():
			return page, found.Reached, nil
		}
		if err := rx.Pause(); err != nil {
			return nil, Last, err
		}
	}
}

// messagesByID lists those of some messages that a query leaves, in the order of a list.
func (rx *Rx) messagesByID(q sqlite.ListQuery, ids []string, limit int) ([]Message, error) {
	if len(ids) == 0 {
		return nil, nil
	}

	row := new(Message)
	query := `
		SELECT ` + sqlite.Packed(q.Columns) + `
		FROM ` + q.Table + ` INDEXED BY messages_of_account ` + q.Joins + `
		WHERE ` + strings.Join(slices.Concat(q.Where, []string{"m.id IN (SELECT value FROM json_each(?))"}, q.Filters), " AND ") + `
		ORDER BY m.id DESC
		LIMIT ?`
	args := slices.Concat(q.Args, []any{jsonList(ids)}, q.FilterArgs, []any{limit})
	return sqlite.ListPacked(&rx.Rx, row, row.Fields(), limit, query, args...)
}

// says is the SQL function that reports whether some texts, of which any may be NULL, say what
// the first looks for.
func says(_ *driversqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	query, _ := args[0].(string)
	var texts []string
	for _, arg := range args[1:] {
		if text, ok := arg.(string); ok {
			texts = append(texts, text)
		}
	}

	if search.Says(query, texts...) {
		return int64(1), nil
	}
	return int64(0), nil
}

// SearchHit is what a search found a message by.
type SearchHit struct {
	ID            string  `db:"id" json:"id"`
	Text          string  `db:"text" json:"text"` // what it says, or the name of its file
	BroadcastID   *string `db:"broadcast_id" json:"broadcast_id"`
	BroadcastName *string `db:"broadcast_name" json:"broadcast_name"`
}

// SearchHits lists what some messages of an account say, and of which broadcasts they are.
func (rx *Rx) SearchHits(account int64, ids []string) ([]SearchHit, error) {
	return list[SearchHit](rx, `
		SELECT m.id, coalesce(m.body, m.content ->> '$.filename', f.filename, '') AS text, b.id AS broadcast_id, b.name AS broadcast_name
		FROM json_each(?) wanted
			CROSS JOIN messages m INDEXED BY messages_of_account ON m.account_id = ? AND m.id = wanted.value
			LEFT JOIN broadcasts b ON b.number = m.broadcast
			LEFT JOIN media f ON f.id = m.media_id AND f.deleted_at = 0
		WHERE m.is_revoked = 0`, jsonList(ids), account)
}
