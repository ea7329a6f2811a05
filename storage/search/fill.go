package search

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/oklog/ulid/v2"
)

const (
	// shardSize is after how many messages an account gets another shard. One that is
	// full takes a search of a single letter about ten milliseconds.
	shardSize = 32 << 10
	// sameTime is how many docids there are for one millisecond.
	sameTime = 1 << 21
)

// Message is what the index takes in of a message.
type Message struct {
	Number    int64  `db:"number"`
	ID        string `db:"id"`
	AccountID int64  `db:"account_id"`
	Direction string `db:"direction"`
	Type      string `db:"type"`
	IsRevoked bool   `db:"is_revoked"`
	Body      string `db:"body"`
	Filename  string `db:"filename"`
	MediaName string `db:"media_name"`
}

type doc struct {
	ID      int64  `db:"docid"`
	Message string `db:"message"`
}

// Change is a message that was changed or deleted.
type Change struct {
	ID        int64  `db:"id"`
	Message   string `db:"message"`
	TopNumber int64  `db:"top_number"` // the highest that was left
}

// News are what one step takes in.
type News struct {
	From    int64     // the number after which Added begins
	Added   []Message // in the order of their numbers
	Changes []Change
	Changed []Message // those of the changes that are still there
	More    bool
}

// Source is the database of the messages.
type Source interface {
	// Epoch distinguishes one file of the database from another.
	Epoch(ctx context.Context) ([8]byte, error)
	// News reads some of what an index does not have yet that came to a position.
	News(ctx context.Context, position int64) (News, error)
	// DeleteChanges removes the changes that the index has taken in, up to one of them.
	DeleteChanges(ctx context.Context, last int64) error
}

// fill indexes some of the new messages, and reports whether there is more.
func (x *Index) fill(ctx context.Context) (more bool, err error) {
	news, err := x.source.News(ctx, x.file.position)
	if err != nil {
		return false, errors.Join(errMainDatabase, err)
	}
	if len(news.Changes)+len(news.Added) == 0 {
		return false, nil
	}

	if err := x.file.take(ctx, news); err != nil {
		return false, err
	}

	if n := len(news.Changes); n > 0 {
		if err := x.source.DeleteChanges(ctx, news.Changes[n-1].ID); err != nil {
			return false, errors.Join(errMainDatabase, err)
		}
	}
	return news.More, nil
}

func (f *file) take(ctx context.Context, news News) (err error) {
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

	w := &writer{file: f, tx: tx, counts: make(map[int64]int64)}
	for _, c := range news.Changes {
		if err := w.remove(c.Message); err != nil {
			return err
		}
	}
	for _, m := range news.Changed {
		if m.Number <= news.From {
			if err := w.add(m); err != nil {
				return err
			}
		}
	}

	// After a crash, or a deletion of the newest, some may be there already.
	w.areNew = news.From == f.position && len(news.Changes) == 0
	position := news.From
	for _, m := range news.Added {
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
	f.inLog = f.inLog || len(news.Changes) > 0
	return nil
}

type shard struct {
	ID    int64 `db:"id"`
	First int64 `db:"first"` // docid
	Docs  int64 `db:"docs"`
}

// key is the prefix of each word of a shard.
func (s shard) key() string {
	text := strconv.FormatInt(s.ID, 36)
	return strings.Repeat("0", max(6-len(text), 0)) + text
}

// withKey is a text of words with the key before each.
func (s shard) withKey(words string) string {
	key := s.key()
	return key + strings.ReplaceAll(words, " ", " "+key)
}

type writer struct {
	*file
	tx     *sqlx.Tx
	counts map[int64]int64 // by how many the shards have grown
	areNew bool            // messages added now cannot be in the index
}

// timeOf is the first docid of the millisecond in which a message was stored.
func timeOf(id string) (int64, error) {
	_, bare, _ := strings.Cut(id, "_") // without the prefix
	parsed, err := ulid.ParseStrict(bare)
	return int64(parsed.Time()) * sameTime, err
}

// startOf is the first docid of the same millisecond, which is always in one shard.
func startOf(docid int64) int64 { return docid - docid%sameTime }

// find finds a message in the index: its docid, or 0 and the docid that it would have, or
// twice 0 if it can have none.
func (w *writer) find(id string) (docid, free int64, err error) {
	first, err := timeOf(id)
	switch {
	case err != nil: // it has no place in the order
		return 0, 0, nil
	case first > w.top:
		return 0, first, nil
	case first == startOf(w.top) && w.areNew:
		return 0, w.top + 1, nil
	}

	var docs []doc
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

func (w *writer) remove(id string) error {
	docid, _, err := w.find(id)
	if err != nil || docid == 0 {
		return err
	}

	var of shard
	if err := w.tx.Get(&of.ID, `DELETE FROM docs WHERE docid = ? RETURNING shard`, docid); err != nil {
		return err
	}
	w.counts[of.ID]--

	var words string
	if err := w.tx.Get(&words, `DELETE FROM texts WHERE docid = ? RETURNING words`, docid); err != nil {
		return err
	}
	_, err = w.tx.Exec(`INSERT INTO words (words, rowid, word) VALUES ('delete', ?, ?)`, docid, of.withKey(words))
	return err
}

// writeCounts writes how many messages the shards have. One without any is removed.
func (w *writer) writeCounts() error {
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
func (w *writer) add(m Message) error {
	docid, free, err := w.find(m.ID)
	if err != nil || docid != 0 || free == 0 || m.IsRevoked {
		return err
	}
	words := wordsOf(m.Body, m.Filename, m.MediaName)
	if len(words) == 0 {
		return nil
	}

	s, err := w.shardFor(m.AccountID, free)
	if err != nil {
		return err
	}

	text := propertyMark + m.Direction + " " + propertyMark + propertyMark + m.Type + " " + textEnd + " " + strings.Join(words, " ")
	if _, err := w.tx.Stmtx(w.insertWords).Exec(free, s.withKey(text)); err != nil {
		return err
	}
	if _, err := w.tx.Stmtx(w.insertText).Exec(free, text); err != nil {
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

func (w *writer) shardFor(account, docid int64) (*shard, error) {
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
		s, err = w.newShard(account, 0) // whatever comes before the others belongs to it
	case err == nil && startOf(docid) > w.top && s.Docs >= shardSize:
		s, err = w.newShard(account, startOf(docid))
	}

	if err == nil && isNewest {
		w.newest[account] = s
	}
	return s, err
}

func (w *writer) newShard(account, first int64) (*shard, error) {
	s := new(shard)
	err := w.tx.Get(s, `INSERT INTO shards (account, first, docs) VALUES (?, ?, 0) RETURNING id, first, docs`, account, first)
	return s, err
}
