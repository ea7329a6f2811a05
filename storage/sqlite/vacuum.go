package sqlite

import "fmt"

// FreePages is how many pages of the file hold nothing.
func (rx *Rx) FreePages() (int64, error) {
	var n int64
	err := rx.Get(&n, `PRAGMA freelist_count`)
	return n, err
}

// ReturnSpace gives up to so many empty pages back to the file system.
func (wx *Wx) ReturnSpace(pages int) error {
	return wx.s.runOnce(fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, pages)) // a row for each page
}
