package storage_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// inviteUser invites somebody, and returns the user and the token.
func inviteUser(t *testing.T, db *storage.DB, in storage.Invitee) (u storage.User, token string) {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
		u, token, err = tx.InviteUser(in)
		return err
	})
	return u, token
}

// inviteErr is why somebody cannot be invited.
func inviteErr(db *storage.DB, in storage.Invitee) error {
	return db.Update(context.Background(), func(tx *storage.Tx) error {
		_, _, err := tx.InviteUser(in)
		return err
	})
}

func invitee(t storagetest.Tenant, email string) storage.Invitee {
	return storage.Invitee{OrganizationID: t.Organization.ID, DefaultTeamID: t.Team.ID, Name: "Ada", Email: email}
}

func TestAnAddressIsTakenWhileItsInvitationLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		ours, theirs := two(t, db)
		ada, token := inviteUser(t, db, invitee(ours, "Ada@Example.com"))
		is.Equal(ada.Status(storage.Now()), storage.UserInvited)
		is.Equal(ada.Role, storage.RoleAgent)

		again, second := inviteUser(t, db, invitee(ours, "ADA@example.COM"))
		is.Equal(again.ID, ada.ID)
		is.True(token != second)
		ended := view(t, db, func(rx *storage.Rx) (storage.UserInvitation, error) { return rx.UserInvitation(token) })
		is.True(!ended.Usable(storage.Now())) // a new one ends the earlier
		live := view(t, db, func(rx *storage.Rx) (storage.UserInvitation, error) { return rx.UserInvitation(second) })
		is.True(live.Usable(storage.Now()))
		is.Equal(live.OrganizationName, "ours")
		_, err := viewErr(db, func(rx *storage.Rx) (storage.UserInvitation, error) { return rx.UserInvitation("x") })
		is.Equal(err, storage.ErrNotFound)
		is.Equal(inviteErr(db, invitee(theirs, "ada@example.com")), storage.ErrInvitedElsewhere)

		time.Sleep(72 * time.Hour)
		is.True(!live.Usable(storage.Now()))
		found := view(t, db, func(rx *storage.Rx) (storage.User, error) { return rx.UserBySignIn("ada@example.com") })
		is.Equal(found.Status(storage.Now()), storage.UserNoSignIn)
		other, _ := inviteUser(t, db, invitee(theirs, "ada@example.com")) // free again
		is.True(other.ID != ada.ID)
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.SetPassword(other.ID, "hash") })
		is.Equal(inviteErr(db, invitee(ours, "ada@example.com")), storage.ErrCanSignIn)
		is.Equal(inviteErr(db, invitee(theirs, "Ada@example.com")), storage.ErrCanSignIn)
	})
}

func TestAUserWithoutSignInIsAdopted(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, _ := two(t, db)
	old := storage.User{OrganizationID: ours.Organization.ID, TeamID: ours.Team.ID, Name: "Ada", Email: text("ADA@example.com")}
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertUser(&old) })
	in := invitee(ours, "ada@example.com")
	in.Role = storage.RoleAdmin
	ada, _ := inviteUser(t, db, in)
	is.Equal(ada.ID, old.ID)
	is.Equal(ada.Role, storage.RoleAdmin)

	twice := storage.User{OrganizationID: ours.Organization.ID, TeamID: ours.Team.ID, Name: "Bo", Email: text("bo@example.com")}
	same := twice
	storagetest.Update(t, db, func(tx *storage.Tx) error { return errors.Join(tx.InsertUser(&twice), tx.InsertUser(&same)) })
	ambiguous, ok := errors.AsType[*storage.AmbiguousUserError](inviteErr(db, invitee(ours, "bo@example.com")))
	is.True(ok)
	is.Equal(ambiguous.IDs, []string{twice.ID, same.ID})
}

func TestADisabledUserHasNeitherSessionsNorInvitations(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, _ := two(t, db)
	ada, token := inviteUser(t, db, invitee(ours, "ada@example.com"))
	s := storage.UserSession{UserID: ada.ID}
	cookie := update(t, db, func(tx *storage.Tx) (string, error) { return tx.InsertUserSession(&s) })
	_, err := db.SignedIn(t.Context(), storage.TokenHash(cookie))
	is.NoErr(err)

	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DisableUser(ada.ID) })
	_, err = db.SignedIn(t.Context(), storage.TokenHash(cookie))
	is.Equal(err, storage.ErrNotFound)
	ended := view(t, db, func(rx *storage.Rx) (storage.UserInvitation, error) { return rx.UserInvitation(token) })
	is.True(ended.EndedAt != 0)
	is.Equal(inviteErr(db, invitee(ours, "ada@example.com")), storage.ErrUserDisabled)
}

func TestUsersOfOlderFilesAreAgentsWithoutSignIn(t *testing.T) {
	is := is.New(t)
	o := frozenFile(t, 1)
	upgrade(t, o)
	is.Equal(column(t, o.Path, `SELECT DISTINCT role || ' ' || (password_hash IS NULL) || ' ' || disabled_at FROM users`), []string{"agent 1 0"})
	is.Equal(column(t, o.Path, `SELECT count(*) FROM user_sessions UNION ALL SELECT count(*) FROM user_invitations`), []string{"0", "0"})
}
