package api

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// events are the tenant's, by type.
func (f *fixture) events() (types []string) {
	f.t.Helper()
	storagetest.View(f.t, f.db, func(rx *storage.Rx) error {
		all, err := rx.Events(f.tenant.Organization.ID, 100)
		for _, e := range all {
			types = append(types, e.Type)
		}
		return err
	})
	return types
}

func TestAnAcceptedSendMakesAContactAConversationAndAJob(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	first := f.call("POST", messages, hello)
	is.Equal(first.status, 200)
	golden(t, "message_queued", first.body)
	is.Equal(f.effects(), "map[contacts:1 conversations:1 events:1 jobs:1 messages:1 usage:1]")
	is.Equal(f.events(), []string{"contact.created"})

	second := f.call("POST", messages, storagetest.Swap(t, hello, `"+1555`, `"1555`)) // the + may be left out
	is.Equal(second.status, 200)
	is.Equal(f.effects(), "map[contacts:1 conversations:1 events:1 jobs:2 messages:2 usage:2]")
	for _, same := range []string{"data.contact_id", "data.conversation_id", "data.to"} {
		is.Equal(second.get(same), first.get(same))
	}
	is.True(second.text("data.id") > first.text("data.id"))
	is.Equal(f.call("GET", messages+"/"+first.text("data.id"), "").get("data"), first.get("data")) // the answer is the stored message

	other := f.call("POST", messages, storagetest.Swap(t, hello, "4567", "4568"))
	is.True(other.text("data.contact_id") != first.text("data.contact_id"))
	is.True(other.text("data.conversation_id") != first.text("data.conversation_id"))
	is.Equal(f.effects(), "map[contacts:2 conversations:2 events:2 jobs:3 messages:3 usage:3]")
}

func TestTwoNumbersKnowAPersonEachForItself(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	f.connect(f.tenant, "206540352242922")
	first := f.call("POST", messages, hello)
	second := f.call("POST", "/206540352242922/messages", hello)
	is.True(first.text("data.contact_id") != second.text("data.contact_id"))
	is.Equal(first.get("data.from"), "+15552242922")
	is.Equal(f.call("GET", messages, "").ids(), []string{first.text("data.id")})
	is.Equal(f.call("GET", "/206540352242922/messages/"+first.text("data.id"), "").code(), "404 resource_not_found")
}

func TestConcurrentSendsToAStrangerMakeOneContact(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { f.call("POST", messages, hello) })
	}
	all.Wait()
	is.Equal(f.effects(), "map[contacts:1 conversations:1 events:1 jobs:16 messages:16 usage:16]")
}

func TestARecipientMayBeAddressedByTheParentBSUID(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	body := `{"messaging_product":"chat","recipient":"US.ENT.1349","type":"text","text":{"body":"Hello"}}`
	got := f.call("POST", messages, body)
	is.Equal(got.status, 200)
	is.Equal(got.get("data.parent_bsuid"), "US.ENT.1349")
	is.Equal(got.get("data.bsuid"), nil)
	is.Equal(got.get("data.to"), nil)
	is.Equal(f.call("POST", messages, body).get("data.contact_id"), got.get("data.contact_id"))
	is.Equal(storagetest.Select[string](t, f.dir, `SELECT DISTINCT recipient FROM messages`), []string{"US.ENT.1349"}) // as sent to the provider

	f.exec(`UPDATE contacts SET bsuid = 'US.7', phone_number = '+15559999999' WHERE parent_bsuid = 'US.ENT.1349'`)
	known := f.call("POST", messages, body)
	is.Equal(known.get("data.contact_id"), got.get("data.contact_id"))
	is.Equal(known.get("data.bsuid"), "US.7")
	is.Equal(known.get("data.to"), "+15559999999")
	is.Equal(f.call("POST", messages, storagetest.Swap(t, body, "US.ENT.1349", "US.7")).get("data.contact_id"), got.get("data.contact_id"))

	other := storage.Contact{AccountID: account.ID, ParentBSUID: new("US.ENT.8")}
	storagetest.Update(t, f.db, func(tx *storage.Tx) error { return tx.InsertContact(&other) })
	is.Equal(f.call("POST", messages, storagetest.Swap(t, body, "1349", "8")).get("data.contact_id"), other.ID)
}

func TestARecipientWithoutANumberIsAddressedByBSUID(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	body := `{"messaging_product":"chat","recipient":"US.1349","type":"text","text":{"body":"Hello"}}`
	got := f.call("POST", messages, body)
	golden(t, "message_bsuid", got.body)
	is.Equal(got.get("data.to"), nil)
	is.Equal(got.get("data.bsuid"), "US.1349")
	is.Equal(f.call("POST", messages, body).get("data.contact_id"), got.get("data.contact_id"))

	f.exec(`UPDATE contacts SET phone_number = '+15559999999', parent_bsuid = 'US.ENT.5', username = 'ada' WHERE bsuid = 'US.1349'`)
	known := f.call("POST", messages, body)
	is.Equal(known.get("data.to"), "+15559999999") // now that it is known
	is.Equal(known.get("data.parent_bsuid"), "US.ENT.5")
	is.Equal(known.get("data.username"), "ada")
	is.Equal(f.call("GET", messages+"/"+got.text("data.id"), "").get("data.to"), "+15559999999")

	both := storagetest.Swap(t, body, `"recipient"`, `"to":"+15551234567","recipient"`)
	is.Equal(f.call("POST", messages, both).get("data.to"), "+15551234567") // to wins
	f.template(account, storage.Template{Name: "otp", Category: "AUTHENTICATION",
		Components: storage.JSON(`[{"type":"BODY"},{"type":"BUTTONS","buttons":[{"type":"OTP"}]}]`)})
	code := storagetest.Swap(t, notice, `"notice","language":"en"`, `"otp","language":"en","components":[{"type":"body","parameters":[{"type":"text","text":"1"}]},{"type":"button","sub_type":"url","index":0,"parameters":[{"type":"text","text":"1"}]}]`)
	is.Equal(f.call("POST", messages, code).status, 200)
	is.Equal(f.call("POST", messages, storagetest.Swap(t, code, `"to":"+15551234567"`, `"recipient":"US.1349"`)).code(), "400 invalid_field_value recipient")
}

func TestAReplyShowsWhatItRepliesTo(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	got := f.call("POST", messages, storagetest.Swap(t, hello, `"type"`, `"context":{"message_id":"wamid.\"x","more":1},"type"`))
	is.Equal(got.get("data.context"), map[string]any{"message_id": `wamid."x`})
	is.Equal(f.call("POST", messages, hello).get("data.context"), nil)
}

func TestARepeatedSendIsOneMessage(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	first := f.call("POST", messages, hello, "Idempotency-Key: order-1")
	second := f.call("POST", messages, hello, "Idempotency-Key: order-1")
	is.Equal(second.body, first.body)
	is.Equal(second.header.Get("Idempotent-Replayed"), "true")
	is.Equal(second.header.Get("X-Request-Id"), first.header.Get("X-Request-Id"))
	is.Equal(f.effects(), "map[answers:1 contacts:1 conversations:1 events:1 jobs:1 messages:1 usage:1]")
	storagetest.View(t, f.db, func(rx *storage.Rx) error {
		remembered, err := rx.IdempotentReply(f.tenant.Organization.ID, "order-1")
		is.Equal(*remembered.AccountID, account.ID) // whose removal takes it along
		return err
	})
	is.Equal(f.call("POST", messages, promo, "Idempotency-Key: order-1").code(), "422 idempotency_key_reuse")
	f.connect(f.tenant, "206540352242922")
	is.Equal(f.call("POST", "/206540352242922/messages", hello, "Idempotency-Key: order-1").code(), "422 idempotency_key_reuse")
	f.restart()
	is.Equal(f.call("POST", messages, hello, "Idempotency-Key: order-1").body, first.body)
	is.Equal(len(f.call("GET", messages, "").ids()), 1)
}

// sends are one message of each type, by the name of their golden file.
var sends = map[string]string{
	"message_image":    message("image", `{"link":"https://example.com/a.png","caption":"A & B"}`),
	"message_document": message("document", `{"link":"https://example.com/a.pdf","filename":"a.pdf"}`),
	"message_video":    message("video", `{"link":"https://example.com/a.mp4"}`),
	"message_audio":    message("audio", `{"link":"https://example.com/a.ogg","voice":true}`),
	"message_template": message("template", `{"name":" hi ","language":{"code":"en"},"components":[{"type":"body","parameters":[{"type":"text","text":"Ada"}]}]}`),
	"message_interactive": message("interactive", `{"type":"reply_buttons","body":{"text":"Tomorrow?"},"footer":{"text":"Acme"},"action":{"buttons":[`+
		`{"type":"reply","reply":{"id":"yes","title":"Yes"}},{"type":"reply","reply":{"id":"no","title":"No"}}]}}`),
	"message_list": message("interactive", `{"type":"list","body":{"text":"When?"},"action":{"button":"Choose","sections":[{"rows":[{"id":"am","title":"Morning"}]}]}}`),
	"message_cta_url": message("interactive", `{"type":"cta_url","header":{"type":"image","image":{"link":"https://example.com/a.png"}},"body":{"text":"Look"},`+
		`"action":{"name":"cta_url","parameters":{"display_text":"Open","url":"https://example.com/?a=1&b=<2>"}}}`),
	"message_reaction": message("reaction", `{"message_id":"wamid.x","emoji":"👍"}`),
	"message_unreact":  message("reaction", `{"message_id":"wamid.x","emoji":""}`),
}

func TestEveryTypeOfMessageIsShownAsItWasSent(t *testing.T) {
	f, account := serveNumber(t)
	f.template(account, storage.Template{Name: "hi", Category: "UTILITY", Components: storage.JSON(`[{"type":"BODY","text":"Hi {{1}}!"}]`)})
	for name, body := range sends {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got := f.in(t).call("POST", messages, body)
			is.Equal(got.status, 200)
			golden(t, name, got.body)
			var sent map[string]any
			is.NoErr(json.Unmarshal([]byte(body), &sent))
			kind := sent["type"].(string)
			is.Equal(got.get("data."+kind), sent[kind])
			is.Equal(f.in(t).call("GET", messages+"/"+got.text("data.id"), "").get("data"), got.get("data"))
			is.True(!described().refuses("POST", messages, body))
		})
	}
}

func TestATemplateIsKeptWithItsTextFilledIn(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	f.template(account, storage.Template{Name: "hi", Category: "UTILITY", Components: storage.JSON(`[{"type":"BODY","text":"Hi {{1}}!"}]`)})
	id := f.call("POST", messages, sends["message_template"]).text("data.id")
	storagetest.View(t, f.db, func(rx *storage.Rx) error {
		m, err := rx.Message(account.ID, id)
		is.Equal(*m.Body, "Hi Ada!") // which message.sent will show
		return err
	})
}

func TestContentIsShownAsItCameWhateverIsInIt(t *testing.T) {
	f, _ := serveNumber(t)
	for name, content := range map[string]struct{ sent, shown string }{
		"unknown fields":   {`{"body":"x","more":{"a":[1,2.50,null]}}`, `{"body":"x"}`},
		"a field twice":    {`{"body":"a","body":"b"}`, `{"body":"b"}`},
		"spaces":           {"{ \"body\" :\n \"x\" }", `{"body":"x"}`},
		"an escaped zero":  {`{"body":"a\u0000b"}`, `{"body":"a\u0000b"}`},
		"line separators":  {`{"body":"a\u2028b"}`, `{"body":"a\u2028b"}`},
		"brackets in text": {`{"body":"` + strings.Repeat("[{", 600) + `\\\"","more":"\""}`, `{"body":"` + strings.Repeat("[{", 600) + `\\\""}`},
		"a large number":   {`{"n":1e999,"body":"x","m":12345678901234567890123}`, `{"body":"x"}`},
		"deep lists":       {`{"deep":` + strings.Repeat("[", 499) + strings.Repeat("]", 499) + `,"body":"x"}`, `{"body":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got := f.in(t).call("POST", messages, message("text", content.sent))
			is.Equal(got.status, 200)
			is.True(strings.Contains(got.body, `"text":`+content.shown))
		})
	}
	is := is.New(t)
	before := f.effects()
	for _, n := range []int{500, 999, 5000} {
		tooDeep := `{"body":"\"[\\","deep":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
		is.Equal(f.call("POST", messages, message("text", tooDeep)).code(), "400 invalid_field_value text")
	}
	is.Equal(f.effects(), before)
}
