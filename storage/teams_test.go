package storage_test

import (
	"context"
	"errors"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

func TestTeamBelongsToItsOrganization(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	support := storage.Team{OrganizationID: ours.Organization.ID, Name: "Support"}
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertTeam(&support) })
	is.True(storage.ValidID(storage.PrefixTeam, support.PublicID))

	got := view(t, db, func(rx *storage.Rx) (storage.Team, error) { return rx.Team(ours.Organization.ID, support.PublicID) })
	is.Equal(got, support)
	all := view(t, db, func(rx *storage.Rx) ([]storage.Team, error) { return rx.Teams(ours.Organization.ID) })
	is.Equal(all, []storage.Team{ours.Team, support}) // oldest first
	all = view(t, db, func(rx *storage.Rx) ([]storage.Team, error) { return rx.Teams(theirs.Organization.ID) })
	is.Equal(all, []storage.Team{theirs.Team})
	err := db.View(context.Background(), func(rx *storage.Rx) error {
		_, err := rx.Team(theirs.Organization.ID, support.PublicID)
		return err
	})
	is.True(errors.Is(err, storage.ErrNotFound))
}
