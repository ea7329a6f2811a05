package storage

import "context"

// CatchUp takes in all that an index does not have yet.
func (x *SearchIndex) CatchUp(ctx context.Context) error {
	for {
		if more, err := x.step(ctx); err != nil || !more {
			return err
		}
	}
}

// CloseFile closes the file of an index that does not run.
func (x *SearchIndex) CloseFile() { x.close() }

// SearchRows counts the messages and the shards of an index.
func (x *SearchIndex) SearchRows() (docs, shards int, err error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	err = x.file.read.QueryRow(`SELECT (SELECT count(*) FROM docs), (SELECT count(*) FROM shards)`).Scan(&docs, &shards)
	return docs, shards, err
}

// WithoutIndex runs fn while no list uses the index.
func (db *DB) WithoutIndex(fn func()) {
	index := db.index.Swap(nil)
	defer db.index.Store(index)
	fn()
}

// Says tells whether a text says what a query looks for.
func Says(query string, texts ...string) bool {
	words := wordsOf(texts...)
	terms := parseSearch(query)
	for _, t := range terms {
		if !t.isIn(words) {
			return false
		}
	}
	return len(terms) > 0
}
