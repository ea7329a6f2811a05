package storage_test

import (
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestJobsKnowTheirOrganization(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := newThread(t, db, "100200300", "+15550001111"), newThread(t, db, "100200301", "+15550001111")
	enqueue := func(h thread) {
		m := h.add(t, db)
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			if _, err := tx.Enqueue(storage.NewJob{Kind: "check", Args: storage.AboutAccount{Account: h.account.ID}}); err != nil {
				return err
			}
			_, err := tx.Enqueue(storage.NewJob{Kind: "send", Args: storage.AboutMessage{Message: m.ID}})
			return err
		})
	}
	enqueue(ours)
	enqueue(theirs)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		_, err := tx.Enqueue(storage.NewJob{Kind: "housekeeping", Args: storage.AboutNoAccount{}}) // no one's
		return err
	})
	for _, h := range []thread{ours, theirs} {
		var kinds []string
		for limit := 1; limit <= 3; limit++ {
			kinds = nil
			for after, more := int64(0), true; more; {
				var page []storage.Job
				var reached int64
				storagetest.View(t, db, func(rx *storage.Rx) (err error) {
					page, reached, err = rx.JobsOfOrganization(h.account.OrganizationID, storage.JobFilter{State: storage.JobDue, Limit: limit}, after)
					return err
				})
				for _, j := range page {
					kinds, after = append(kinds, j.Kind), j.ID
				}
				more = len(page) == limit
				is.Equal(reached == 0, !more)
			}
			is.Equal(kinds, []string{"check", "send"})
		}
	}
}
