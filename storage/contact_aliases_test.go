package storage_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// foundBy are the ids of the contacts that each way of looking for a number finds.
func foundBy(t *testing.T, db *storage.DB, account int64, phone string) (ids []string) {
	t.Helper()
	storagetest.View(t, db, func(rx *storage.Rx) error {
		contact, err := rx.ContactByPhone(account, phone)
		thread, err2 := rx.ThreadByPhone(account, phone)
		recipient, err3 := rx.RecipientByPhone(account, phone)
		list, _, err4 := rx.Contacts(account, storage.ContactFilter{PhoneNumber: phone}, storage.First, 10)
		if len(list) == 0 {
			list = append(list, storage.Contact{})
		}
		ids = []string{contact.ID, thread.ID, recipient.ID, list[0].ID}
		for _, err := range []error{err, err2, err3} {
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
		}
		return err4
	})
	return ids
}

func every(id string) []string { return []string{id, id, id, id} }

func TestAContactIsFoundByItsNumberAndItsAliases(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	account, all := people(t, db, "100200300", storage.Contact{PhoneNumber: text("+553187654321"), Email: text("ana@example.com")}, storage.Contact{PhoneNumber: text("+15550002222")})
	other, _ := people(t, db, "100200301")
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		is.NoErr(tx.AddAlias(all[1], "+5531987654321"))
		is.NoErr(tx.AddAlias(all[0], "+5531987654321")) // it is one contact's
		return tx.AddAlias(all[0], "+55031987654321")
	})
	for _, phone := range []string{"+553187654321", "+5531987654321", "+55031987654321"} {
		is.Equal(foundBy(t, db, account.ID, phone), every(all[0].ID))
		is.Equal(foundBy(t, db, other.ID, phone), every("")) // another account's
	}
	is.Equal(places(t, db, account.ID, storage.ContactFilter{PhoneNumber: "+5531987654321", Email: "ANA@example.com"}, all), []int{0})
	is.Equal(places(t, db, account.ID, storage.ContactFilter{PhoneNumber: "+5531987654321", Email: "bo@example.com"}, all), nil)

	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DropAlias(account.ID, "+5531987654321") })
	is.Equal(foundBy(t, db, account.ID, "+5531987654321"), every(""))
	is.Equal(foundBy(t, db, account.ID, "+55031987654321"), every(all[0].ID))
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DropAliases(all[0].ID) })
	is.Equal(foundBy(t, db, account.ID, "+55031987654321"), every(""))
}

func TestAliasesGoWhereTheirContactGoes(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	account, all := people(t, db, "100200300", storage.Contact{PhoneNumber: text("+15550001111")}, storage.Contact{PhoneNumber: text("+15550002222")})
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for _, c := range all {
			if err := tx.AddAlias(c, *c.PhoneNumber+"0"); err != nil {
				return err
			}
		}
		into := storage.Thread{Contact: all[0]}
		_, err := tx.MergeThreads(&into, storage.Thread{Contact: all[1]})
		return err
	})
	for _, alias := range []string{"+155500011110", "+155500022220"} {
		is.Equal(foundBy(t, db, account.ID, alias), every(all[0].ID))
	}

	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DeleteContact(account.ID, all[0].ID) })
	var left []string
	storagetest.View(t, db, func(rx *storage.Rx) error { return rx.List(&left, `SELECT phone_number FROM contact_aliases`) })
	is.Equal(len(left), 0)
}

// Every message looks for a number.
func TestANumberIsFoundByOneStatement(t *testing.T) {
	db := open(t, newFile(t))
	account, all := people(t, db, "100200300", storage.Contact{PhoneNumber: text("+15550001111")})
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.AddAlias(all[0], "+15550001112") })
	for name, find := range map[string]func(tx *storage.Tx, phone string) error{
		"recipient": func(tx *storage.Tx, phone string) error { _, err := tx.RecipientByPhone(account.ID, phone); return err },
		"thread":    func(tx *storage.Tx, phone string) error { _, err := tx.ThreadByPhone(account.ID, phone); return err },
	} {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			plans, err := tx.Plans(func() error { return find(tx, "+15550001111") })
			text := fmt.Sprint(plans)
			if len(plans) != 1 || slow.MatchString(text) {
				t.Errorf("%s: %s", name, text)
			}
			return err
		})
	}
}
