package storage_test

import (
	"slices"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestKeptCallbacksGoWithTheLastAccountThatTheyAreAbout(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	first, sister, other := storagetest.Connect(t, db, tenant, "100200300"), storagetest.Connect(t, db, tenant, "100200301"), storagetest.Connect(t, db, tenant, "400500600")
	kept := []storage.RawCallback{
		{Reason: "first", AccountID: &first.ID, PhoneNumberID: "100200300", WABAID: "777", Payload: []byte(`{"about":"400500600"}`)},
		{Reason: "sister", AccountID: &sister.ID, PhoneNumberID: "100200301", WABAID: "777", Payload: []byte(`{"about":"100200300"}`)},
		{Reason: "other", AccountID: &other.ID, PhoneNumberID: "400500600", WABAID: "888", Payload: []byte(`{"about":["100200300","777"]}`)},
		{Reason: "first, before it was ours", PhoneNumberID: "100200300", WABAID: "777", Payload: []byte(`{}`)},
		{Reason: "other, before it was ours", PhoneNumberID: "400500600", WABAID: "888", Payload: []byte(`"100200300"`)},
		{Reason: "a stranger's", PhoneNumberID: "999999999", WABAID: "777", Payload: []byte(`{}`)},
		{Reason: "the business", WABAID: "777", Payload: []byte(`{}`)},
		{Reason: "another business", WABAID: "888", Payload: []byte(`"777"`)},
		{Reason: "unreadable", Payload: []byte("{\"100200300\"\xff")},
		{Reason: "unreadable, of two", Payload: []byte(`{"100200300" "400500600"`)},
		{Reason: "unreadable, of the business", Payload: []byte(`{"777"`)},
		{Reason: "unreadable, of nobody", Payload: []byte(`{100200300`)},
	}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for id, waba := range map[int64]string{first.ID: "777", sister.ID: "777", other.ID: "888"} {
			if err := tx.Run(`UPDATE accounts SET waba_id = ? WHERE id = ?`, waba, id); err != nil {
				return err
			}
		}
		for _, c := range kept {
			if err := tx.InsertRawCallback(c); err != nil {
				return err
			}
		}
		return nil
	})
	remove := func(a storage.Account) (gone []string) {
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.RemoveAccount(a.ID, "removed") })
		var ids []int64
		storagetest.View(t, db, func(rx *storage.Rx) error {
			tombstone, err := rx.Tombstone(a.ID)
			if err != nil {
				return err
			}
			for after := int64(0); ; after = ids[len(ids)-1] { // page by page
				page, err := rx.RawCallbacksOfAccount(tombstone, after, 2)
				if ids = append(ids, page...); err != nil || len(page) == 0 {
					return err
				}
			}
		})
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.PurgeRawCallbacks(ids) })
		for _, id := range ids {
			gone = append(gone, kept[id-1].Reason)
		}
		return gone
	}
	is.Equal(remove(first), []string{"first", "first, before it was ours", "unreadable"})
	is.Equal(remove(sister), []string{"sister", "the business", "unreadable, of the business"})
	is.Equal(remove(other), []string{"other", "other, before it was ours", "another business", "unreadable, of two"})
	left := view(t, db, func(rx *storage.Rx) (reasons []string, err error) {
		all, err := rx.RawCallbacks(100)
		for _, c := range all {
			reasons = append(reasons, c.Reason)
		}
		slices.Sort(reasons)
		return reasons, err
	})
	is.Equal(left, []string{"a stranger's", "unreadable, of nobody"})
}
