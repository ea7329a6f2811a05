package storage_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// person stores a contact.
func person(t *testing.T, db *storage.DB, account int64, phone, bsuid string) (c storage.Thread) {
	t.Helper()
	c.AccountID = account
	if phone != "" {
		c.PhoneNumber = &phone
	}
	if bsuid != "" {
		c.BSUID = &bsuid
	}
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertContact(&c.Contact) })
	return c
}

// speak begins a contact's conversation with so many messages.
func speak(t *testing.T, db *storage.DB, c *storage.Thread, messages int) {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertThreadConversation(c) })
	speakOn(t, db, c, messages)
}

// speakOn adds so many messages to a conversation.
func speakOn(t *testing.T, db *storage.DB, c *storage.Thread, messages int) {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for range messages {
			m := storage.Message{AccountID: c.AccountID, ConversationID: c.ConversationID, ContactID: c.ID, Direction: storage.Inbound, Type: "text",
				Status: storage.MessageDelivered, Source: storage.SourceApp, Content: storage.JSON(`{"body":"hi"}`)}
			if err := tx.InsertMessage(&m); err != nil {
				return err
			}
			if err := tx.MarkMessageReceived(c, tx.Now); err != nil {
				return err
			}
		}
		return nil
	})
}

func readThread(t *testing.T, db *storage.DB, account int64, contact string) storage.Thread {
	t.Helper()
	return view(t, db, func(rx *storage.Rx) (storage.Thread, error) { return rx.Thread(account, contact) })
}

func TestAThreadIsFoundByNumberAndByID(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	a, b := storagetest.Connect(t, db, ours, "100200300"), storagetest.Connect(t, db, theirs, "100200301")
	c := person(t, db, a.ID, "+15550001111", "US.1")
	is.Equal(readThread(t, db, a.ID, c.ID), c) // without a conversation
	speak(t, db, &c, 1)
	storagetest.View(t, db, func(rx *storage.Rx) error {
		for _, find := range []func() (storage.Thread, error){
			func() (storage.Thread, error) { return rx.ThreadByPhone(a.ID, "+15550001111") },
			func() (storage.Thread, error) { return rx.ThreadByBSUID(a.ID, "US.1") },
			func() (storage.Thread, error) { return rx.Thread(a.ID, c.ID) },
		} {
			got, err := find()
			is.NoErr(err)
			is.Equal(got, c)
		}
		_, err := rx.ThreadByPhone(b.ID, "+15550001111")
		is.True(errors.Is(err, storage.ErrNotFound))
		_, err = rx.ThreadByBSUID(b.ID, "US.1")
		is.True(errors.Is(err, storage.ErrNotFound))
		_, err = rx.Thread(b.ID, c.ID)
		is.True(errors.Is(err, storage.ErrNotFound))
		return nil
	})
}

func TestAThreadRemembersWhoSpokeWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		ours, _ := two(t, db)
		c := person(t, db, storagetest.Connect(t, db, ours, "100200300").ID, "+15550001111", "")
		speak(t, db, &c, 0)
		type row struct {
			Status                    string
			Unread                    int64
			Message, Inbound, Updated storage.Time
		}
		state := func() (r row) {
			storagetest.View(t, db, func(rx *storage.Rx) error {
				var rows []row
				err := rx.List(&rows, `SELECT status, unread_count AS unread, last_message_at AS message, last_inbound_at AS inbound, updated_at AS updated FROM conversations`)
				r = rows[0]
				return err
			})
			return r
		}
		step := func(fn func(tx *storage.Tx) error) storage.Time {
			time.Sleep(time.Minute)
			storagetest.Update(t, db, fn)
			return storage.Now()
		}
		said := step(func(tx *storage.Tx) error { return tx.MarkMessageWritten(c.ConversationID, "text", storage.SourceAPI) })
		is.Equal(state(), row{"open", 0, said, 0, said})
		heard := step(func(tx *storage.Tx) error { return tx.MarkMessageReceived(&c, tx.Now) })
		is.Equal(state(), row{"open", 1, heard, heard, heard})
		reacted := step(func(tx *storage.Tx) error { return tx.MarkReactionReceived(c, tx.Now) })
		is.Equal(state(), row{"open", 1, heard, reacted, reacted})
		c.Status = storage.ConversationResolved
		late := step(func(tx *storage.Tx) error { return tx.MarkMessageReceived(&c, heard) })
		is.Equal(state(), row{"open", 2, late, reacted, late}) // what was written earlier does not turn the clock back
		is.Equal(c.Status, "open")
	})
}

func TestMergingLosesNothing(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, _ := two(t, db)
	account := storagetest.Connect(t, db, ours, "100200300").ID
	into, from := person(t, db, account, "+15550001111", ""), person(t, db, account, "", "US.1")
	speak(t, db, &into, 3)
	speak(t, db, &from, 500)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		from.Name, from.NameSetByClient, from.OptedIn, from.Metadata = new("Ana"), true, true, storage.JSON(`{"a":1}`)
		if err := tx.UpdateContact(&from.Contact); err != nil {
			return err
		}
		labeled, err := tx.MergeThreads(&into, from)
		is.True(!labeled)
		if err != nil {
			return err
		}
		return tx.UpdateContact(&into.Contact)
	})
	got := readThread(t, db, account, into.ID)
	is.Equal(got, into)
	is.Equal(*got.Name, "Ana")
	is.Equal(*got.BSUID, "US.1")
	is.Equal(string(got.Metadata), `{"a":1}`)
	is.True(got.OptedIn)
	storagetest.View(t, db, func(rx *storage.Rx) error {
		var counts []int64
		is.NoErr(rx.List(&counts, `SELECT count(*) FROM messages WHERE conversation_id = ? AND contact_id = ?
			UNION ALL SELECT count(*) FROM contacts UNION ALL SELECT count(*) FROM conversations UNION ALL SELECT unread_count FROM conversations`, got.ConversationID, got.ID))
		is.Equal(counts, []int64{503, 1, 1, 503})
		_, err := rx.Thread(account, from.ID)
		is.True(errors.Is(err, storage.ErrNotFound))
		return nil
	})
}

// TestReadingCountsWhatAMergeBrought counts the unread messages after one before
// its contact is merged into another, who has written too.
func TestReadingCountsWhatAMergeBrought(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, _ := two(t, db)
	account := storagetest.Connect(t, db, ours, "100200300").ID
	into, from := person(t, db, account, "+15550001111", ""), person(t, db, account, "", "US.1")
	speak(t, db, &from, 1)
	read := view(t, db, func(rx *storage.Rx) (storage.Message, error) {
		all, _, err := rx.Messages(account, storage.MessageFilter{}, storage.First, 1)
		return all[0], err
	})
	speak(t, db, &into, 3)
	speakOn(t, db, &from, 1)
	unread := view(t, db, func(rx *storage.Rx) (storage.UnreadCount, error) { return rx.CountUnreadAfter(read) })
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		if _, err := tx.MergeThreads(&into, from); err != nil {
			return err
		}
		m, err := tx.Message(account, read.ID)
		if err != nil {
			return err
		}
		return tx.MarkRead(&m, unread)
	})
	left := view(t, db, func(rx *storage.Rx) (storage.Conversation, error) { return rx.ConversationOf(into.ID) })
	is.Equal(left.UnreadCount, 4)
}

func TestAMergedConversationIsAsOpenAsEitherWas(t *testing.T) {
	const opened, pending, resolved = storage.ConversationOpen, storage.ConversationPending, storage.ConversationResolved
	for both, want := range map[[2]string]string{
		{opened, opened}: opened, {opened, pending}: opened, {opened, resolved}: opened,
		{pending, opened}: opened, {pending, pending}: pending, {pending, resolved}: pending,
		{resolved, opened}: opened, {resolved, pending}: pending, {resolved, resolved}: resolved,
	} {
		is := is.New(t)
		db := open(t, newFile(t))
		ours, _ := two(t, db)
		account := storagetest.Connect(t, db, ours, "100200300").ID
		into, from := person(t, db, account, "+15550001111", ""), person(t, db, account, "", "US.1")
		speak(t, db, &into, 1)
		speak(t, db, &from, 1)
		into.Status, from.Status = both[0], both[1]
		storagetest.Update(t, db, func(tx *storage.Tx) error { _, err := tx.MergeThreads(&into, from); return err })
		is.Equal(readThread(t, db, account, into.ID).Status, want)
	}
}

// What every message that comes in runs, and what a merge does to conversations
// with many messages.
func TestThreadsAreFoundByAnIndex(t *testing.T) {
	db := open(t, newFile(t))
	ours, _ := two(t, db)
	account := storagetest.Connect(t, db, ours, "100200300").ID
	into, from := person(t, db, account, "+15550001111", ""), person(t, db, account, "", "US.1")
	speak(t, db, &into, 1)
	speak(t, db, &from, 1)
	for name, c := range map[string]struct {
		run  func(tx *storage.Tx) error
		uses string
	}{
		"by number": {func(tx *storage.Tx) error { _, err := tx.ThreadByPhone(account, "+15550001111"); return err }, "contacts_phone (account_id=? AND phone_number=?)"},
		"by id":     {func(tx *storage.Tx) error { _, _ = tx.ThreadByBSUID(account, "US.1"); return nil }, "contacts_bsuid (account_id=? AND bsuid=?)"},
		"heard":     {func(tx *storage.Tx) error { return tx.MarkMessageReceived(&into, 1) }, "conversations USING INDEX sqlite_autoindex_conversations_1 (id=?)"},
		"edits":     {func(tx *storage.Tx) error { _, err := tx.MessageEdits(storage.Message{Number: 1}); return err }, "message_edits USING PRIMARY KEY (message=?)"},
		"removed":   {func(tx *storage.Tx) error { _, err := tx.WasRemoved("1", "2"); return err }, "accounts_removed_number (phone_number_id=?)"},
		"merge":     {func(tx *storage.Tx) error { _, err := tx.MergeThreads(&into, from); return err }, "messages_of_conversation (conversation_id=?)"},
	} {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			plans, err := tx.Plans(func() error { return c.run(tx) })
			text := fmt.Sprint(plans)
			if !strings.Contains(text, c.uses) || strings.Contains(strings.ReplaceAll(text, "SCAN other", ""), "SCAN ") {
				t.Errorf("%s: %s", name, text)
			}
			return err
		})
	}
}

func TestEveryVersionOfAMessageIsKept(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, _ := two(t, db)
	c := person(t, db, storagetest.Connect(t, db, ours, "100200300").ID, "+15550001111", "")
	speak(t, db, &c, 1)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		all, _, err := tx.Messages(c.AccountID, storage.MessageFilter{}, storage.First, 1)
		if err != nil {
			return err
		}
		m := all[0]
		for version := 1; version <= 3; version++ {
			before := storage.MessageEdit{Version: version, Content: m.Content, Body: m.Body, EditedAt: tx.Now, ProviderID: fmt.Sprint("wamid.e", version)}
			m.Content, m.Body = storage.JSON(fmt.Sprintf(`{"body":"%d"}`, version)), new(fmt.Sprint(version))
			if err := tx.EditMessage(&m, before); err != nil {
				return err
			}
			if err := tx.EditMessage(&m, before); !errors.Is(err, storage.ErrConflict) {
				return fmt.Errorf("the same version twice: %w", err)
			}
		}
		edits, err := tx.MessageEdits(m)
		is.Equal(len(edits), 3)
		is.Equal(string(edits[0].Content), `{"body":"hi"}`)
		is.Equal(*edits[2].Body, "2")
		got, err2 := tx.Message(c.AccountID, m.ID)
		is.Equal(string(got.Content), `{"body":"3"}`)
		is.Equal(got.EditedAt, tx.Now)

		first, err3 := tx.MarkRevoked(&m)
		is.True(first)
		again, err4 := tx.MarkRevoked(&m)
		is.True(!again)
		return errors.Join(err, err2, err3, err4)
	})
}

func TestARecipientIsAContactAndItsConversation(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h, other := newThread(t, db, "106540352242922", "+15551234567"), newThread(t, db, "206540352242922", "+15559999999")
	bsuid := "US.13491208655302741918"
	bare := storage.Contact{AccountID: h.account.ID, BSUID: &bsuid, ParentBSUID: new("US.ENT.1"), Username: new("ana"), Name: new("Ana")}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		is.NoErr(tx.MarkOptedOut(h.contact.ID))
		return tx.InsertContact(&bare)
	})
	storagetest.View(t, db, func(rx *storage.Rx) error {
		to, err := rx.RecipientByPhone(h.account.ID, "+15551234567")
		is.NoErr(err)
		is.Equal(to.ID, h.contact.ID)
		is.Equal(*to.ConversationID, h.conversation.ID)
		is.True(to.MarketingOptedOut)
		to, err = rx.RecipientByBSUID(h.account.ID, bsuid)
		is.NoErr(err)
		is.Equal(to.ID, bare.ID)
		is.Equal([]string{*to.BSUID, *to.Username, *to.Name}, []string{bsuid, "ana", "Ana"})
		is.True(to.ConversationID == nil && to.PhoneNumber == nil)
		to, err = rx.RecipientByParent(h.account.ID, "US.ENT.1")
		is.NoErr(err)
		is.Equal(to.ID, bare.ID)
		_, err = rx.RecipientByParent(other.account.ID, "US.ENT.1")
		is.True(errors.Is(err, storage.ErrNotFound))
		_, err = rx.RecipientByPhone(other.account.ID, "+15551234567")
		is.True(errors.Is(err, storage.ErrNotFound)) // another account's
		return nil
	})
}
