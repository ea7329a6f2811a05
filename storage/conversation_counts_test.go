package storage_test

import (
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// There are more conversations than one range has, and many of the same instant.
func TestConversationsAreCountedRangeByRange(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	account, contacts := people(t, db, "100200300", make([]storage.Contact, 1000)...)
	u := storage.User{OrganizationID: account.OrganizationID, TeamID: account.TeamID, Name: "Ada"}
	var want storage.ConversationCounts
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		want = storage.ConversationCounts{All: len(contacts)}
		if err := tx.InsertUser(&u); err != nil {
			return err
		}
		for i, c := range contacts {
			v, err := tx.EnsureConversation(account.ID, c.ID)
			if err != nil {
				return err
			}
			status, unread := []string{"open", "open", "open", "resolved", "pending"}[i%5], i%7/6
			var assignee *string
			if i%3 == 0 {
				assignee = &u.ID
			}
			if err := tx.Run(`UPDATE conversations SET status = ?, unread_count = ?, assignee_id = ?, last_message_at = ? WHERE id = ?`, status, unread, assignee, i/400, v.ID); err != nil {
				return err
			}
			switch status {
			case "resolved":
				want.Resolved++
			default: // pending is an open state
				want.Open++
				want.Unread += unread
				if assignee != nil {
					want.Mine++
				} else {
					want.Unassigned++
				}
			}
		}
		return nil
	})
	is.Equal(view(t, db, func(rx *storage.Rx) (storage.ConversationCounts, error) {
		return rx.CountConversations(account.ID, u.ID)
	}), want)
	is.Equal(view(t, db, func(rx *storage.Rx) (storage.ConversationCounts, error) { return rx.CountConversations(99, u.ID) }), storage.ConversationCounts{})
}

func TestTheNewestMessageOfEachConversationIsShown(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	talked, silent := newThread(t, db, "100200300", "+15550001111"), newThread(t, db, "100200301", "+15550001111")
	talked.add(t, db)
	newest := talked.add(t, db)
	all := view(t, db, func(rx *storage.Rx) (map[string]storage.LastMessage, error) {
		return rx.LastMessages(talked.conversation.ID, silent.conversation.ID, "cnv_none")
	})
	is.Equal(len(all), 1)
	is.Equal(all[talked.conversation.ID].ID, newest.ID)
	is.Equal(all[talked.conversation.ID].Direction, storage.Outbound)
}

// A broadcast hides nothing that was said: its message is shown only where there is no other.
func TestABroadcastIsNoLastMessage(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	asked, silent := newThread(t, db, "100200300", "+15550001111"), newThread(t, db, "100200301", "+15550001111")
	question := asked.add(t, db)
	var newest storage.Message
	for range 3 {
		for _, one := range []thread{asked, silent} {
			newest = one.add(t, db)
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				return tx.Run(`UPDATE messages SET source = 'broadcast' WHERE id = ?`, newest.ID)
			})
		}
	}
	all := view(t, db, func(rx *storage.Rx) (map[string]storage.LastMessage, error) {
		return rx.LastMessages(asked.conversation.ID, silent.conversation.ID)
	})
	is.Equal(all[asked.conversation.ID].ID, question.ID)
	is.Equal(all[asked.conversation.ID].Source, question.Source)
	is.Equal(all[silent.conversation.ID].ID, newest.ID)
	is.Equal(all[silent.conversation.ID].Source, storage.SourceBroadcast)
}

// What was tapped is shown as what it said, and a reaction as its emoji.
func TestMessagesWithoutATextAreShownByTheirWords(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h := newThread(t, db, "100200300", "+15550001111")
	m := h.add(t, db)
	for _, one := range []struct{ kind, content, want string }{
		{"button", `{"payload":"blue","text":"The blue one"}`, "The blue one"},
		{"interactive", `{"type":"button_reply","button_reply":{"id":"1","title":"Yes"}}`, "Yes"},
		{"interactive", `{"type":"list_reply","list_reply":{"id":"1","title":"10:00"}}`, "10:00"},
		{"interactive", `{"type":"reply_buttons","body":{"text":"Which one?"},"action":{}}`, "Which one?"},
		{"reaction", `{"message_id":"wamid.1","emoji":"👍"}`, "👍"},
		{"reaction", `{"message_id":"wamid.1","emoji":""}`, ""},
		{"button", `{"text":{"x":1}}`, `{"x":1}`}, {"button", `{"text":5}`, "5"}, // anything a stranger sends
		{"button", `{}`, "-"}, {"button", `null`, "-"}, {"interactive", `{"type":"nfm_reply"}`, "-"}, {"location", `{"text":"x"}`, "-"},
	} {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			return tx.Run(`UPDATE messages SET type = ?, content = ? WHERE id = ?`, one.kind, one.content, m.ID)
		})
		last := view(t, db, func(rx *storage.Rx) (map[string]storage.LastMessage, error) {
			return rx.LastMessages(h.conversation.ID)
		})
		words := view(t, db, func(rx *storage.Rx) (*string, error) { return rx.MessageWords(m) })
		for _, got := range []*string{last[h.conversation.ID].Preview, words} {
			if one.want == "-" {
				is.Equal(got, nil)
			} else {
				is.Equal(*got, one.want) // content
			}
		}
	}
}
