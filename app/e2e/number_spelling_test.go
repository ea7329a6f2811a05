package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// created counts the contacts that events reported.
func (s *stage) created() (n int) {
	s.t.Helper()
	storagetest.View(s.t, s.app.DB, func(rx *storage.Rx) error {
		events, err := rx.Events(s.tenant.Organization.ID, 100_000)
		for _, e := range events {
			if e.Type == "contact.created" {
				n++
			}
		}
		return err
	})
	return n
}

// status makes one request and returns the status of its answer.
func (s *stage) status(method, path, body string) int {
	s.t.Helper()
	req, err := http.NewRequest(method, s.app.URL()+"/v1"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.tenant.Secret)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// TestANumberThatTheProviderWritesOtherwiseIsOneContact sends to numbers of which the
// provider's form has a digit more or less, before and after the person answers.
func TestANumberThatTheProviderWritesOtherwiseIsOneContact(t *testing.T) {
	t.Parallel()
	for country, forms := range map[string]struct{ id, sent string }{
		"Brazil": {"+553187654321", "+5531987654321"},
		"Mexico": {"+5215512345678", "+525512345678"},
	} {
		t.Run(country, func(t *testing.T) {
			is := is.New(t)
			s := newStage(t)
			number := s.connect()

			var contacts, conversations []string
			send := func(to string) {
				t.Helper()
				m := s.call("POST", s.app.URL()+"/v1/"+number+"/messages", `{"messaging_product":"chat","to":"`+to+`","type":"text","text":{"body":"hi"}}`)
				is.Equal(m["to"], to) // as it was asked
				contacts, conversations = append(contacts, m["contact_id"].(string)), append(conversations, m["conversation_id"].(string))
				m = s.await(number, m["id"].(string), isStatus("read"))
				is.Equal(s.reported(m), []string{"accepted", "sent", "delivered", "read"})
			}
			for range 4 {
				send(forms.sent)
			}
			wamid := s.play("POST", "/_sim/inbound", `{"phone_number_id":"`+number+`","from":"`+forms.sent+`","name":"Ana","type":"text","text":{"body":"hi"}}`)
			s.awaitEvent("message.received", byID(wamid))
			for range 4 {
				send(forms.sent)
			}
			send(forms.id)

			is.Equal(s.created(), 1)
			is.Equal(len(slices.Compact(contacts)), 1)
			is.Equal(len(slices.Compact(conversations)), 1)
			contact := s.call("GET", s.app.URL()+"/v1/"+number+"/contacts/"+contacts[0], "")
			is.Equal(contact["phone_number"], forms.id)
			is.Equal(contact["opted_in"], true)
			s.call("GET", s.app.URL()+"/v1/"+number+"/conversations/"+conversations[0], "")

			for _, form := range []string{forms.sent, forms.id} {
				var list struct{ Data []struct{ ID string } }
				s.read("/"+number+"/contacts?phone_number="+url.QueryEscape(form), &list)
				is.Equal(fmt.Sprint(list.Data), fmt.Sprintf("[{%s}]", contacts[0]))
				is.Equal(s.status("POST", "/"+number+"/contacts", `{"phone_number":"`+form+`"}`), 409)
			}
		})
	}
}
