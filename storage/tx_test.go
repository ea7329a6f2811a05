package storage_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

func TestStorageSaysWhatWentWrong(t *testing.T) {
	db := open(t, newFile(t))
	for name, c := range map[string]struct {
		fn   func(*storage.Tx) error
		want error // nil: a fault
	}{
		"a second row of a unique key": {func(tx *storage.Tx) error {
			return tx.Run(`INSERT INTO organizations (public_id, name, plan, created_at, updated_at)
				SELECT public_id, name, plan, 0, 0 FROM organizations`)
		}, storage.ErrConflict},
		"a second row of a primary key": {func(tx *storage.Tx) error {
			return tx.Run(`INSERT INTO meta SELECT * FROM meta`)
		}, storage.ErrConflict},
		"no such row": {func(tx *storage.Tx) error {
			_, err := tx.Organization("org_none")
			return err
		}, storage.ErrNotFound},
		"nothing to change": {func(tx *storage.Tx) error { return tx.DeleteLabel(1, "lbl_none") }, storage.ErrNotFound},
		"a reference to nothing": {func(tx *storage.Tx) error {
			return tx.InsertTeam(&storage.Team{OrganizationID: 99, Name: "x"})
		}, nil},
		"a value that is not allowed": {func(tx *storage.Tx) error {
			return tx.Run(`UPDATE organizations SET subscription = 'maybe'`)
		}, nil},
		"text where a number belongs": {func(tx *storage.Tx) error {
			return tx.Run(`UPDATE organizations SET created_at = 'today'`)
		}, nil},
		"no SQL": {func(tx *storage.Tx) error { return tx.Run(`UPDTE organizations`) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			err := db.Update(context.Background(), c.fn)
			is.True(err != nil)
			for _, promised := range []error{storage.ErrConflict, storage.ErrNotFound, storage.ErrUnavailable} {
				is.Equal(errors.Is(err, promised), promised == c.want)
			}
		})
	}
}

func TestStatementThatCannotBePreparedIsNamed(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	err := db.Update(context.Background(), func(tx *storage.Tx) error { return tx.Run(`UPDTE organizations`) })
	is.True(strings.Contains(err.Error(), "UPDTE organizations"))
	is.NoErr(addOrganization(db, "next")) // and does no harm
}

func TestTransactionHasOneTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		now := storage.Now()
		var org storage.Organization
		var team storage.Team
		storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
			time.Sleep(time.Second) // of the bubble's time
			org = storage.Organization{Name: "a", Plan: "free"}
			team, err = tx.InsertOrganization(&org)
			return err
		})
		is.Equal([]storage.Time{org.CreatedAt, org.UpdatedAt, team.CreatedAt}, []storage.Time{now, now, now})
	})
}

func TestTransactionReadsItsOwnWrites(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	var seen []string
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
		if err := insert("a")(tx); err != nil {
			return err
		}
		seen, err = organizations(&tx.Rx)
		return err
	})
	is.Equal(seen, []string{"Acme", "a"})
}

// Some failures make SQLite roll back by itself; anything after that would commit
// statement by statement.
func TestSessionRefusesStatementsAfterItsTransactionIsLost(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	story := limited(db)
	is.NoErr(story.fill())
	var lost bool
	var next error
	err := db.Update(context.Background(), func(tx *storage.Tx) error {
		_ = insertMany(tx)
		lost = tx.Lost()
		next = tx.Run(`UPDATE organizations SET name = 'half'`)
		_, read := tx.Organizations()
		return errors.Join(next, read)
	})
	is.True(lost)
	is.True(errors.Is(next, storage.ErrUnavailable))
	is.True(errors.Is(err, storage.ErrUnavailable))
	is.Equal(names(t, db), []string{"Acme"})
	is.NoErr(story.free())
}

// A statement with RETURNING changes rows though it is run like one that reads.
// When its transaction fails afterwards, nothing of it may stay.
func TestAChangeThatReturnsRowsIsUndoneWithItsTransaction(t *testing.T) {
	for name, run := range storage.Readers() {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			db := open(t, newFile(t))
			late := errors.New("late")
			err := db.Update(context.Background(), func(tx *storage.Tx) error {
				if err := run(tx, `UPDATE organizations SET name = 'half' RETURNING name`); err != nil {
					return err
				}
				return late
			})
			is.True(errors.Is(err, late))
			is.Equal(names(t, db), []string{"Acme"})
		})
	}
}
