package storage_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// shownThread describes all that is cached of a thread, as a transaction sees it.
func shownThread(tx *storage.Tx, account int64, phone string, m storage.Message) string {
	t, err := tx.ThreadByPhone(account, phone)
	to, err2 := tx.RecipientByPhone(account, phone)
	if to.ConversationID == nil {
		to.ConversationID = new(string)
	}

	state, err3 := tx.ThreadState(m.ConversationID)
	return fmt.Sprintf("%s %v %s %s %t, %s %v %s %t, %s, %v %v %v",
		t.ID, show(t.Name), t.ConversationID, t.Status, t.Labeled, to.ID, show(to.Name), *to.ConversationID, to.MarketingOptedOut, state, err, err2, err3)
}

func show(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// A thread is kept in memory, because every message needs it. What changes it is seen at
// once: by the rest of its transaction, and by everybody after it.
func TestAThreadInMemoryIsThatOfTheDatabase(t *testing.T) {
	const ours, alias = "+15550001111", "+15550002222"
	name := "Ana"
	for what, change := range map[string]func(tx *storage.Tx, h thread, other storage.Thread) error{
		"a name": func(tx *storage.Tx, h thread, _ storage.Thread) error {
			h.contact.Name = &name
			return tx.UpdateContact(&h.contact)
		},
		"another number": func(tx *storage.Tx, h thread, _ storage.Thread) error {
			h.contact.PhoneNumber = text("+15550003333")
			return tx.UpdateContact(&h.contact)
		},
		"an opt-out": func(tx *storage.Tx, h thread, _ storage.Thread) error { return tx.MarkOptedOut(h.contact.ID) },
		"a state": func(tx *storage.Tx, h thread, _ storage.Thread) error {
			h.conversation.Status = storage.ConversationResolved
			return tx.UpdateConversation(&h.conversation, storage.ChangedByAPI)
		},
		"a message that opens it again": func(tx *storage.Tx, h thread, _ storage.Thread) error {
			h.conversation.Status = storage.ConversationResolved
			if err := tx.UpdateConversation(&h.conversation, storage.ChangedByAPI); err != nil {
				return err
			}
			t, err := tx.Thread(h.account.ID, h.contact.ID)
			if err != nil {
				return err
			}
			return tx.MarkMessageReceived(&t, tx.Now)
		},
		"a merge": func(tx *storage.Tx, h thread, other storage.Thread) error {
			from, err := tx.Thread(h.account.ID, h.contact.ID)
			if err != nil {
				return err
			}
			_, err = tx.MergeThreads(&other, from)
			return err
		},
		"an alias that is gone": func(tx *storage.Tx, h thread, _ storage.Thread) error { return tx.DropAlias(h.account.ID, alias) },
		"its end": func(tx *storage.Tx, h thread, _ storage.Thread) error {
			return tx.DeleteContact(h.account.ID, h.contact.ID)
		},
		"a purge": func(tx *storage.Tx, h thread, _ storage.Thread) error {
			_, err := tx.PurgeMessages(h.account.ID, 100)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			is := is.New(t)
			db := open(t, newFile(t))
			h := newThread(t, db, "100200", ours)
			m := h.add(t, db)
			other := storage.Thread{Contact: storage.Contact{AccountID: h.account.ID, BSUID: text("US.1")}}
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				if err := tx.InsertContact(&other.Contact); err != nil {
					return err
				}
				if err := tx.InsertThreadConversation(&other); err != nil {
					return err
				}
				return tx.AddAlias(h.contact, alias)
			})

			for _, phone := range []string{ours, alias} {
				var before, within, after, fresh string
				storagetest.Update(t, db, func(tx *storage.Tx) error { before = shownThread(tx, h.account.ID, phone, m); return nil })
				if phone == ours {
					storagetest.Update(t, db, func(tx *storage.Tx) error {
						err := change(tx, h, other)
						within = shownThread(tx, h.account.ID, phone, m)
						return err
					})
					is.True(before != within || what == "an alias that is gone" || what == "a message that opens it again")
				}
				storagetest.Update(t, db, func(tx *storage.Tx) error { after = shownThread(tx, h.account.ID, phone, m); return nil })
				db.DropCaches()
				storagetest.Update(t, db, func(tx *storage.Tx) error { fresh = shownThread(tx, h.account.ID, phone, m); return nil })
				is.Equal(after, fresh)
				is.True(within == "" || within == fresh)
			}
		})
	}
}

// A thread that a transaction makes is not cached before it is committed.
func TestAThreadThatIsUndoneIsNotInMemory(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h := newThread(t, db, "100200", "+15550001111")
	oops := errors.New("oops")
	err := db.Update(t.Context(), func(tx *storage.Tx) error {
		made := storage.Thread{Contact: storage.Contact{AccountID: h.account.ID, PhoneNumber: text("+15550002222")}}
		if err := errors.Join(tx.InsertContact(&made.Contact), tx.InsertThreadConversation(&made)); err != nil {
			return err
		}
		_, err := tx.ThreadByPhone(h.account.ID, "+15550002222")
		_, err2 := tx.RecipientByPhone(h.account.ID, "+15550002222")
		return errors.Join(oops, err, err2)
	})
	is.Equal(err.Error(), oops.Error())

	storagetest.View(t, db, func(rx *storage.Rx) error {
		_, err := rx.ThreadByPhone(h.account.ID, "+15550002222")
		is.Equal(err, storage.ErrNotFound)
		_, err = rx.RecipientByPhone(h.account.ID, "+15550002222")
		is.Equal(err, storage.ErrNotFound)
		return nil
	})
}

// What every message runs leaves the threads in memory, or they would never be used.
func TestMessagesLeaveThreadsInMemory(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h := newThread(t, db, "100200", "+15550001111")
	m := h.add(t, db)
	storagetest.Update(t, db, func(tx *storage.Tx) error { shownThread(tx, h.account.ID, "+15550001111", m); return nil })
	is.Equal(db.KeptThreads(), 3)

	storagetest.Update(t, db, func(tx *storage.Tx) error {
		t, err := tx.ThreadByPhone(h.account.ID, "+15550001111")
		if err != nil {
			return err
		}
		if err := tx.MarkMessageReceived(&t, tx.Now); err != nil {
			return err
		}
		if err := tx.MarkMessageWritten(t.ConversationID, "text", storage.SourceAPI); err != nil {
			return err
		}
		return tx.InsertContact(&storage.Contact{AccountID: h.account.ID, PhoneNumber: text("+15550009999")})
	})
	h.add(t, db)
	is.Equal(db.KeptThreads(), 3)
}
