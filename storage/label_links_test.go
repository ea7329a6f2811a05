package storage_test

import (
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

// threadOf is a contact of a new number and its conversation.
func threadOf(t *testing.T, db *storage.DB, s storagetest.Tenant, phoneNumberID string) (storage.Contact, storage.Conversation) {
	t.Helper()
	account := storagetest.Connect(t, db, s, phoneNumberID)
	c := storage.Contact{AccountID: account.ID, PhoneNumber: text("+15550001111")}
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertContact(&c) })
	v := update(t, db, func(tx *storage.Tx) (storage.Conversation, error) { return tx.EnsureConversation(account.ID, c.ID) })
	return c, v
}

func TestLabelsAreAttachedAndDetachedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		ours, _ := two(t, db)
		contact, conversation := threadOf(t, db, ours, "100200300")
		l := newLabel(ours, "VIP")
		is.NoErr(insertLabel(db, &l))

		changes := func(fn func(tx *storage.Tx) (bool, error)) (changed bool, contactMoved, conversationMoved time.Duration) {
			t.Helper()
			time.Sleep(time.Second)
			before := storage.Now()
			changed = update(t, db, fn)
			c := view(t, db, func(rx *storage.Rx) (storage.Contact, error) { return rx.Contact(contact.AccountID, contact.ID) })
			v := view(t, db, func(rx *storage.Rx) (storage.Conversation, error) { return rx.ConversationOf(contact.ID) })
			return changed, before.Sub(c.UpdatedAt), before.Sub(v.UpdatedAt)
		}
		labels := func() (of [2][]storage.AttachedLabel) {
			t.Helper()
			storagetest.View(t, db, func(rx *storage.Rx) error {
				contacts, err := rx.ContactLabels(contact.ID)
				if err != nil {
					return err
				}
				conversations, err := rx.ConversationLabels(conversation.ID)
				of = [2][]storage.AttachedLabel{contacts[contact.ID], conversations[conversation.ID]}
				return err
			})
			return of
		}
		vip := []storage.AttachedLabel{{ID: l.ID, Name: "VIP", Color: l.Color}}
		is.Equal(labels(), [2][]storage.AttachedLabel{})

		changed, c, v := changes(func(tx *storage.Tx) (bool, error) { return tx.SetContactLabel(contact.ID, l.ID, true) })
		is.True(changed)
		is.Equal(c, 0*time.Second)
		is.Equal(v, time.Second) // the conversation does not show it
		is.Equal(labels(), [2][]storage.AttachedLabel{vip, nil})
		changed, c, _ = changes(func(tx *storage.Tx) (bool, error) { return tx.SetContactLabel(contact.ID, l.ID, true) })
		is.True(!changed)
		is.Equal(c, time.Second) // nothing happened to it

		changed, c, v = changes(func(tx *storage.Tx) (bool, error) { return tx.SetConversationLabel(conversation.ID, l.ID, true) })
		is.True(changed)
		is.Equal(c, 2*time.Second)
		is.Equal(v, 0*time.Second)
		is.Equal(labels(), [2][]storage.AttachedLabel{vip, vip})
		changed, _, v = changes(func(tx *storage.Tx) (bool, error) { return tx.SetConversationLabel(conversation.ID, l.ID, true) })
		is.True(!changed)
		is.Equal(v, time.Second)

		changed, c, _ = changes(func(tx *storage.Tx) (bool, error) { return tx.SetContactLabel(contact.ID, l.ID, false) })
		is.True(changed)
		is.Equal(c, 0*time.Second)
		changed, _, v = changes(func(tx *storage.Tx) (bool, error) { return tx.SetConversationLabel(conversation.ID, l.ID, false) })
		is.True(changed)
		is.Equal(v, 0*time.Second)
		is.Equal(labels(), [2][]storage.AttachedLabel{})
		changed, c, _ = changes(func(tx *storage.Tx) (bool, error) { return tx.SetContactLabel(contact.ID, l.ID, false) })
		is.True(!changed)
		is.Equal(c, 2*time.Second)
		changed, _, v = changes(func(tx *storage.Tx) (bool, error) { return tx.SetConversationLabel(conversation.ID, l.ID, false) })
		is.True(!changed)
		is.Equal(v, 2*time.Second)
	})
}

func TestLabelsOfManyAreFoundAtOnceInTheOrderOfTheirNames(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, _ := two(t, db)
	one, first := threadOf(t, db, ours, "100200301")
	two, second := threadOf(t, db, ours, "100200302")
	three, third := threadOf(t, db, ours, "100200303")
	var ids []string
	for _, name := range []string{"zebra", "Äpfel", "vip", "Apple"} {
		l := newLabel(ours, name)
		is.NoErr(insertLabel(db, &l))
		ids = append(ids, l.ID)
	}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for _, id := range ids {
			if _, err := tx.SetContactLabel(one.ID, id, true); err != nil {
				return err
			}
			if _, err := tx.SetConversationLabel(second.ID, id, true); err != nil {
				return err
			}
		}
		_, err := tx.SetContactLabel(two.ID, ids[0], true)
		return err
	})
	names := func(of []storage.AttachedLabel) (all []string) {
		for _, l := range of {
			all = append(all, l.Name)
		}
		return all
	}
	storagetest.View(t, db, func(rx *storage.Rx) error {
		contacts, err := rx.ContactLabels(one.ID, two.ID, three.ID)
		is.NoErr(err)
		is.Equal(names(contacts[one.ID]), []string{"Apple", "vip", "zebra", "Äpfel"})
		is.Equal(names(contacts[two.ID]), []string{"zebra"})
		is.Equal(len(contacts), 2)
		conversations, err := rx.ConversationLabels(first.ID, second.ID, third.ID)
		is.NoErr(err)
		is.Equal(names(conversations[second.ID]), []string{"Apple", "vip", "zebra", "Äpfel"})
		is.Equal(len(conversations), 1)
		none, err := rx.ConversationLabels()
		is.NoErr(err)
		is.Equal(len(none), 0)
		return nil
	})
}

func TestALabelIsTakenOffInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		ours, _ := two(t, db)
		l, other := newLabel(ours, "VIP"), newLabel(ours, "Other")
		is.NoErr(insertLabel(db, &l))
		is.NoErr(insertLabel(db, &other))
		var contacts, conversations []string
		for _, number := range []string{"100200300", "100200301", "100200302"} {
			c, v := threadOf(t, db, ours, number)
			contacts, conversations = append(contacts, c.ID), append(conversations, v.ID)
		}
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			for i := range contacts {
				for _, id := range []string{l.ID, other.ID} {
					if _, err := tx.SetContactLabel(contacts[i], id, true); err != nil {
						return err
					}
					if _, err := tx.SetConversationLabel(conversations[i], id, true); err != nil {
						return err
					}
				}
			}
			return nil
		})
		time.Sleep(time.Second)
		left := func() (n, changed int) {
			t.Helper()
			storagetest.View(t, db, func(rx *storage.Rx) error {
				on, err := rx.ContactLabels(contacts...)
				for _, labels := range on {
					n += len(labels)
				}
				more, _ := rx.ConversationLabels(conversations...)
				for _, labels := range more {
					n += len(labels)
				}
				var touched []int
				if err := rx.List(&touched, `SELECT count(*) FROM contacts WHERE updated_at = ?1 UNION ALL SELECT count(*) FROM conversations WHERE updated_at = ?1`, storage.Now()); err != nil {
					return err
				}
				changed = touched[0] + touched[1]
				return err
			})
			return n, changed
		}
		for _, want := range []struct{ removed, left, changed int }{{2, 8, 4}, {1, 6, 6}, {0, 6, 6}} {
			n := update(t, db, func(tx *storage.Tx) (int64, error) { return tx.DetachLabel(l.ID, 2) })
			is.Equal(n, int64(want.removed)) // contacts, and as many conversations
			rows, changed := left()
			is.Equal(rows, want.left) // the other label stays
			is.Equal(changed, want.changed)
		}
	})
}
