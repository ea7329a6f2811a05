package storage_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestUsageCountsTheMonthOfEachOrganization(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	a, b := storagetest.Seed(t, db, "A"), storagetest.Seed(t, db, "B")
	for want := range int64(3) {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			tx.CountMessage(a.Organization.ID)
			n, err := tx.MessagesThisMonth(a.Organization.ID)
			is.Equal(n, want+1)
			return err
		})
	}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		n, err := tx.MessagesThisMonth(b.Organization.ID)
		is.Equal(n, int64(0))
		return err
	})
}

func TestUsageCountsWhatHappenedAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		a, b := storagetest.Seed(t, db, "A"), storagetest.Seed(t, db, "B")
		count := func(of storagetest.Tenant, err error, writes bool) func(*storage.Tx) error {
			return func(tx *storage.Tx) error {
				tx.CountMessage(of.Organization.ID)
				if writes {
					check(t, tx.InsertTeam(&storage.Team{OrganizationID: of.Organization.ID, Name: "x"}))
				}
				return err
			}
		}
		failed := errors.New("no")
		for _, writes := range []bool{false, true} { // a failure that wrote makes all of them start over
			errs := batch(t, db, t.Context(), count(a, nil, writes), count(b, failed, writes), count(a, failed, writes), count(b, nil, writes), count(a, nil, writes))
			is.Equal(errs, []error{nil, failed, failed, nil, nil})
		}
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			for of, want := range map[int64]int64{a.Organization.ID: 4, b.Organization.ID: 2} {
				n, err := tx.MessagesThisMonth(of)
				is.NoErr(err)
				is.Equal(n, want)
			}
			return nil
		})
	})
}
