package storage_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// contactRow is a row of the table contacts as SQL literals, by column. It asks
// the table for its columns, so that a new one takes part by itself.
func contactRow(t *testing.T, db *storage.DB, id string) map[string]string {
	t.Helper()
	row := make(map[string]string)
	for name := range contactTable(t, db) {
		row[name] = view(t, db, func(rx *storage.Rx) (string, error) {
			var values []string
			err := rx.List(&values, `SELECT quote(`+name+`) FROM contacts WHERE id = ?`, id)
			return strings.Join(values, ""), err
		})
	}
	return row
}

// contactTable are the columns of the table contacts and their types.
func contactTable(t *testing.T, db *storage.DB) map[string]string {
	t.Helper()
	return view(t, db, func(rx *storage.Rx) (map[string]string, error) {
		var columns []struct{ Name, Type string }
		err := rx.List(&columns, `SELECT name, type FROM pragma_table_info('contacts')`)
		types := make(map[string]string)
		for _, c := range columns {
			types[c.Name] = c.Type
		}
		return types, err
	})
}

// fillContact gives every column of a contact that may change a value that is
// not its default: 1, or the column's own name in quotes, which is JSON too.
func fillContact(t *testing.T, db *storage.DB, id string) {
	t.Helper()
	columns := contactTable(t, db)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for name, kind := range columns {
			var value any = 1
			if kind == "TEXT" {
				value = strconv.Quote(name)
			}
			if name == "id" || name == "account_id" {
				continue
			}
			if err := tx.Run(`UPDATE contacts SET `+name+` = ? WHERE id = ?`, value, id); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
}

// UpdateContact writes all that can change of a contact. Code that reads one has
// to read all of that, or it would be erased.
func TestEveryColumnOfAContactSurvivesAChangeOfItsProfile(t *testing.T) {
	const phone, bsuid = `"phone_number"`, `"bsuid"`
	first := func(all []storage.Contact, err error) (storage.Contact, error) { return all[0], err }
	thread := func(found storage.Thread, err error) (storage.Contact, error) { return found.Contact, err }
	for name, read := range map[string]func(rx *storage.Rx, account int64, id string) (storage.Contact, error){
		"Contact": func(rx *storage.Rx, account int64, id string) (storage.Contact, error) {
			return rx.Contact(account, id)
		},
		"ContactByPhone": func(rx *storage.Rx, account int64, _ string) (storage.Contact, error) {
			return rx.ContactByPhone(account, phone)
		},
		"ContactByBSUID": func(rx *storage.Rx, account int64, _ string) (storage.Contact, error) {
			return rx.ContactByBSUID(account, bsuid)
		},
		"ContactsByID": func(rx *storage.Rx, account int64, id string) (storage.Contact, error) {
			return first(rx.ContactsByID(account, []string{id}))
		},
		"Contacts": func(rx *storage.Rx, account int64, _ string) (storage.Contact, error) {
			all, _, err := rx.Contacts(account, storage.ContactFilter{}, storage.First, 10)
			return first(all, err)
		},
		"Thread": func(rx *storage.Rx, account int64, id string) (storage.Contact, error) {
			return thread(rx.Thread(account, id))
		},
		"ThreadByPhone": func(rx *storage.Rx, account int64, _ string) (storage.Contact, error) {
			return thread(rx.ThreadByPhone(account, phone))
		},
		"ThreadByBSUID": func(rx *storage.Rx, account int64, _ string) (storage.Contact, error) {
			return thread(rx.ThreadByBSUID(account, bsuid))
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			db := open(t, newFile(t))
			account, all := people(t, db, "100200300", storage.Contact{PhoneNumber: text("+15550001111")})
			fillContact(t, db, all[0].ID)
			before := contactRow(t, db, all[0].ID)
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				c, err := read(&tx.Rx, account.ID, all[0].ID)
				if err != nil {
					return err
				}
				c.Name = text("what the provider says now")
				return tx.UpdateContact(&c)
			})
			after := contactRow(t, db, all[0].ID)
			is.True(after["name"] != before["name"])
			for _, row := range []map[string]string{before, after} {
				delete(row, "name")
				delete(row, "updated_at")
			}
			is.Equal(after, before)
		})
	}
}

// A recipient is read in part only, and must not be taken for a whole contact.
func TestAContactThatWasReadInPartCannotBeStored(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	account, all := people(t, db, "100200300", storage.Contact{PhoneNumber: text("+15550001111")})
	fillContact(t, db, all[0].ID)
	before := contactRow(t, db, all[0].ID)
	err := db.Update(t.Context(), func(tx *storage.Tx) error {
		to, err := tx.RecipientByPhone(account.ID, `"phone_number"`)
		is.NoErr(err)
		return tx.UpdateContact(&to.Contact)
	})
	is.True(err != nil)
	is.Equal(contactRow(t, db, all[0].ID), before)
}

func TestEveryFieldOfANewContactIsStored(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	c := storage.Contact{AccountID: storagetest.Connect(t, db, storagetest.Seed(t, db, "Acme"), "100200300").ID}
	for field, value := range reflect.ValueOf(&c).Elem().Fields() {
		switch v := value.Addr().Interface().(type) {
		case **string:
			*v = text(field.Name)
		case *bool:
			*v = true
		case *storage.JSON:
			*v = storage.JSON(`{"a":1}`)
		}
	}
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertContact(&c) })
	is.Equal(view(t, db, func(rx *storage.Rx) (storage.Contact, error) { return rx.Contact(c.AccountID, c.ID) }), c)
	for name, value := range contactRow(t, db, c.ID) {
		if value == "NULL" || value == "0" || value == "" {
			t.Errorf("no field of Contact fills the column %s", name)
		}
	}
}

// What a merged contact alone had belongs to the other one afterwards.
func TestAMergeKeepsEveryColumnOfAContact(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	account, all := people(t, db, "100200300", storage.Contact{PhoneNumber: text("+15550001111")}, storage.Contact{BSUID: text("US.1")})
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		return tx.Run(`UPDATE contacts SET phone_number = NULL WHERE id = ?`, all[0].ID)
	})
	fillContact(t, db, all[1].ID)
	from := contactRow(t, db, all[1].ID)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		into, err := tx.Thread(account.ID, all[0].ID)
		if err != nil {
			return err
		}
		other, err := tx.Thread(account.ID, all[1].ID)
		if err != nil {
			return err
		}
		if _, err := tx.MergeThreads(&into, other); err != nil {
			return err
		}
		return tx.UpdateContact(&into.Contact)
	})
	into := contactRow(t, db, all[0].ID)
	for _, own := range []string{"id", "created_at", "updated_at"} {
		delete(into, own)
		delete(from, own)
	}
	is.Equal(into, from)
}
