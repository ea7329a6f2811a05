package storage

// WithoutIndex runs fn while no list uses the index.
func (db *DB) WithoutIndex(fn func()) {
	index := db.index.Swap(nil)
	defer db.index.Store(index)
	fn()
}
