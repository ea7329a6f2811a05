package search

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"confab/storage/sqlite"
)

// findTime is how long the index is asked at once, before other searches run.
const findTime = 100 * time.Millisecond

// ErrNoIndex means that a list has to be walked without the index.
var ErrNoIndex = errors.New("the search index cannot be used")

// Query is a search in the messages of an account.
type Query struct {
	Account   int64
	Text      string
	Direction string // "" for any
	Type      string // "" for any
	Below     string // the id that all of them are below; sqlite.First.ID for any
	From      string // the lowest id; "" for any
}

// Found are the messages that the index finds, newest first.
type Found struct {
	index *Index
	query Query
	terms []term

	below, from int64 // docids: those below the one, down to the other and with it

	Reached sqlite.After // how far they were given out
	IsAtEnd bool
}

// Find begins a search, unless there is no index.
func (x *Index) Find(q Query) (*Found, error) {
	if x == nil {
		return nil, ErrNoIndex
	}

	m := &Found{index: x, query: q, terms: parseQuery(q.Text), Reached: sqlite.After{ID: q.Below}}
	if err := m.between(q.Below, q.From); err != nil {
		return nil, errors.Join(ErrNoIndex, err)
	}
	return m, nil
}

// between sets between which ids to look: below the one, down to the other and with it.
func (m *Found) between(below, from string) (err error) {
	m.below = math.MaxInt64
	if below != sqlite.First.ID {
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

// Next returns the ids of about n more messages.
func (m *Found) Next(n int) (ids []string, err error) {
	x := m.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.file == nil || !x.file.complete {
		return nil, ErrNoIndex
	}

	ctx, cancel := context.WithTimeout(context.Background(), 10*findTime)
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
		ORDER BY first DESC`, m.query.Account, m.below)
	if err != nil {
		return nil, err
	}

	m.IsAtEnd = true
	began := time.Now()
	for _, s := range shards {
		some, hasMore, err := m.inShard(ctx, x.file, s, n-len(ids))
		ids = append(ids, some...)
		switch {
		case err != nil:
			return nil, err
		case hasMore || time.Since(began) > findTime:
			m.IsAtEnd = false
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
func (m *Found) inShard(ctx context.Context, f *file, s shard, n int) (ids []string, hasMore bool, err error) {
	var docs []doc
	err = f.read.SelectContext(ctx, &docs, `
		SELECT d.docid, d.message
		FROM words CROSS JOIN docs d ON d.docid = words.rowid
		WHERE words MATCH ? AND words.rowid < ? AND words.rowid >= ?
		ORDER BY words.rowid DESC
		LIMIT ?`, m.expression(s), m.below, max(m.from, s.First), n)

	for _, d := range docs {
		m.below = d.ID
		if d.Message < m.query.Below {
			m.Reached = sqlite.After{ID: d.Message}
			ids = append(ids, d.Message)
		}
	}
	hasMore = len(docs) == n
	if !hasMore {
		m.below, m.Reached = s.First, sqlite.After{ID: sqlite.FirstID(m.index.idPrefix, sqlite.Time(s.First/sameTime))}
	}
	return ids, hasMore, err
}

// expression is what FTS5 looks for in a shard. Words consist of letters, digits and
// marks alone, so that nothing in them means anything to it.
func (m *Found) expression(s shard) string {
	key := s.key()
	var all []string
	if m.query.Direction != "" {
		all = append(all, `"`+key+propertyMark+m.query.Direction+`"`)
	}
	if m.query.Type != "" {
		all = append(all, `"`+key+propertyMark+propertyMark+m.query.Type+`"`)
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
