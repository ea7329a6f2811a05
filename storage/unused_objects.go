package storage

// MarkObjectUnused records that from now on no row names the object of a hash.
func (tx *Tx) MarkObjectUnused(sum string) error {
	return tx.Run(`
		INSERT INTO unused_objects (sha256, since) VALUES (?, ?)
		ON CONFLICT (sha256) DO UPDATE SET since = excluded.since`, sum, tx.Now)
}

// NoticeUnusedObjects records objects that no row names, unless they are known to be unused.
func (tx *Tx) NoticeUnusedObjects(sums []string) error {
	return tx.Run(`
		INSERT OR IGNORE INTO unused_objects (sha256, since)
		SELECT value, ? FROM json_each(?)`, tx.Now, jsonList(sums))
}

// UnusedObjects lists up to limit hashes, after one, of objects that are unused since a time.
func (rx *Rx) UnusedObjects(since Time, after string, limit int) ([]string, error) {
	return list[string](rx, `
		SELECT sha256 FROM unused_objects
		WHERE since <= ? AND sha256 > ?
		ORDER BY sha256
		LIMIT ?`, since, after, limit)
}

// ForgetUnusedObject forgets an object that was deleted, or that a row names again.
func (tx *Tx) ForgetUnusedObject(sum string) error {
	return tx.Run(`DELETE FROM unused_objects WHERE sha256 = ?`, sum)
}
