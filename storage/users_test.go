package storage_test

import (
	"testing"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

func TestUserBelongsToItsOrganization(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	ada := storage.User{OrganizationID: ours.Organization.ID, TeamID: ours.Team.ID, TeamPublicID: ours.Team.PublicID,
		Name: "Ada", Email: text("ada@example.com")}
	bob := storage.User{OrganizationID: ours.Organization.ID, TeamID: ours.Team.ID, TeamPublicID: ours.Team.PublicID, Name: "Bob"}
	eve := storage.User{OrganizationID: theirs.Organization.ID, TeamID: theirs.Team.ID, TeamPublicID: theirs.Team.PublicID, Name: "Eve"}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for _, u := range []*storage.User{&ada, &bob, &eve} {
			if err := tx.InsertUser(u); err != nil {
				return err
			}
		}
		return nil
	})
	is.True(storage.ValidID("", ada.ID)) // a bare ULID
	all := view(t, db, func(rx *storage.Rx) ([]storage.User, error) { return rx.Users(ours.Organization.ID) })
	is.Equal(all, []storage.User{ada, bob}) // oldest first, and not Eve
}
