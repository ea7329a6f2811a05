package storage

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/oklog/ulid/v2"

	"confab/storage/sqlite"
)

const (
	// searchBatch is how many messages, and how many changes, a step takes in.
	searchBatch = 2000
	// searchBatchBytes ends a batch of long texts early.
	searchBatchBytes = 4 << 20
	// shardSize is after how many messages an account gets another shard. One that is
	// full takes a search of a single letter about ten milliseconds.
	shardSize = 32 << 10
	// sameTime is how many docids there are for one millisecond.
	sameTime = 1 << 21
)

// saidMessage is what the index takes in of a message.
type saidMessage struct {
	Number    int64   `db:"number"`
	ID        string  `db:"id"`
	AccountID int64   `db:"account_id"`
	Direction string  `db:"direction"`
	Type      string  `db:"type"`
	IsRevoked bool    `db:"is_revoked"`
	Body      *string `db:"body"`
	Filename  *string `db:"filename"`
	MediaName *string `db:"media_name"`
}

// saidColumns are those of saidMessage. The texts are the arguments of says too.
const (
	saidTexts   = `m.body, m.content ->> '$.filename', f.filename`
	saidColumns = `m.number, m.id, m.account_id, m.direction, m.type, m.is_revoked,
		m.body, m.content ->> '$.filename' AS filename, f.filename AS media_name`
	saidTables = `messages m LEFT JOIN media f ON f.id = m.media_id AND f.deleted_at = 0`
)

// searchChange is a message that was changed or deleted.
type searchChange struct {
	ID        int64  `db:"id"`
	Message   string `db:"message"`
	TopNumber int64  `db:"top_number"` // the highest that was left
}

// searchNews are what one step takes in.
type searchNews struct {
	changes []searchChange
	changed []saidMessage // those of the changes that are still there
	added   []saidMessage
	more    bool
}

// searchNews reads what an index does not have yet that came to a position.
func (rx *Rx) searchNews(position int64) (n searchNews, from int64, err error) {
	err = rx.List(&n.changes, `SELECT id, message, top_number FROM search_changes ORDER BY id LIMIT ?`, searchBatch)
	if err != nil {
		return n, 0, err
	}

	for _, c := range n.changes {
		position = min(position, c.TopNumber)
	}
	if len(n.changes) > 0 {
		err = rx.List(&n.changed, `
			SELECT `+saidColumns+`
			FROM (SELECT DISTINCT account_id, message FROM search_changes WHERE id <= ?) s
				CROSS JOIN `+saidTables+`
			WHERE m.account_id = s.account_id AND m.id = s.message`, n.changes[len(n.changes)-1].ID)
		if err != nil {
			return n, 0, err
		}
	}

	bytes := 0
	var row saidMessage
	err = sqlite.EachRow(&rx.Within(nil).Rx, []any{
		&row.Number, &row.ID, &row.AccountID, &row.Direction, &row.Type, &row.IsRevoked, &row.Body, &row.Filename, &row.MediaName,
	}, func() {
		bytes += len(orNone(row.Body))
		if len(n.added) == 0 || bytes < searchBatchBytes {
			n.added = append(n.added, row)
		}
	}, `
		SELECT `+saidColumns+`
		FROM `+saidTables+`
		WHERE m.number > ?
		ORDER BY m.number
		LIMIT ?`, position, searchBatch)
	n.more = len(n.changes) == searchBatch || len(n.added) == searchBatch || bytes >= searchBatchBytes
	return n, position, err
}

func orNone(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// DeleteSearchChanges removes changes that the index has taken in, up to one of them.
func (tx *Tx) DeleteSearchChanges(last int64) error {
	_, err := tx.Exec(`DELETE FROM search_changes WHERE id <= ?`, last)
	return err
}

// fill takes in some of what is new, and tells whether there is more.
func (x *SearchIndex) fill(ctx context.Context) (more bool, err error) {
	var news searchNews
	var from int64
	err = x.db.View(ctx, func(rx *Rx) (err error) {
		news, from, err = rx.searchNews(x.file.position)
		return err
	})
	if err != nil {
		return false, errors.Join(errMainDatabase, err)
	}
	if len(news.changes)+len(news.added) == 0 {
		return false, nil
	}

	if err := x.file.take(ctx, news, from); err != nil {
		return false, err
	}

	if n := len(news.changes); n > 0 {
		last := news.changes[n-1].ID
		err = x.db.Update(ctx, func(tx *Tx) error { return tx.DeleteSearchChanges(last) })
		if err != nil {
			return false, errors.Join(errMainDatabase, err)
		}
	}
	return news.more, nil
}

// take writes what is new into the index.
func (f *searchFile) take(ctx context.Context, news searchNews, from int64) (err error) {
	tx, err := f.write.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	top := f.top
	defer func() {
		if err != nil { // nor is what was learned of shards
			_ = tx.Rollback()
			f.top = top
			clear(f.newest)
		}
	}()

	w := &searchWriter{searchFile: f, tx: tx, counts: make(map[int64]int64)}
	for _, c := range news.changes {
		if err := w.remove(c.Message); err != nil {
			return err
		}
	}
	for _, m := range news.changed {
		if m.Number <= from {
			if err := w.add(m); err != nil {
				return err
			}
		}
	}

	// After a crash, or a deletion of the newest, some may be there already.
	w.areNew = from == f.position && len(news.changes) == 0
	position := from
	for _, m := range news.added {
		if err := w.add(m); err != nil {
			return err
		}
		position = m.Number
	}

	if err := w.writeCounts(); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE progress SET position = ?`, position); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	f.position = position
	return nil
}

// shard is a part of an account's messages.
type shard struct {
	ID    int64 `db:"id"`
	First int64 `db:"first"` // docid
	Docs  int64 `db:"docs"`
}

// key is what stands before each word of a shard.
func (s shard) key() string {
	text := strconv.FormatInt(s.ID, 36)
	return strings.Repeat("0", max(6-len(text), 0)) + text
}

// searchWriter writes into the index within one transaction.
type searchWriter struct {
	*searchFile
	tx     *sqlx.Tx
	counts map[int64]int64 // by how many the shards have grown
	areNew bool            // what is added now cannot be in the index
}

// timeOf is the first docid of the millisecond in which a message was stored.
func timeOf(id string) (int64, error) {
	parsed, err := ulid.ParseStrict(strings.TrimPrefix(id, PrefixMessage))
	return int64(parsed.Time()) * sameTime, err
}

// startOf is the first docid of the same millisecond. Shards begin with one, so that all
// messages of a millisecond are in the same.
func startOf(docid int64) int64 { return docid - docid%sameTime }

// find finds a message in the index: its docid, or 0 and the docid that it would have, or
// twice 0 if it can have none.
func (w *searchWriter) find(id string) (docid, free int64, err error) {
	first, err := timeOf(id)
	switch {
	case err != nil: // it has no place in the order
		return 0, 0, nil
	case first > w.top:
		return 0, first, nil
	case first == startOf(w.top) && w.areNew:
		return 0, w.top + 1, nil
	}

	var docs []struct {
		ID      int64  `db:"docid"`
		Message string `db:"message"`
	}
	err = w.tx.Stmtx(w.findDocs).Select(&docs, first, first+sameTime)
	free = first
	for _, d := range docs {
		if d.Message == id {
			docid = d.ID
		}
		free = d.ID + 1
	}
	return docid, free, err
}

// remove takes a message out of the index, if it is there.
func (w *searchWriter) remove(id string) error {
	docid, _, err := w.find(id)
	if err != nil || docid == 0 {
		return err
	}

	var of int64
	if err := w.tx.Get(&of, `DELETE FROM docs WHERE docid = ? RETURNING shard`, docid); err != nil {
		return err
	}
	w.counts[of]--
	_, err = w.tx.Exec(`DELETE FROM words WHERE rowid = ?`, docid)
	return err
}

// writeCounts writes how many messages the shards have. One without any is removed.
func (w *searchWriter) writeCounts() error {
	for id, n := range w.counts {
		if _, err := w.tx.Exec(`UPDATE shards SET docs = docs + ? WHERE id = ?`, n, id); err != nil {
			return err
		}
		if n >= 0 {
			continue
		}
		if _, err := w.tx.Exec(`DELETE FROM shards WHERE id = ? AND docs = 0`, id); err != nil {
			return err
		}
		clear(w.newest) // it may be one of them
	}
	return nil
}

// add puts a message into the index, unless it says nothing.
func (w *searchWriter) add(m saidMessage) error {
	docid, free, err := w.find(m.ID)
	if err != nil || docid != 0 || free == 0 || m.IsRevoked {
		return err
	}
	words := wordsOf(orNone(m.Body), orNone(m.Filename), orNone(m.MediaName))
	if len(words) == 0 {
		return nil
	}

	s, err := w.shardFor(m.AccountID, free)
	if err != nil {
		return err
	}

	key := s.key()
	var text strings.Builder
	for _, property := range []string{propertyMark + m.Direction, propertyMark + propertyMark + m.Type, textEnd} {
		text.WriteString(key + property + " ")
	}
	for _, word := range words {
		text.WriteString(key + word + " ")
	}

	if _, err := w.tx.Stmtx(w.insertWords).Exec(free, text.String()); err != nil {
		return err
	}
	if _, err := w.tx.Stmtx(w.insertDoc).Exec(free, s.ID, m.ID); err != nil {
		return err
	}
	w.top = max(w.top, free)
	w.counts[s.ID]++
	s.Docs++
	return nil
}

// shardFor finds the shard that a docid belongs to, or makes one.
func (w *searchWriter) shardFor(account, docid int64) (*shard, error) {
	isNewest := docid > w.top
	if s := w.newest[account]; s != nil && isNewest && s.Docs < shardSize {
		return s, nil
	}

	s := new(shard)
	err := w.tx.Get(s, `
		SELECT id, first, docs FROM shards
		WHERE account = ? AND first <= ?
		ORDER BY first DESC
		LIMIT 1`, account, docid)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		s, err = w.extendOldest(account, docid)
	case err == nil && startOf(docid) > w.top && s.Docs >= shardSize:
		s, err = w.newShard(account, docid)
	}

	if err == nil && isNewest {
		w.newest[account] = s
	}
	return s, err
}

// extendOldest makes an account's oldest shard begin with a docid. Without any, it makes
// one.
func (w *searchWriter) extendOldest(account, docid int64) (*shard, error) {
	s := new(shard)
	err := w.tx.Get(s, `
		UPDATE shards
		SET first = ?2
		WHERE id = (SELECT id FROM shards WHERE account = ?1 ORDER BY first LIMIT 1)
		RETURNING id, first, docs`, account, startOf(docid))
	if errors.Is(err, sql.ErrNoRows) {
		return w.newShard(account, docid)
	}
	return s, err
}

func (w *searchWriter) newShard(account, docid int64) (*shard, error) {
	s := new(shard)
	err := w.tx.Get(s, `INSERT INTO shards (account, first, docs) VALUES (?, ?, 0) RETURNING id, first, docs`, account, startOf(docid))
	return s, err
}
