package jobs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"confab/storage"
	"confab/storage/storagetest"
)

// sentEvent is what message.sent says of whom a message went to.
type sentEvent struct {
	Data struct {
		Conversation struct{ ID, Status string }
		Contact      struct {
			ID    string
			Phone string `json:"phone_number"`
			Name  string
		}
	}
}

// sentEvents reads all events message.sent, by the id of their message.
func (w *world) sentEvents() map[string][]sentEvent {
	w.t.Helper()
	all := make(map[string][]sentEvent)
	for _, e := range w.stored() {
		if e.Type != "message.sent" {
			continue
		}
		var told sentEvent
		w.is.NoErr(json.Unmarshal(e.Payload, &told))
		id := e.EventID[:len(e.EventID)-len(":sent")]
		all[id] = append(all[id], told)
	}
	return all
}

// writes lets a person write who is named by these keys.
func (w *world) writes(who, wamid string) {
	w.t.Helper()
	w.callback("messages", fmt.Sprintf(`"messages":[{%s,"id":%q,"timestamp":"1750030073","type":"text","text":{"body":"hi"}}]`, who, wamid))
}

// TestContactsThatMergeDuringTheCallLoseNoEvent lets a person be known by id, and
// be written to by number as somebody else, until a message of theirs names both:
// while the provider is being called.
func TestContactsThatMergeDuringTheCallLoseNoEvent(t *testing.T) {
	for name, known := range map[string]func(w *world){
		"two conversations": func(w *world) { w.writes(`"from_user_id":"US.1"`, "wamid.in.1") },
		"one conversation": func(w *world) {
			storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
				return tx.InsertContact(&storage.Contact{AccountID: w.account.ID, BSUID: new("US.1"), Name: new("Ana")})
			})
		},
	} {
		for _, tagged := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", tagged ", tagged), func(t *testing.T) {
				bubble(t, func(w *world) {
					known(w)
					w.provider.answer = func(_ int, c call) (*http.Response, error) {
						w.writes(`"from":"15550001111","from_user_id":"US.1"`, "wamid.in.2")
						tag := ""
						if tagged {
							tag = c.tag()
						}
						w.report("wamid.1", "delivered", tag)
						return accepted("wamid.1"), nil
					}
					w.start()
					id := w.text()
					synctest.Wait()

					m := w.message(id)
					w.is.Equal(m.Status, storage.MessageDelivered)
					told := w.sentEvents()[id]
					w.is.Equal(len(told), 1) // it was sent
					w.is.Equal(told[0].Data.Conversation.ID, m.ConversationID)
					w.is.Equal(told[0].Data.Conversation.Status, "open")
					w.is.Equal(told[0].Data.Contact.ID, m.ContactID)
					w.is.Equal(told[0].Data.Contact.Phone, "+15550001111")
					events := w.events()
					w.is.Equal(events[len(events)-2:], []string{"message.sent " + id + ":sent", "message.status wamid.1"})
				})
			})
		}
	}
}

// acceptedAs is the provider's yes, with the recipient's number as it writes that.
func acceptedAs(wamid, waID string) *http.Response {
	return answered(200, `{"messaging_product":"whatsapp","contacts":[{"input":"x","wa_id":"`+waID+`"}],"messages":[{"id":"`+wamid+`"}]}`)
}

// thread is the thread that a number finds.
func (w *world) thread(phone string) (t storage.Thread) {
	w.t.Helper()
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) { t, err = rx.ThreadByPhone(w.account.ID, phone); return err })
	return t
}

func TestTheAnswerTeachesHowTheProviderWritesANumber(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(n int, _ call) (*http.Response, error) {
			return acceptedAs(fmt.Sprint("wamid.", n), "553187654321"), nil
		}
		w.start()
		var ids []string
		for range 3 {
			ids = append(ids, w.queue("+5531987654321", "text", `{"body":"hi"}`)) // the second waits while the first is answered
		}
		synctest.Wait()
		ids = append(ids, w.queue("+5531987654321", "text", `{"body":"hi"}`), w.queue("+553187654321", "text", `{"body":"hi"}`))
		synctest.Wait()

		contact := w.thread("+553187654321")
		w.is.Equal(*contact.PhoneNumber, "+553187654321")
		w.is.Equal(w.thread("+5531987654321").ID, contact.ID)
		for _, id := range ids {
			w.is.Equal(w.message(id).ContactID, contact.ID)
			told := w.sentEvents()[id]
			w.is.Equal(len(told), 1)
			w.is.Equal(told[0].Data.Contact.Phone, "+553187654321")
		}
		w.is.Equal(w.events()[0][:len("contact.identity_updated")], "contact.identity_updated") // before message.sent, which shows the number
		w.is.Equal(len(w.events()), 1+len(ids))
	})
}

// TestTheAnswerShowsThatBothFormsAreOnePerson sends to somebody who has written before,
// in the other form of the number.
func TestTheAnswerShowsThatBothFormsAreOnePerson(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(int, call) (*http.Response, error) { return acceptedAs("wamid.1", "553187654321"), nil }
		w.writes(`"from":"553187654321","from_user_id":"BR.1"`, "wamid.in")
		known := w.thread("+553187654321")
		id := w.queue("+5531987654321", "text", `{"body":"hi"}`)
		w.is.True(w.message(id).ContactID != known.ID)
		w.start()
		synctest.Wait()

		m := w.message(id)
		w.is.Equal([]string{m.ContactID, m.ConversationID, *m.ProviderID}, []string{known.ID, known.ConversationID, "wamid.1"})
		told := w.sentEvents()[id]
		w.is.Equal(len(told), 1)
		w.is.Equal([]string{told[0].Data.Contact.ID, told[0].Data.Conversation.ID}, []string{known.ID, known.ConversationID})
		w.is.Equal(*w.thread("+5531987654321").PhoneNumber, "+553187654321")
	})
}

// TestAnAnswerThatNamesNoNumberTeachesNothing lets the provider write something that is no number,
// or the number that was sent.
func TestAnAnswerThatNamesNoNumberTeachesNothing(t *testing.T) {
	for _, waID := range []string{"15550001111", "+15550001111", "x", "123"} {
		t.Run(waID, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = func(int, call) (*http.Response, error) { return acceptedAs("wamid.1", waID), nil }
				w.start()
				id := w.text()
				synctest.Wait()
				w.is.Equal(w.events(), []string{"message.sent " + id + ":sent"})
				w.is.Equal(*w.thread("+15550001111").PhoneNumber, "+15550001111")
			})
		})
	}
}
