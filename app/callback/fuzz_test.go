package callback

import (
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// FuzzCallback lets anything come over the signed line. It is always taken, and
// the known message that it may name stays in a state that there is.
func FuzzCallback(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"object":"whatsapp_business_account"}`, `{"object":"whatsapp_business_account","entry":[{"changes":[{}]}]}`,
		`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[` + change(ourNumber, status("wamid.1", "read", ""), status("wamid.9", "played", tagged("msg_0"))) + `]}]}`,
		`{"object":"whatsapp_business_account","entry":[{"id":1,"time":"1","changes":[` + change(ourNumber, status("wamid.1", "failed", `,"errors":[{"code":190},null,{"code":"x"}]`)) + `,` + change("404", `{}`) + `]}]}`,
		`{"object":"whatsapp_business_account","entry":[{"id":1,"changes":[` + change(ourNumber, "{\"id\":\"\\u0000\xff\",\"status\":\"\\ud800\",\"x\":[[[[]]]]}") + `]}]}`,
	} {
		f.Add([]byte(seed))
	}
	l := newLine(f)
	id := l.outbound(l.account, "wamid.1")
	f.Fuzz(func(t *testing.T, body []byte) {
		code, refused := post(t, l.server, string(body), sign(string(body)))
		if refused != nil || code != 200 {
			t.Fatalf("%d %v", code, refused)
		}
		var m storage.Message
		storagetest.View(t, l.server.DB, func(rx *storage.Rx) (err error) { m, err = rx.OutboundMessage(id); return err })
		if m.ProviderID == nil || *m.ProviderID != "wamid.1" || storage.NextStatus(m.Status, storage.MessageSent) != m.Status {
			t.Fatalf("the message is %s", m.Status)
		}
	})
}
