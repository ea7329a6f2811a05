package storage_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// insertContacts stores n contacts of a new account; every tenth is called "needle".
func insertContacts(t testing.TB, db *storage.DB, number string, n int) (storage.Account, []storage.Contact) {
	t.Helper()
	all := make([]storage.Contact, n)
	for i := range all {
		all[i].Name = text(fmt.Sprint("hay ", i))
		if i%10 == 0 {
			all[i].Name = text(fmt.Sprint("Needle ", i))
		}
	}
	return people(t, db, number, all...)
}

// A list that is narrowed row by row goes on where it had to stop, so that pages
// with few rows, or none, still lead through all of them.
func TestASearchThatRunsOutOfTimeGoesOnWithTheNextPage(t *testing.T) {
	db := open(t, newFile(t))
	account, all := insertContacts(t, db, "100200300", 3000)
	for name, tt := range map[string]struct {
		time  time.Duration
		limit int
		pages func(int) bool
	}{
		"in one go":      {time.Hour, 1000, func(n int) bool { return n == 1 }},
		"page by page":   {time.Hour, 7, func(n int) bool { return n == 300/7+1 }},
		"without time":   {0, 1000, func(n int) bool { return n == 3000/256+1 }}, // a stretch for each
		"some of either": {0, 20, func(n int) bool { return n > 300/20 }},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			db.SetWalkTime(tt.time)
			pages, found := 0, []string(nil)
			for after := storage.First; after != storage.Last; pages++ {
				var rows []storage.Contact
				storagetest.View(t, db, func(rx *storage.Rx) (err error) {
					rows, after, err = rx.Contacts(account.ID, storage.ContactFilter{Search: "needle"}, after, tt.limit)
					return err
				})
				for _, c := range rows {
					found = append(found, c.ID)
				}
				if len(rows) == tt.limit {
					last := rows[tt.limit-1]
					after = storage.After{Key: last.CreatedAt, ID: last.ID}
				}
			}
			var want []string
			for i := 2990; i >= 0; i -= 10 {
				want = append(want, all[i].ID)
			}
			is.True(slices.Equal(found, want)) // each once, in order
			if !tt.pages(pages) {
				t.Errorf("%d pages", pages)
			}
		})
	}
}
