package storage

import (
	"context"
	"fmt"
)

// FreePages is how many pages of the file hold nothing.
func (rx *Rx) FreePages() (int64, error) {
	var n int64
	err := rx.get(&n, `PRAGMA freelist_count`)
	return n, err
}

// ReturnSpace gives up to so many empty pages back to the file system.
func (tx *Tx) ReturnSpace(pages int) error {
	rows, err := tx.s.conn.QueryContext(context.Background(), fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, pages))
	if err != nil {
		return translate(err)
	}
	defer rows.Close()
	for rows.Next() { // each step frees one page
	}
	tx.wrote = true
	return translate(rows.Err())
}
