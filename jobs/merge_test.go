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
