package storage

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"confab/storage/sqlite"
)

const (
	// fewestFound and mostFound are how many messages the index is asked for at once: few
	// at first, because most of what it finds is shown.
	fewestFound, mostFound = 64, 2048
	// searchTime is how long the index is asked at once, before others have their turn.
	searchTime = 100 * time.Millisecond
)

// errNoIndex means that a list has to be walked without the index.
var errNoIndex = errors.New("the search index cannot be used")

// isNarrow tells whether the filters leave so little that it is walked faster than found
// by the index, or whether there is nothing to look for.
func (f MessageFilter) isNarrow() bool {
	return f.Search == "" || f.ConversationID != "" || f.ContactID != "" || f.Status == MessageFailed
}

// searchMessages is Messages for a list that the index narrows.
func (rx *Rx) searchMessages(account int64, f MessageFilter, after After, limit int) ([]Message, After, error) {
	terms := parseSearch(f.Search)
	q := f.listQuery(account)
	found := foundMessages{index: rx.db.index.Load(), account: account, terms: terms, filter: f}
	found.reached = after
	if err := found.between(after.ID, q.End.ID); err != nil || found.index == nil {
		return nil, Last, errors.Join(errNoIndex, err)
	}

	page := make([]Message, 0, min(limit, fewestFound))
	began := time.Now()
	for n := max(limit, fewestFound); ; n = min(2*n, mostFound) {
		ids, err := found.next(n)
		if err != nil {
			return nil, Last, errors.Join(errNoIndex, err)
		}
		rows, err := rx.messagesByID(q, ids, limit-len(page))
		page = append(page, rows...)

		switch {
		case err != nil || found.isAtEnd || rx.Cut() || len(page) == limit:
			return page, Last, err
		case time.Since(began) >= rx.ScanTime():
			return page, found.reached, nil
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
	return sqlite.ListPacked(&rx.Rx, row, q.Fields(row), limit, query, args...)
}

// foundMessages are the messages that the index finds, newest first.
type foundMessages struct {
	index   *SearchIndex
	account int64
	terms   []searchTerm
	filter  MessageFilter

	below, from int64 // docids: those below the one, down to the other and with it
	belowID     string
	reached     After // how far they were given out
	isAtEnd     bool
}

// between sets the ids of messages between which to look: below the one, and down to the
// other and with it.
func (m *foundMessages) between(below, from string) (err error) {
	m.below, m.belowID = math.MaxInt64, below
	if below != First.ID {
		if m.below, err = timeOf(below); err != nil {
			return err
		}
		m.below += sameTime // those of its millisecond are compared by their ids
	}
	if from != "" {
		m.from, err = timeOf(from)
	}
	return err
}

// next returns the ids of about n more messages.
func (m *foundMessages) next(n int) (ids []string, err error) {
	x := m.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.file == nil || !x.file.complete {
		return nil, errNoIndex
	}

	ctx, cancel := context.WithTimeout(context.Background(), 10*searchTime)
	defer cancel()
	defer func() {
		if err != nil && ctx.Err() == nil {
			x.suspect.Store(&err)
		}
	}()

	var shards []shard
	err = x.file.read.SelectContext(ctx, &shards, `
		SELECT id, first, docs FROM shards
		WHERE account = ? AND first < ?
		ORDER BY first DESC`, m.account, m.below)
	if err != nil {
		return nil, err
	}

	m.isAtEnd = true
	began := time.Now()
	for _, s := range shards {
		some, hasMore, err := m.inShard(ctx, x.file, s, n-len(ids))
		ids = append(ids, some...)
		switch {
		case err != nil:
			return nil, err
		case hasMore || time.Since(began) > searchTime:
			m.isAtEnd = false
			return ids, nil
		case s.First <= m.from:
			return ids, nil
		}
		m.below = s.First // the next one is older
	}
	return ids, nil
}

// inShard returns the ids of up to n messages of a shard, and whether it may have more. They
// are fewer than n in the midst of it, too: those of the millisecond in which the page before
// ended are left out that were in it.
func (m *foundMessages) inShard(ctx context.Context, f *searchFile, s shard, n int) (ids []string, hasMore bool, err error) {
	var docs []struct {
		ID      int64  `db:"docid"`
		Message string `db:"message"`
	}
	err = f.read.SelectContext(ctx, &docs, `
		SELECT d.docid, d.message
		FROM words CROSS JOIN docs d ON d.docid = words.rowid
		WHERE words MATCH ? AND words.rowid < ? AND words.rowid >= ?
		ORDER BY words.rowid DESC
		LIMIT ?`, m.expression(s), m.below, max(m.from, s.First), n)

	for _, d := range docs {
		m.below = d.ID
		if d.Message < m.belowID {
			m.reached = After{ID: d.Message}
			ids = append(ids, d.Message)
		}
	}
	hasMore = len(docs) == n
	if !hasMore {
		m.below, m.reached = s.First, After{ID: sqlite.FirstID(PrefixMessage, Time(s.First/sameTime))}
	}
	return ids, hasMore, err
}

// expression is what FTS5 looks for in a shard. Words consist of letters, digits and
// marks alone, so that nothing in them means anything to it.
func (m *foundMessages) expression(s shard) string {
	key := s.key()
	var all []string
	if m.filter.Direction != "" {
		all = append(all, `"`+key+propertyMark+m.filter.Direction+`"`)
	}
	if m.filter.Type != "" {
		all = append(all, `"`+key+propertyMark+propertyMark+m.filter.Type+`"`)
	}

	for _, t := range m.terms {
		phrase := `"` + key + strings.Join(t.words, " "+key) + `"`
		if t.isPrefix {
			phrase += ` *`
		}
		all = append(all, phrase)
	}
	return strings.Join(all, " AND ")
}
