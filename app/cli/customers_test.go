package cli

import (
	"errors"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestARestoredCustomerIsWhatItWasBefore(t *testing.T) {
	for _, status := range []string{storage.CustomerPending, storage.CustomerActive, storage.CustomerSuspended} {
		t.Run(status, func(t *testing.T) {
			is := is.New(t)
			db := storagetest.Open(t)
			tenant := storagetest.Seed(t, db, "Acme")
			c := storage.Customer{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, Name: "Bakery"}
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				if err := tx.InsertCustomer(&c); err != nil {
					return err
				}
				c.Status = status
				if err := tx.UpdateCustomer(&c); err != nil {
					return err
				}
				return tx.ArchiveCustomer(&c)
			})
			restore := func(id string) (restored storage.Customer, err error) {
				err = db.Update(t.Context(), func(tx *storage.Tx) (err error) {
					restored, err = restoreCustomer(tx, id)
					return err
				})
				return restored, err
			}
			got, err := restore(c.ID)
			is.NoErr(err)
			is.Equal(got.Status, status)
			is.Equal(got.ArchivedAt, storage.Time(0))
			_, err = restore(c.ID)
			is.True(err != nil) // it is not archived any more
			_, err = restore("cus_x")
			is.True(errors.Is(err, storage.ErrNotFound))
			storagetest.View(t, db, func(rx *storage.Rx) error {
				stored, err := rx.Customer(tenant.Organization.ID, c.ID)
				is.Equal(stored, got)
				events, listErr := rx.Events(tenant.Organization.ID, 10)
				is.Equal(len(events), 1)
				is.Equal(events[0].Type, "customer.updated")
				return errors.Join(err, listErr)
			})
		})
	}
}
