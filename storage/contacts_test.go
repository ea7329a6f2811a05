package storage_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// people stores contacts of a new account, each a millisecond younger than the
// one before, and returns them.
func people(t testing.TB, db *storage.DB, numberID string, all ...storage.Contact) (storage.Account, []storage.Contact) {
	t.Helper()
	account := storagetest.Connect(t, db, storagetest.Seed(t, db, "Acme"), numberID)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for i := range all {
			all[i].AccountID = account.ID
			if err := tx.InsertContact(&all[i]); err != nil {
				return err
			}
			all[i].CreatedAt = storage.Time(1000 + i)
			if err := tx.Run(`UPDATE contacts SET created_at = ? WHERE id = ?`, all[i].CreatedAt, all[i].ID); err != nil {
				return err
			}
		}
		return nil
	})
	return account, all
}

// places are the positions in all of those that a filter finds.
func places(t testing.TB, db *storage.DB, account int64, f storage.ContactFilter, all []storage.Contact) (found []int) {
	t.Helper()
	storagetest.View(t, db, func(rx *storage.Rx) error {
		rows, reached, err := rx.Contacts(account, f, storage.First, 100)
		if reached != storage.Last {
			t.Errorf("%+v: it did not come to the end", f)
		}
		for _, c := range rows {
			found = append(found, slices.IndexFunc(all, func(o storage.Contact) bool { return o.ID == c.ID }))
		}
		return err
	})
	return found
}

func TestContactsAreFoundByEachFilterAndBySeveral(t *testing.T) {
	db := open(t, newFile(t))
	account, all := people(t, db, "100200300",
		storage.Contact{PhoneNumber: text("+15550001111"), Name: text("Ana Ärger"), Email: text("ana@example.com")},
		storage.Contact{PhoneNumber: text("+15550002222"), BSUID: text("US.2"), Username: text("Bob.B"), Name: text("Bob")},
		storage.Contact{BSUID: text("US.3"), Username: text("bob_b"), Email: text("ANA@example.com"), Name: text("100%")},
		storage.Contact{PhoneNumber: text("+491701234567"), Username: text("bob.b"), Name: text("ёлка")},
	)
	elsewhere, others := people(t, db, "100200301", storage.Contact{PhoneNumber: text("+15550001111"), Name: text("Ana"), Email: text("ana@example.com")})
	tenant := storagetest.Seed(t, db, "Labels")
	label, other := newLabel(tenant, "VIP"), newLabel(tenant, "Other")
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		if err := errors.Join(tx.InsertLabel(&label), tx.InsertLabel(&other)); err != nil {
			return err
		}
		for i, c := range slices.Concat(all, others) {
			if i == 1 {
				continue
			}
			if _, err := tx.SetContactLabel(c.ID, label.ID, true); err != nil {
				return err
			}
		}
		return tx.Run(`UPDATE contacts SET updated_at = created_at + 10`)
	})
	f := func(change func(*storage.ContactFilter)) (f storage.ContactFilter) { change(&f); return f }
	for name, tt := range map[string]struct {
		filter storage.ContactFilter
		want   []int
	}{
		"all":               {storage.ContactFilter{}, []int{3, 2, 1, 0}},
		"phone":             {storage.ContactFilter{PhoneNumber: "+15550001111"}, []int{0}},
		"BSUID":             {storage.ContactFilter{BSUID: "US.3"}, []int{2}},
		"username":          {storage.ContactFilter{Username: "BOB.b"}, []int{3, 1}}, // the dot counts
		"email":             {storage.ContactFilter{Email: "Ana@Example.com"}, []int{2, 0}},
		"label":             {storage.ContactFilter{LabelID: label.ID}, []int{3, 2, 0}},
		"unused label":      {storage.ContactFilter{LabelID: other.ID}, nil},
		"part of a name":    {storage.ContactFilter{Search: "NA ä"}, []int{0}},
		"another alphabet":  {storage.ContactFilter{Search: "ЁЛ"}, []int{3}},
		"part of an email":  {storage.ContactFilter{Search: "example"}, []int{2, 0}},
		"part of a user":    {storage.ContactFilter{Search: "_B"}, []int{2}}, // no wildcard
		"percent":           {storage.ContactFilter{Search: "0%"}, []int{2}},
		"part of a number":  {storage.ContactFilter{Search: "000"}, []int{1, 0}},
		"start of a number": {storage.ContactFilter{Search: "+49170"}, []int{3}},
		"nothing":           {storage.ContactFilter{Search: "zzz"}, nil},
		"updated":           {storage.ContactFilter{UpdatedSince: 1011}, []int{3, 2}}, // strictly
		"two exact ones":    {storage.ContactFilter{PhoneNumber: "+15550002222", BSUID: "US.2"}, []int{1}},
		"two that disagree": {storage.ContactFilter{PhoneNumber: "+15550001111", BSUID: "US.2"}, nil},
		"email, label":      {storage.ContactFilter{Email: "ana@example.com", LabelID: label.ID, UpdatedSince: 1010}, []int{2}},
		"label, search":     {storage.ContactFilter{LabelID: label.ID, Search: "b"}, []int{3, 2}},
		"username, label":   {storage.ContactFilter{Username: "bob.b", LabelID: label.ID}, []int{3}},
		"everything": {f(func(f *storage.ContactFilter) {
			*f = storage.ContactFilter{PhoneNumber: "+491701234567", Username: "bob.b", LabelID: label.ID, Search: "лк", UpdatedSince: 1}
		}), []int{3}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(places(t, db, account.ID, tt.filter, all), tt.want)
			for _, i := range places(t, db, elsewhere.ID, tt.filter, others) {
				is.Equal(i, 0) // never a contact of another account
			}
		})
	}
}

func TestAContactIsUniqueByNumberAndByBSUID(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	account, all := people(t, db, "100200300",
		storage.Contact{PhoneNumber: text("+15550001111")}, storage.Contact{PhoneNumber: text("+15550002222"), BSUID: text("US.2")})
	for _, c := range []storage.Contact{{PhoneNumber: text("+15550001111")}, {PhoneNumber: text("+15550003333"), BSUID: text("US.2")}} {
		c.AccountID = account.ID
		err := db.Update(t.Context(), func(tx *storage.Tx) error { return tx.InsertContact(&c) })
		is.True(errors.Is(err, storage.ErrConflict))
	}
	changed := all[0]
	changed.BSUID = text("US.2")
	err := db.Update(t.Context(), func(tx *storage.Tx) error { return tx.UpdateContact(&changed) })
	is.True(errors.Is(err, storage.ErrConflict))
	changed.AccountID++
	err = db.Update(t.Context(), func(tx *storage.Tx) error { return tx.UpdateContact(&changed) })
	is.Equal(err, storage.ErrNotFound)                                             // of another account
	people(t, db, "100200301", storage.Contact{PhoneNumber: text("+15550001111")}) // another account knows it for itself
}

func TestAContactIsUpdatedWholeAndItsConversationWithWhatItShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		h := newThread(t, db, "100200300", "+15550001111")
		c := h.contact
		for _, tt := range []struct {
			change func()
			shown  bool
		}{
			{func() { c.Name, c.NameSetByClient = text("Ana"), true }, true},
			{func() { c.Name, c.NameSetByClient = text("Ana"), false }, false},
			{func() { c.Email, c.Metadata, c.Username = text("a@b.c"), storage.JSON(`{"a":1}`), text("ana") }, false},
			{func() { c.OptedIn, c.MarketingOptedOut = true, true }, false},
			{func() { c.PhoneNumber, c.BSUID, c.ParentBSUID = text("+15550009999"), text("US.1"), text("US.ENT.1") }, true},
			{func() { c.Name = nil }, true},
			{func() {}, false},
		} {
			time.Sleep(time.Second)
			tt.change()
			storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.UpdateContact(&c) })
			got := view(t, db, func(rx *storage.Rx) (storage.Contact, error) { return rx.Contact(c.AccountID, c.ID) })
			is.Equal(got, c)
			is.Equal(got.UpdatedAt, storage.Now())
			v := view(t, db, func(rx *storage.Rx) (storage.FullConversation, error) {
				return rx.Conversation(c.AccountID, h.conversation.ID)
			})
			is.Equal(v.UpdatedAt == storage.Now(), tt.shown)
			is.Equal(v.ContactName, c.Name)
			is.Equal(v.ContactPhone, c.PhoneNumber)
		}
	})
}

func TestAContactGoesWithAllThatItSaid(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h, other := newThread(t, db, "100200300", "+15550001111"), newThread(t, db, "100200301", "+15550001111")
	media := make([]storage.Media, 3)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for i, origin := range []string{storage.OriginMessage, storage.OriginLibrary, storage.OriginMessage} {
			media[i] = storage.Media{AccountID: h.account.ID, Origin: origin, SHA256: fmt.Sprint(i), MIMEType: "image/png"}
			if err := tx.InsertMedia(&media[i]); err != nil {
				return err
			}
		}
		return nil
	})
	var ids []string
	for range 5 {
		ids = append(ids, h.add(t, db).ID)
	}
	kept := other.add(t, db)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for i, id := range []string{ids[0], ids[1], ids[4]} {
			if err := tx.Run(`UPDATE messages SET media_id = ? WHERE id = ?`, media[i].ID, id); err != nil {
				return err
			}
		}
		return nil
	})
	forget := func(limit int) (n int, gone []string) {
		t.Helper()
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			rows, err := tx.MessagesOfContact(h.contact.ID, storage.Row{}, limit)
			if err != nil {
				return err
			}
			files, err := tx.ForgetMessages(h.account.ID, rows, nil)
			for _, m := range files {
				gone = append(gone, m.SHA256)
			}
			n = len(rows)
			return err
		})
		return n, gone
	}
	n, gone := forget(3)
	is.Equal(n, 3)
	is.Equal(gone, []string{"0"}) // what was in the library stays there
	_, err := viewErr(db, func(rx *storage.Rx) (storage.Message, error) { return rx.Message(h.account.ID, ids[2]) })
	is.Equal(err, storage.ErrNotFound)
	view(t, db, func(rx *storage.Rx) (storage.Message, error) { return rx.Message(h.account.ID, ids[3]) }) // the oldest go first

	err = db.Update(t.Context(), func(tx *storage.Tx) error { return tx.DeleteContact(other.account.ID, h.contact.ID) })
	is.Equal(err, storage.ErrNotFound) // of another account
	n, gone = forget(10)
	is.Equal(n, 2)
	is.Equal(gone, []string{"2"})
	h.add(t, db) // one that came meanwhile
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DeleteContact(h.account.ID, h.contact.ID) })
	var left []int
	storagetest.View(t, db, func(rx *storage.Rx) error {
		return rx.List(&left, `SELECT count(*) FROM contacts UNION ALL SELECT count(*) FROM conversations UNION ALL SELECT count(*) FROM messages`)
	})
	is.Equal(left, []int{1, 1, 1})
	view(t, db, func(rx *storage.Rx) (storage.Message, error) { return rx.Message(other.account.ID, kept.ID) })
}

// Deleting a row looks for those that refer to it. Without an index that would
// be a walk through a whole table.
func TestWhatIsDeletedAlongIsFoundByAnIndex(t *testing.T) {
	db := open(t, newFile(t))
	var lacking []string
	storagetest.View(t, db, func(rx *storage.Rx) error {
		return rx.List(&lacking, `
			SELECT t.name || '.' || f."from"
			FROM sqlite_schema t, pragma_foreign_key_list(t.name) f
			WHERE t.type = 'table' AND f.on_delete <> 'NO ACTION' AND NOT EXISTS (
				SELECT 1 FROM pragma_index_list(t.name) i, pragma_index_info(i.name) c
				WHERE c.seqno = 0 AND c.name = f."from")`)
	})
	if len(lacking) > 0 {
		t.Errorf("no index begins with %v", lacking)
	}
}
