package storage_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// signIn makes a session of a user.
func signIn(t *testing.T, db *storage.DB, user string) (s storage.UserSession, token string) {
	t.Helper()
	s = storage.UserSession{UserID: user, UserAgent: strings.Repeat("ä", 200), IP: "192.0.2.1"}
	token = update(t, db, func(tx *storage.Tx) (string, error) { return tx.InsertUserSession(&s) })
	return s, token
}

func TestASessionEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		ours, _ := two(t, db)
		ada, _ := inviteUser(t, db, invitee(ours, "ada@example.com"))
		s, token := signIn(t, db, ada.ID)
		is.Equal(len(s.UserAgent), 254) // cut between letters
		is.Equal(len(token), 43)

		found, err := db.SignedIn(t.Context(), storage.TokenHash(token))
		is.NoErr(err)
		is.Equal(found.Session, s)
		is.Equal(found.User.ID, ada.ID)
		is.Equal(found.Organization.ID, ours.Organization.ID)
		is.True(!found.Session.Expired(storage.Now().Add(storage.SessionIdle - time.Millisecond)))
		is.True(found.Session.Expired(storage.Now().Add(storage.SessionIdle)))

		for range 5 { // used every six days
			time.Sleep(6 * 24 * time.Hour)
			storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.MarkSessionSeen(s.ID, tx.Now) })
		}
		found, err = db.SignedIn(t.Context(), storage.TokenHash(token))
		is.NoErr(err)
		is.Equal(found.Session.LastSeenAt, storage.Now())
		is.True(found.Session.Expired(storage.Now())) // 30 days at the most
		is.Equal(len(view(t, db, func(rx *storage.Rx) ([]storage.UserSession, error) { return rx.UserSessions(ada.ID) })), 0)
		is.Equal(update(t, db, func(tx *storage.Tx) (int64, error) { return tx.DeleteOldUserSessions(10) }), int64(1))
	})
}

func TestAUserHasABoundedNumberOfSessions(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, _ := two(t, db)
	ada, _ := inviteUser(t, db, invitee(ours, "ada@example.com"))
	bo, _ := inviteUser(t, db, invitee(ours, "bo@example.com"))
	_, first := signIn(t, db, ada.ID)
	kept, _ := signIn(t, db, bo.ID)
	var last storage.UserSession
	for range 50 {
		last, _ = signIn(t, db, ada.ID)
	}
	_, err := db.SignedIn(t.Context(), storage.TokenHash(first))
	is.Equal(err, storage.ErrNotFound) // the oldest went
	is.Equal(update(t, db, func(tx *storage.Tx) (int64, error) { return tx.DeleteUserSessions(ada.ID, last.ID) }), int64(49))
	is.Equal(db.Update(t.Context(), func(tx *storage.Tx) error { return tx.DeleteUserSession(ada.ID, kept.ID) }), storage.ErrNotFound)
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DeleteUserSession(bo.ID, kept.ID) })
}

func TestASessionFollowsItsUserAtOnce(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, _ := two(t, db)
	ada, _ := inviteUser(t, db, invitee(ours, "ada@example.com"))
	_, token := signIn(t, db, ada.ID)
	found, err := db.SignedIn(t.Context(), storage.TokenHash(token))
	is.NoErr(err)
	is.Equal(found.User.Role, storage.RoleAgent)

	ada.Role = storage.RoleAdmin
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.UpdateUser(&ada) })
	found, err = db.SignedIn(t.Context(), storage.TokenHash(token))
	is.NoErr(err)
	is.Equal(found.User.Role, storage.RoleAdmin) // not what was cached
}

func TestARestoredCopyHasNoSessionsDevicesAndInvitations(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	db := open(t, o)
	ours, _ := two(t, db)
	ada, _ := inviteUser(t, db, invitee(ours, "ada@example.com"))
	session, _ := signIn(t, db, ada.ID)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		_, err := tx.EnsurePushDevice(storage.SignedIn{Session: session, User: ada}, storage.PushSubscription{Endpoint: "https://push.example.com/1"})
		return err
	})
	is.NoErr(db.Close())
	const left = `SELECT count(*) FROM user_sessions UNION ALL SELECT count(*) FROM push_devices UNION ALL SELECT count(*) FROM user_invitations`
	is.NoErr(storage.ForgetInvitations(o.Path)) // as when a standby takes over
	is.Equal(column(t, o.Path, left), []string{"1", "1", "0"})
	is.NoErr(storage.ForgetSignIns(o.Path))
	is.Equal(column(t, o.Path, left), []string{"0", "0", "0"})
	is.NoErr(storage.ForgetSignIns(frozenFile(t, 1).Path)) // which knew of neither
}
