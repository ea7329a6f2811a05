package storage_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// invite stores a customer with a link that expires at a time.
func invite(t *testing.T, db *storage.DB, tenant storagetest.Tenant, expires storage.Time) (c storage.Customer, l storage.SetupLink, token string) {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
		c = storage.Customer{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, TeamPublicID: tenant.Team.PublicID, Name: "Bakery"}
		if err := tx.InsertCustomer(&c); err != nil {
			return err
		}
		l = storage.SetupLink{CustomerID: c.ID, ExpiresAt: expires}
		token, err = tx.InsertSetupLink(&l)
		return err
	})
	return c, l, token
}

func TestALinkIsFoundByItsWholeTokenOnly(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	_, l, token := invite(t, db, storagetest.Seed(t, db, "Acme"), storage.Now()+1000)
	is.True(regexp.MustCompile(`^csl_[A-Za-z0-9_-]{24}$`).MatchString(token))
	is.Equal(l.TokenLast4, token[24:])
	find := func(token string) (i storage.Invitation, err error) {
		err = db.View(t.Context(), func(rx *storage.Rx) (err error) { i, err = rx.Invitation(token); return err })
		return i, err
	}
	found, err := find(token)
	is.NoErr(err)
	is.Equal(found.SetupLink, l)
	is.Equal(found.OrganizationName, "Acme")
	is.Equal(found.CustomerName, "Bakery")
	for _, bad := range []string{
		"", "csl_", token[:27], token + "A", token[4:], "cus_" + token[4:], strings.ToLower(token[:4]) + token[5:] + "A", token[:10] + "\n" + token[10:], token + "\n", token + "=",
		string(l.TokenHash), l.ID, "csl_" + strings.Repeat("A", 24),
	} {
		_, err := find(bad)
		is.True(errors.Is(err, storage.ErrNotFound))
	}
}

func TestWhyALinkCannotBeUsed(t *testing.T) {
	now := storage.Now()
	for name, c := range map[string]struct {
		link     storage.SetupLink
		customer string
		want     string
	}{
		"it can":                     {storage.SetupLink{Status: "active", ExpiresAt: now + 1}, "pending", ""},
		"of a suspended customer":    {storage.SetupLink{Status: "active", ExpiresAt: now + 1}, "suspended", ""},
		"of an archived customer":    {storage.SetupLink{Status: "active", ExpiresAt: now + 1}, "archived", "customer_archived"},
		"its time is over":           {storage.SetupLink{Status: "active", ExpiresAt: now}, "active", "link_expired"},
		"it was used in time":        {storage.SetupLink{Status: "consumed", ExpiresAt: now - 1}, "archived", "already_used"},
		"it was revoked before that": {storage.SetupLink{Status: "revoked", ExpiresAt: now - 1}, "active", "link_revoked"},
	} {
		t.Run(name, func(t *testing.T) {
			is.New(t).Equal(storage.Invitation{SetupLink: c.link, CustomerStatus: c.customer}.Unusable(now), c.want)
		})
	}
}

func TestAnOnboardingIsUnderWayWhileItsJobIsThere(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	_, l, token := invite(t, db, tenant, storage.Now()+100_000)
	read := func() (i storage.Invitation) {
		storagetest.View(t, db, func(rx *storage.Rx) (err error) { i, err = rx.Invitation(token); return err })
		return i
	}
	number, waba := "700800900", "777"
	a := storage.Account{PhoneNumberID: &number, WABAID: &waba}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		i, err := tx.Invitation(token)
		if err != nil {
			return err
		}
		return tx.BeginOnboarding(&i, &a, "EAA")
	})
	is.True(read().Working)
	is.Equal(*read().Account, a.PublicID)
	var pin string
	storagetest.View(t, db, func(rx *storage.Rx) (err error) { pin, err = rx.PIN(a); return err })
	is.True(regexp.MustCompile(`^[0-9]{6}$`).MatchString(pin))
	var jobs []storage.Job
	storagetest.View(t, db, func(rx *storage.Rx) (err error) {
		jobs, err = rx.Jobs(storage.JobFilter{Kind: storage.KindOnboard, Limit: 10})
		return err
	})
	is.Equal(len(jobs), 1)
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.CancelJob(jobs[0].ID) })
	is.True(!read().Working) // cancelling the job frees the link

	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.FailOnboarding(l.ID, storage.ReasonProvider) })
	is.Equal(*read().FailureReason, storage.ReasonProvider)
	is.Equal(read().Status, storage.LinkActive)
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.ConsumeSetupLink(&l) })
	is.Equal(read().Status, storage.LinkConsumed)
	is.Equal(read().FailureReason, nil)
	is.Equal(read().CustomerStatus, storage.CustomerActive)
	err := db.Update(t.Context(), func(tx *storage.Tx) error { return tx.ConsumeSetupLink(&l) })
	is.True(errors.Is(err, storage.ErrNotFound)) // once
}
