package api

import (
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/pquerna/otp/totp"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

// One-time codes go by the clock of the phone, however far that of a sandbox was moved.
func TestOneTimeCodesGoByTheRealTime(t *testing.T) {
	is := is.New(t)
	o := storagetest.Options(t, t.TempDir())
	o.Now = func() storage.Time { return storage.Now().Add(100 * 24 * time.Hour) }
	db := storagetest.OpenWith(t, o)
	tenant := storagetest.Seed(t, db, "Acme")
	s := &Server{Server: &rest.Server{Options: rest.Options{DB: db}}}

	u := storage.User{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, Name: "Ada"}
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertUser(&u) })
	n, err := s.NewCodes(u)
	is.NoErr(err)
	code, err := totp.GenerateCode(n.Secret, time.Now())
	is.NoErr(err)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		recovery, err := s.StoreCodes(tx, u, n.Ticket, code)
		is.Equal(len(recovery), 10)
		return err
	})
}
