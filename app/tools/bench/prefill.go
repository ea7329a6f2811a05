package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

// people is how many people messages are sent to. It does not depend on the
// number of messages, so that only the latter makes a difference.
var people = 5000

const (
	// messagesPerCommit is how many old messages share a commit.
	messagesPerCommit = 50_000
	// historySpan is the time over which old messages are spread.
	historySpan = 30 * 24 * time.Hour
	// samples is of how many old messages the ids are kept.
	samples = 100_000
)

// personPhone returns the phone number of the nth person. After the last one comes the
// first again.
func personPhone(n int64) string { return "+1555" + strconv.FormatInt(1_000_000+n%int64(people), 10) }

type history struct {
	messages int
	first    time.Time
	ids      []string // of a sample of the messages
}

// at returns a time within the history, at which there are older and newer messages.
func (h history) at(n int64) time.Time {
	return h.first.Add(historySpan/10 + time.Duration(n*7919%800)*historySpan/1000)
}

// id returns the id of a message, as good as chosen at random.
func (h history) id(n int64) string { return h.ids[n*7919%int64(len(h.ids))] }

// prefill stores old messages, one person's after another's. So every B-tree grows at
// its end, which is many times faster than in the order of time and leads to the same
// shape.
func prefill(db *storage.DB, account int64, messages int) history {
	h := history{messages: messages, first: time.Now().Add(-historySpan)}
	perCommit := max(1, messagesPerCommit*people/max(1, messages))
	insertMany(db, people, perCommit, func(tx *storage.Tx, who int) { h.insertMessages(tx, account, who) })
	return h
}

// insertMessages stores the messages of one person, and keeps the ids of a sample.
func (h *history) insertMessages(tx *storage.Tx, account int64, who int) {
	phone := personPhone(int64(who))
	thread := newThread(tx, account, phone)
	every := max(1, h.messages/samples)
	step := historySpan / time.Duration(max(1, h.messages))
	for i := who * h.messages / people; i < (who+1)*h.messages/people; i++ {
		tx.Order = storage.At(h.first.Add(step * time.Duration(i)))
		id := providerID(phone, i)
		m := thread
		m.ProviderID = &id
		rig.Check(tx.InsertMessage(&m))
		if i%every == 0 {
			h.ids = append(h.ids, m.ID)
		}
	}
}

// newThread stores a person with a conversation, and returns a message of it that is not
// stored.
func newThread(tx *storage.Tx, account int64, phone string) storage.Message {
	contact := storage.Contact{AccountID: account, PhoneNumber: &phone}
	rig.Check(tx.InsertContact(&contact))
	return storage.Message{
		AccountID:      account,
		ConversationID: rig.Must(tx.EnsureConversation(account, contact.ID)).ID,
		ContactID:      contact.ID,
		Direction:      storage.Outbound,
		Type:           "text",
		Status:         storage.MessageRead,
		Source:         storage.SourceAPI,
		PhoneNumber:    &phone,
		Content:        storage.JSON(`{"body":"a message of the past"}`),
	}
}

// insertMany calls insert with every number below count, with so many in a commit, which fails if insert does.
func insertMany(db *storage.DB, count, perCommit int, insert func(tx *storage.Tx, n int)) {
	for from := 0; from < count; from += perCommit {
		rig.Check(db.Update(context.Background(), func(tx *storage.Tx) error {
			for n := from; n < min(count, from+perCommit); n++ {
				insert(tx, n)
			}
			return nil
		}))
	}
}

// providerID makes an id of the provider's form. It begins with the person, so that the
// ids of new messages fall between those of old ones in the index.
func providerID(phone string, n int) string {
	return "wamid." + base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "\x1c\x18\x0b%s\x15\x02\x00\x11\x18\x12%018X\x00", phone[1:], n))
}
