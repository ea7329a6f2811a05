package storage_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

func TestOrganizationComesWithATeam(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	is.True(storage.ValidID(storage.PrefixOrganization, ours.Organization.PublicID))
	is.Equal(ours.Organization.Subscription, storage.SubscriptionActive)
	is.Equal(ours.Team.Name, storage.DefaultTeam)

	got := view(t, db, func(rx *storage.Rx) (storage.Organization, error) { return rx.Organization(ours.Organization.PublicID) })
	is.Equal(got, ours.Organization)
	teams := view(t, db, func(rx *storage.Rx) ([]storage.Team, error) { return rx.Teams(ours.Organization.ID) })
	is.Equal(teams, []storage.Team{ours.Team})
	is.Equal(names(t, db), []string{"Acme", "ours", "theirs"}) // oldest first
	is.True(theirs.Organization.ID != ours.Organization.ID)
}

func TestOrganizationKeepsWhatIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		ours, theirs := two(t, db)
		time.Sleep(time.Minute)
		o := ours.Organization
		o.Name, o.Plan, o.Subscription, o.RequireOptIn, o.SuspendedAt = "new", "pro", storage.SubscriptionInactive, true, storage.Now()
		is.Equal(o.Status(), "suspended")
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.UpdateOrganization(&o) })
		is.Equal(o.UpdatedAt, ours.Organization.UpdatedAt.Add(time.Minute))
		got := view(t, db, func(rx *storage.Rx) (storage.Organization, error) { return rx.Organization(o.PublicID) })
		is.Equal(got, o)
		got = view(t, db, func(rx *storage.Rx) (storage.Organization, error) {
			return rx.Organization(theirs.Organization.PublicID)
		})
		is.Equal(got, theirs.Organization)
		is.Equal(got.Status(), "active")
	})
}

func TestOrganizationThatDoesNotExistIsNotFound(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	err := db.Update(context.Background(), func(tx *storage.Tx) error {
		return tx.UpdateOrganization(&storage.Organization{ID: 99, Subscription: storage.SubscriptionActive})
	})
	is.True(errors.Is(err, storage.ErrNotFound))
}
