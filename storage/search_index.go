package storage

import (
	"context"

	"confab/storage/search"
	"confab/storage/sqlite"
)

// SearchFile is the name of the search index in the data directory.
const SearchFile = "search.db"

// SearchIndex finds messages by their words.
type SearchIndex = search.Index

// NewSearchIndex makes an index of a database: see search.New.
func NewSearchIndex(db *DB, path string, onError func(error)) *SearchIndex {
	x := search.New(searchSource{db}, path, PrefixMessage, onError)
	db.index.Store(x)
	return x
}

// InspectSearchIndex reads an index that others may use, and checks its pages.
func InspectSearchIndex(path string) (search.Facts, error) { return search.Inspect(path) }

type searchSource struct{ db *DB }

// Epoch is that of the file.
func (s searchSource) Epoch(ctx context.Context) ([8]byte, error) {
	return Query(ctx, s.db, (*Rx).Epoch)
}

// News reads some of what an index does not have yet.
func (s searchSource) News(ctx context.Context, position int64) (search.News, error) {
	return Query(ctx, s.db, func(rx *Rx) (search.News, error) { return rx.searchNews(position) })
}

// DeleteChanges removes changes that the index has taken in, up to one of them.
func (s searchSource) DeleteChanges(ctx context.Context, last int64) error {
	return s.db.Update(ctx, func(tx *Tx) error {
		return tx.Run(`DELETE FROM search_changes WHERE id <= ?`, last)
	})
}

const (
	// searchBatch is how many messages, and how many changes, a step takes in.
	searchBatch = 2000
	// searchBatchBytes ends a batch of long texts early.
	searchBatchBytes = 4 << 20
)

// saidColumns are those of search.Message. saidTexts are the texts among them, as the arguments of says.
const (
	saidTexts   = `m.body, m.content ->> '$.filename', f.filename`
	saidColumns = `m.number, m.id, m.account_id, m.direction, m.type, m.is_revoked,
		coalesce(m.body, '') AS body, coalesce(m.content ->> '$.filename', '') AS filename, coalesce(f.filename, '') AS media_name`
	saidTables = `messages m LEFT JOIN media f ON f.id = m.media_id AND f.deleted_at = 0`
)

// searchNews reads what an index does not have yet that came to a position.
func (rx *Rx) searchNews(position int64) (n search.News, err error) {
	err = rx.List(&n.Changes, `SELECT id, message, top_number FROM search_changes ORDER BY id LIMIT ?`, searchBatch)
	if err != nil {
		return n, err
	}

	for _, c := range n.Changes {
		position = min(position, c.TopNumber)
	}
	if len(n.Changes) > 0 {
		err = rx.List(&n.Changed, `
			SELECT `+saidColumns+`
			FROM (SELECT DISTINCT account_id, message FROM search_changes WHERE id <= ?) s
				CROSS JOIN `+saidTables+`
			WHERE m.account_id = s.account_id AND m.id = s.message`, n.Changes[len(n.Changes)-1].ID)
		if err != nil {
			return n, err
		}
	}

	bytes := 0
	var row search.Message
	err = sqlite.EachRow(&rx.Within(nil).Rx, []any{
		&row.Number, &row.ID, &row.AccountID, &row.Direction, &row.Type, &row.IsRevoked, &row.Body, &row.Filename, &row.MediaName,
	}, func() {
		bytes += len(row.Body)
		if len(n.Added) == 0 || bytes < searchBatchBytes {
			n.Added = append(n.Added, row)
		}
	}, `
		SELECT `+saidColumns+`
		FROM `+saidTables+`
		WHERE m.number > ?
		ORDER BY m.number
		LIMIT ?`, position, searchBatch)
	n.More = len(n.Changes) == searchBatch || len(n.Added) == searchBatch || bytes >= searchBatchBytes
	n.From = position
	return n, err
}

// CountUnindexed counts the messages after the position of an index.
func (rx *Rx) CountUnindexed(position int64) (int64, error) {
	return get[int64](rx, `SELECT count(*) FROM messages WHERE number > ?`, position)
}

// FoldText is a text without case and accents.
func FoldText(text string) string { return search.Fold(text) }
