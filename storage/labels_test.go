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

func newLabel(s storagetest.Tenant, name string) storage.Label {
	return storage.Label{OrganizationID: s.Organization.ID, TeamID: s.Team.ID, TeamPublicID: s.Team.PublicID, Name: name, Color: "#00ff00"}
}

func insertLabel(db *storage.DB, l *storage.Label) error {
	return db.Update(context.Background(), func(tx *storage.Tx) error { return tx.InsertLabel(l) })
}

func TestLabelReadsBack(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, _ := two(t, db)
	l := newLabel(ours, "Urgent")
	is.NoErr(insertLabel(db, &l))
	is.True(storage.ValidID(storage.PrefixLabel, l.ID))
	got := view(t, db, func(rx *storage.Rx) (storage.Label, error) { return rx.Label(ours.Organization.ID, l.ID) })
	is.Equal(got, l)
}

func TestLabelNamesAreUniqueInATeamWithoutRegardToCase(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	second := storage.Team{OrganizationID: ours.Organization.ID, Name: "Support"}
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertTeam(&second) })

	first, other := newLabel(ours, "Äpfel"), newLabel(ours, "Birnen")
	is.NoErr(insertLabel(db, &first))
	is.NoErr(insertLabel(db, &other))
	again := newLabel(ours, "äPFEL") // SQLite's own NOCASE would not see it
	is.True(errors.Is(insertLabel(db, &again), storage.ErrConflict))
	is.NoErr(insertLabel(db, new(newLabel(theirs, "äpfel"))))
	elsewhere := newLabel(ours, "äpfel")
	elsewhere.TeamID = second.ID
	is.NoErr(insertLabel(db, &elsewhere))

	other.Name = "ÄPFEL"
	err := db.Update(context.Background(), func(tx *storage.Tx) error { return tx.UpdateLabel(&other) })
	is.True(errors.Is(err, storage.ErrConflict))
	first.Name = "ÄPFEL" // its own name in another case is free
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.UpdateLabel(&first) })
}

func TestLabelIsUpdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		ours, _ := two(t, db)
		l := newLabel(ours, "Urgent")
		is.NoErr(insertLabel(db, &l))
		created := l.CreatedAt
		time.Sleep(time.Second)
		l.Name, l.Color = "Later", "#0000ff"
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.UpdateLabel(&l) })
		got := view(t, db, func(rx *storage.Rx) (storage.Label, error) { return rx.Label(ours.Organization.ID, l.ID) })
		is.Equal(got, l)
		is.Equal(got.CreatedAt, created)
		is.Equal(got.UpdatedAt, created.Add(time.Second))
	})
}

func TestLabelIsOutOfReachOfOthers(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	l := newLabel(ours, "Urgent")
	is.NoErr(insertLabel(db, &l))
	foreign := l
	foreign.OrganizationID, foreign.Name = theirs.Organization.ID, "stolen"
	for name, fn := range map[string]func(*storage.Tx) error{
		"read":   func(tx *storage.Tx) error { _, err := tx.Label(theirs.Organization.ID, l.ID); return err },
		"update": func(tx *storage.Tx) error { return tx.UpdateLabel(&foreign) },
		"delete": func(tx *storage.Tx) error { return tx.DeleteLabel(theirs.Organization.ID, l.ID) },
	} {
		if err := db.Update(context.Background(), fn); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	page := view(t, db, func(rx *storage.Rx) ([]storage.Label, error) {
		return rx.Labels(theirs.Organization.ID, nil, storage.First, 10)
	})
	is.Equal(len(page), 0)
	is.True(page != nil) // an empty list, not null
	got := view(t, db, func(rx *storage.Rx) (storage.Label, error) { return rx.Label(ours.Organization.ID, l.ID) })
	is.Equal(got, l)
}

func TestLabelTakesItsAttachmentsAlong(t *testing.T) {
	is := is.New(t)
	db := open(t, frozenFile(t, 1))
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		return errors.Join(tx.DeleteLabel(1, "lbl_01KDYBMWFE0000000000000001"), tx.DeleteLabel(1, "lbl_01KDYBMWFE0000000000000002"))
	})
	var left []int
	storagetest.View(t, db, func(rx *storage.Rx) error {
		return rx.List(&left, `SELECT count(*) FROM contact_labels UNION ALL SELECT count(*) FROM conversation_labels`)
	})
	is.Equal(left, []int{0, 0})
	err := db.Update(context.Background(), func(tx *storage.Tx) error { return tx.DeleteLabel(1, "lbl_01KDYBMWFE0000000000000001") })
	is.True(errors.Is(err, storage.ErrNotFound)) // it is gone
}
