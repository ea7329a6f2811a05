package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"confab/storage"
)

const (
	// people whom messages are sent to, in the past and now. They are as many
	// however many messages there are, so that only these make a difference.
	people = 5000
	// inOneCommit is how many messages of the past share a commit.
	inOneCommit = 50_000
	// span is the time over which the past is spread.
	span = 30 * 24 * time.Hour
	// samples is how many messages of the past are remembered.
	samples = 100_000
)

// person is the number of the nth person, who comes again after all others.
func person(n int64) string { return "+1555" + strconv.FormatInt(1_000_000+n%people, 10) }

// history is what was stored before a measurement.
type history struct {
	messages int
	first    time.Time
	ids      []string // of messages all over it
}

// at is a moment out of the past, which some messages are older than.
func (h history) at(n int64) time.Time {
	return h.first.Add(span/10 + time.Duration(n*7919%800)*span/1000)
}

// id is one of the messages, as good as chosen at random.
func (h history) id(n int64) string { return h.ids[n*7919%int64(len(h.ids))] }

// prefill stores so many messages of the past, one person's after another's: so
// every tree grows at its end, which is many times faster than it would be in the
// order of time, and is of the same shape afterwards.
func prefill(ctx context.Context, db *storage.DB, number string, messages int) (history, error) {
	h := history{messages: messages, first: time.Now().Add(-span)}
	for done, who := 0, 0; who < people; {
		until := who
		for until < people && (until+1)*messages/people-done <= inOneCommit {
			until++
		}
		until = max(until, who+1)
		var ids []string
		err := db.Update(ctx, func(tx *storage.Tx) (err error) {
			ids, err = h.tell(tx, number, who, until)
			return err
		})
		if err != nil {
			return h, err
		}
		h.ids = append(h.ids, ids...)
		who, done = until, until*messages/people
	}
	return h, nil
}

// tell stores the past of some people and returns the ids of a few messages.
func (h history) tell(tx *storage.Tx, number string, from, until int) (ids []string, err error) {
	account, err := tx.AccountByNumber(number)
	if err != nil {
		return nil, err
	}
	every := max(1, h.messages/samples)
	step := span / time.Duration(max(1, h.messages))
	for who := from; who < until; who++ {
		phone := person(int64(who))
		contact := storage.Contact{AccountID: account.ID, PhoneNumber: &phone}
		if err := tx.InsertContact(&contact); err != nil {
			return nil, err
		}
		conversation, err := tx.EnsureConversation(account.ID, contact.ID)
		if err != nil {
			return nil, err
		}
		for i := who * h.messages / people; i < (who+1)*h.messages/people; i++ {
			tx.Now = storage.At(h.first.Add(step * time.Duration(i)))
			id := providerID(phone, i)
			m := storage.Message{AccountID: account.ID, ConversationID: conversation.ID, ContactID: contact.ID, Direction: storage.Outbound, Type: "text",
				Status: storage.MessageRead, Source: storage.SourceAPI, ProviderID: &id, PhoneNumber: &phone, Content: storage.JSON(`{"body":"a message of the past"}`)}
			if err := tx.InsertMessage(&m); err != nil {
				return nil, err
			}
			if i%every == 0 {
				ids = append(ids, m.ID)
			}
		}
	}
	return ids, nil
}

// providerID is an id as the provider gives them: it begins with the person, so
// that those of new messages lie among those of the past.
func providerID(phone string, n int) string {
	return "wamid." + base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "\x1c\x18\x0b%s\x15\x02\x00\x11\x18\x12%018X\x00", phone[1:], n))
}
