package storage_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"

	"pgregory.net/rapid"
)

// For any page size, and any rows inserted meanwhile, each label that was
// there at the start is visited exactly once, in order. Many labels share a time.
func TestPagesVisitEachRowOnce(t *testing.T) {
	o := newFile(t)
	db := open(t, o)
	rapid.Check(t, func(rt *rapid.T) {
		s := storagetest.Seed(t, db, "paged")
		serial := 0
		add := func(n int) {
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				for range n {
					serial++
					l := newLabel(s, fmt.Sprint(serial))
					if err := tx.InsertLabel(&l); err != nil {
						return err
					}
					at := rapid.Int64Range(1, 3).Draw(rt, "at") // times go up and down, and repeat
					if err := tx.Run(`UPDATE labels SET created_at = ? WHERE id = ?`, at, l.ID); err != nil {
						return err
					}
				}
				return nil
			})
		}
		add(rapid.IntRange(0, 30).Draw(rt, "labels"))
		var start []string
		storagetest.View(t, db, func(rx *storage.Rx) error {
			return rx.List(&start, `SELECT id FROM labels WHERE organization_id = ? ORDER BY created_at DESC, id DESC`, s.Organization.ID)
		})

		visited, seen := 0, make(map[string]bool)
		after := storage.First
		for {
			limit := rapid.IntRange(1, 12).Draw(rt, "limit")
			var page []storage.Label
			err := db.View(context.Background(), func(rx *storage.Rx) (err error) {
				page, err = rx.Labels(s.Organization.ID, nil, after, limit)
				return err
			})
			if err != nil || len(page) > limit {
				rt.Fatalf("%d rows in a page of %d: %v", len(page), limit, err)
			}
			for _, l := range page {
				if seen[l.ID] {
					rt.Fatalf("%s was visited twice", l.ID)
				}
				seen[l.ID] = true
				if visited < len(start) && l.ID == start[visited] {
					visited++
				} else if slices.Contains(start, l.ID) {
					rt.Fatalf("%s came out of order", l.ID)
				}
				after = storage.After{Key: l.CreatedAt, ID: l.ID}
			}
			if len(page) < limit {
				break
			}
			add(rapid.IntRange(0, 3).Draw(rt, "more"))
			if serial > 300 {
				rt.Fatal("it never ends")
			}
		}
		if visited != len(start) {
			rt.Fatalf("%d of %d were visited", visited, len(start))
		}
	})
}

func TestFirstComesBeforeEveryRow(t *testing.T) {
	db := open(t, newFile(t))
	s := storagetest.Seed(t, db, "far")
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		l := newLabel(s, "last of all")
		if err := tx.InsertLabel(&l); err != nil {
			return err
		}
		return tx.Run(`UPDATE labels SET created_at = 9223372036854775807, id = 'lbl_ZZZZZZZZZZZZZZZZZZZZZZZZZZ'`)
	})
	page := view(t, db, func(rx *storage.Rx) ([]storage.Label, error) {
		return rx.Labels(s.Organization.ID, nil, storage.First, 10)
	})
	if len(page) != 1 {
		t.Error("the greatest key there can be is not on the first page")
	}
}
