package callback

import (
	"confab/storage/storagetest"
	"flag"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestAnEventIsTheCallbackInOurWords holds the event of each kind of status
// against testdata/golden.
func TestAnEventIsTheCallbackInOurWords(t *testing.T) {
	const price = `,"conversation":{"id":"c1","expiration_timestamp":"1750116473","origin":{"type":"marketing"}},
		"pricing":{"billable":true,"pricing_model":"PMP","type":"regular","category":"marketing"}`
	for name, more := range map[string]string{
		"sent":      price + `,"recipient_user_id":"US.1","brand_new":{"nested":[1,"whatsapp",null]}`,
		"delivered": ``,
		"read":      ``,
		"played":    ``,
		"failed": `,"errors":[{"code":131049,"title":"No","message":"No","error_data":{"messaging_product":"whatsapp","details":"Not now."},
			"href":"https://developers.facebook.com/docs/whatsapp/","fbtrace_id":"A1","error_subcode":7}]`,
	} {
		l := newLine(t)
		id := l.outbound(l.account, "wamid.1")
		l.postBody(`{"object":"whatsapp_business_account","brand_new":1,"entry":[{"id":"waba-1","time":1750030073,"changes":[{"field":"messages","value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550100200","phone_number_id":"` + ourNumber + `"},
			"contacts":[{"profile":{"name":"Ana \u0026 whatsapp"},"wa_id":"15550001111"}],"brand_new":"whatsapp_business_account",
			"statuses":[` + status("wamid.1", name, tagged(id)+more) + `]},"brand_new":true}]}]}`)
		e := l.events()[0]
		l.is.Equal(e.Type, "message.status")
		l.is.Equal(e.Source, "provider")
		l.is.Equal(e.EventID, "wamid.1")
		golden(t, "message_status_"+name, e.Payload)
	}
}

func golden(t *testing.T, name string, payload []byte) {
	t.Helper()
	storagetest.Golden(t, name, payload, *update)
}
