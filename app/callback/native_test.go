package callback

import (
	"fmt"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// subscribeNative makes a webhook that gets the provider's own envelopes, of every field.
func (l *line) subscribeNative() {
	l.t.Helper()
	storagetest.Update(l.t, l.server.DB, func(tx *storage.Tx) error {
		_, err := tx.InsertSubscription(&storage.Subscription{
			OrganizationID: l.tenant.Organization.ID, URL: "https://flows.test/hook", Events: storage.Strings{"*"},
			Status: storage.WebhookActive, Format: storage.FormatProvider, VerifyToken: "x",
		})
		return err
	})
}

// envelopes are what it gets.
func (l *line) envelopes() (all []string) {
	l.t.Helper()
	storagetest.View(l.t, l.server.DB, func(rx *storage.Rx) error {
		events, err := rx.Events(-l.tenant.Organization.ID, 100)
		for _, e := range events {
			all = append(all, string(e.Payload))
		}
		return err
	})
	return all
}

func envelopeOf(change string) string {
	return `{"object":"whatsapp_business_account", "entry":[{"id":"waba-1","changes":[ ` + change + ` ]}]}`
}

// What is only kept here goes out whole, with everything in it: fields that are not used, and those
// that nobody knows. Only the tags of our own are taken away.
func TestNativeWebhooksGetWhatIsOnlyKept(t *testing.T) {
	l := newLine(t)
	l.subscribeNative()
	id := l.outbound(l.account, "wamid.sent")
	var want []string
	for _, field := range []string{"standby", "messaging_handovers", "history", "group_messages", "Some-Field.9"} {
		body := envelopeOf(fmt.Sprintf(`{"field":%q,"value":{"metadata":{"phone_number_id":%q},"messages":[ %s ],"message_echoes":[{"id":"x"}],"statuses":[%s, %s]}}`,
			field, ourNumber, hello("wamid.1", "hi"), status("wamid.sent", "sent", tagged(id)), status("wamid.2", "sent", tagged("their own"))))
		l.postBody(body)
		want = append(want, strings.Replace(body, tagged(id), "", 1))
	}
	l.is.Equal(l.envelopes(), want)
}

// What came in one callback goes out in one envelope, as much as the provider puts into one.
func TestANativeEnvelopeStaysTogether(t *testing.T) {
	l := newLine(t)
	l.subscribeNative()
	var all []string
	for i := range 300 {
		all = append(all, hello(fmt.Sprint("wamid.", i), "hi"))
	}
	body := envelopeOf(news("messages", "messages", anasProfile, all...))
	l.postBody(body)
	l.postBody(body) // a repeat makes none
	l.is.Equal(l.envelopes(), []string{body})
}
