package storage_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// traced is a database with a message and its events.
type traced struct {
	t       *testing.T
	db      *storage.DB
	tenant  storagetest.Tenant
	account storage.Account
	message storage.Message
}

func newTraced(t *testing.T) *traced {
	t.Helper()
	w := &traced{t: t, db: open(t, newFile(t))}
	w.tenant = storagetest.Seed(t, w.db, "Acme")
	w.account = storagetest.Connect(t, w.db, w.tenant, "100200300")
	phone := "+15550001111"
	storagetest.Update(t, w.db, func(tx *storage.Tx) error {
		c := storage.Contact{AccountID: w.account.ID, PhoneNumber: &phone}
		if err := tx.InsertContact(&c); err != nil {
			return err
		}
		conversation, err := tx.EnsureConversation(w.account.ID, c.ID)
		if err != nil {
			return err
		}
		w.message = storage.Message{
			AccountID: w.account.ID, ConversationID: conversation.ID, ContactID: c.ID, Direction: storage.Outbound, Type: "text",
			Status: storage.MessageQueued, Source: storage.SourceAPI, Content: storage.JSON(`{"body":"hi"}`),
		}
		return tx.InsertMessage(&w.message)
	})
	return w
}

// emit stores an event, and lets the message be changed by then.
func (w *traced) emit(kind, eventID, payload string) (id string) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		id = tx.NewID(storage.PrefixEvent)
		if err := tx.Run(`UPDATE messages SET updated_at = ? WHERE id = ?`, tx.Now, w.message.ID); err != nil {
			return err
		}
		e := storage.Event{ID: id, OrganizationID: w.tenant.Organization.ID, AccountID: &w.account.ID, Type: kind, Source: "svc", EventID: eventID, Payload: []byte(payload)}
		return tx.InsertEvent(e, "100200300")
	})
	return id
}

// events finds the message's events again.
func (w *traced) events(limit int) (ids []string, found storage.TracedEvents) {
	w.t.Helper()
	storagetest.View(w.t, w.db, func(rx *storage.Rx) error {
		m, owner, err := rx.TracedMessage(w.tenant.Organization.ID, w.message.ID)
		if err == nil {
			found, err = rx.EventsOfMessage(owner, m, limit)
		}
		return err
	})
	for _, e := range found.Events {
		ids = append(ids, e.ID)
	}
	return ids, found
}

func TestTheEventsOfAMessageAreFound(t *testing.T) {
	is := is.New(t)
	w := newTraced(t)
	ids, _ := w.events(10)
	is.Equal(len(ids), 0)

	wamid := "wamid.1"
	storagetest.Update(t, w.db, func(tx *storage.Tx) error {
		_, err := tx.MarkSent(&w.message, wamid)
		return err
	})
	other := w.db.NewID(storage.PrefixMessage)
	want := []string{w.emit("message.sent", w.message.ID+":sent", `{}`)}
	w.emit("message.sent", other+":sent", `{}`)
	w.emit("contact.created", w.message.ID, `{}`) // not of messages
	want = append(want, w.emit("message.status", wamid, `{}`))
	want = append(want, w.emit("message.edited", "evt_1", `{"data":{"message_id":"`+w.message.ID+`"}}`))
	w.emit("message.edited", "evt_2", `{"data":{"message_id":"`+other+`","new_content":"\"message_id\":\"`+w.message.ID+`\""}}`) // what people write finds nothing
	for range 300 {                                                                                                              // more than one step
		w.emit("message.status", "wamid.other", `{}`)
	}
	want = append(want, w.emit("message.status", w.message.ID, `{}`))

	ids, found := w.events(10)
	is.Equal(ids, want)
	is.True(!found.Cut && !found.More)
	ids, found = w.events(2)
	is.Equal(ids, want[:2])
	is.True(found.More)

	// Each of them leads to the message, those of others do not.
	storagetest.View(t, w.db, func(rx *storage.Rx) error {
		for _, id := range want {
			for _, organization := range []int64{0, w.tenant.Organization.ID} {
				m, owner, err := rx.TracedMessage(organization, id)
				if err != nil || m.ID != w.message.ID || owner != w.tenant.Organization.ID {
					return fmt.Errorf("%s leads to %s, %d: %w", id, m.ID, owner, err)
				}
			}
			if _, _, err := rx.TracedMessage(w.tenant.Organization.ID+1, id); err != storage.ErrNotFound {
				t.Errorf("another organization found %s: %v", id, err)
			}
		}
		return nil
	})
}

// Where there is no time to look at all events, those that were delivered are found anyway.
func TestALongSearchForEventsIsCut(t *testing.T) {
	is := is.New(t)
	w := newTraced(t)
	want := []string{w.emit("message.sent", w.message.ID+":sent", `{}`)}
	for range 300 {
		w.emit("message.status", "wamid.other", `{}`)
	}
	w.emit("message.status", w.message.ID, `{}`) // no subscription wanted it
	storagetest.Subscribe(t, w.db, w.tenant, "https://example.com/hook", "message.status")
	want = append(want, w.emit("message.status", w.message.ID, `{}`))

	w.db.SetWalkTime(0)
	ids, found := w.events(10)
	is.Equal(ids, want)
	is.True(found.Cut)
	w.db.SetWalkTime(time.Second)

	storagetest.View(t, w.db, func(rx *storage.Rx) error {
		deliveries, others, err := rx.DeliveriesOfEvents(found.Events, 10)
		if len(deliveries) != 1 || others != 0 || deliveries[0].URL != "https://example.com/hook" {
			t.Errorf("deliveries: %v, and %d others", deliveries, others)
		}
		return err
	})
}

func TestACallIsFoundByItsRequest(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	id, label := db.NewID(storage.PrefixRequest), "shop"
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		if err := tx.Run(`UPDATE api_keys SET label = ? WHERE id = ?`, label, ours.Key.ID); err != nil {
			return err
		}
		return tx.InsertAPICalls([]storage.APICall{{
			OrganizationID: &ours.Organization.ID, KeyID: &ours.Key.ID, Method: "GET", Path: "/v1/me", Status: 200, RequestID: id, CreatedAt: storage.Now(),
		}})
	})
	find := func(organization int64, request string) (c storage.LoggedCall, err error) {
		storagetest.View(t, db, func(rx *storage.Rx) error {
			c, err = rx.LoggedCall(organization, request)
			return nil
		})
		return c, err
	}
	for _, organization := range []int64{0, ours.Organization.ID} {
		c, err := find(organization, id)
		is.NoErr(err)
		is.Equal(*c.KeyLabel, label)
	}
	_, err := find(theirs.Organization.ID, id)
	is.Equal(err, storage.ErrNotFound)
	_, err = find(0, db.NewID(storage.PrefixRequest))
	is.Equal(err, storage.ErrNotFound)
	_, err = find(0, "req_nonsense")
	is.Equal(err, storage.ErrNotFound)
}

func TestAnOrganizationsCallsAreFiltered(t *testing.T) {
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	user := "01JQ0Z8M4T9V2X3W5Y6A7B8C9D"
	code := "invalid_field_value"
	rows := []storage.APICall{
		{KeyID: &ours.Key.ID, Method: "GET", Path: "/v1/labels", Status: 200},
		{KeyID: &ours.Key.ID, Method: "POST", Path: "/v1/labels", Status: 400, ErrorCode: &code},
		{UserID: &user, Method: "DELETE", Path: "/console/api/v1/labels/x", Status: 200},
		{KeyID: &ours.Key.ID, Method: "POST", Path: "/v1/1/messages", Status: 503},
	}
	for i := range rows {
		rows[i].OrganizationID, rows[i].RequestID, rows[i].CreatedAt = &ours.Organization.ID, fmt.Sprint("r", i+1), storage.Time(i+1)
	}
	rows = append(rows, storage.APICall{OrganizationID: &theirs.Organization.ID, Method: "GET", RequestID: "r5", CreatedAt: 2}, storage.APICall{Method: "GET", RequestID: "r6", CreatedAt: 2})
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertAPICalls(rows) })

	for name, c := range map[string]struct {
		filter storage.CallFilter
		want   string
	}{
		"all, newest first": {storage.CallFilter{}, "r4r3r2r1"},
		"method":            {storage.CallFilter{Method: "POST"}, "r4r2"},
		"path":              {storage.CallFilter{Path: "/labels"}, "r3r2r1"},
		"key":               {storage.CallFilter{KeyID: ours.Key.ID}, "r4r2r1"},
		"user":              {storage.CallFilter{UserID: user}, "r3"},
		"error":             {storage.CallFilter{ErrorCode: code}, "r2"},
		"class":             {storage.CallFilter{MinStatus: 400, MaxStatus: 499}, "r2"},
		"done":              {storage.CallFilter{MinStatus: 200, MaxStatus: 299}, "r3r1"},
		"after, strictly":   {storage.CallFilter{CreatedAfter: 2}, "r4r3"},
		"before, strictly":  {storage.CallFilter{CreatedBefore: 3}, "r2r1"},
		"between":           {storage.CallFilter{CreatedAfter: 1, CreatedBefore: 4, Method: "POST"}, "r2"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			for step := 1; step <= 5; step++ { // for any size of the page
				got, after := "", storage.First
				for {
					var some []storage.LoggedCall
					storagetest.View(t, db, func(rx *storage.Rx) (err error) {
						some, _, err = rx.LoggedCalls(ours.Organization.ID, c.filter, after, step)
						return err
					})
					for _, one := range some {
						got += one.RequestID
						after = storage.After{Key: one.CreatedAt, ID: one.RequestID}
					}
					if len(some) < step {
						break
					}
				}
				is.Equal(got, c.want)
			}
		})
	}
}
