package callback

import (
	"encoding/json"
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// FuzzCallback lets anything come over the signed line to a number that knows
// people and messages. It is always taken; nothing is left half done; and what
// there was stays in a state that there is.
func FuzzCallback(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"object":"whatsapp_business_account"}`, `{"object":"whatsapp_business_account","entry":[{"changes":[{}]}]}`,
		envelope(change(ourNumber, status("wamid.1", "read", ""), status("wamid.9", "played", tagged("msg_0")))),
		envelope(change(ourNumber, status("wamid.1", "failed", `,"errors":[{"code":190},null,{"code":"x"}]`)), change("404", `{}`)),
		envelope(change(ourNumber, "{\"id\":\"\\u0000\xff\",\"status\":\"\\ud800\",\"x\":[[[[]]]]}")),
		envelope(news("messages", "messages", anasProfile, revoke("wamid.r", "wamid.in"), edit("wamid.e", "wamid.in", "new"), hello("wamid.in", "again"))),
		envelope(news("messages", "messages", "", moved("wamid.s", `{"wa_id":"15550003333","user_id":"US.3","type":"user_changed_number"}`))),
		envelope(news("smb_message_echoes", "message_echoes", anasProfile, echo("wamid.o", "text", `"text":{"body":"hi"}`), echo("wamid.p", "image", `"image":{"id":7}`))),
		envelope(news("user_id_update", "user_id_update", "", rotated(`"wa_id":"15550001111",`, "US.13491208655302741918", "US.4"))),
		envelope(news("user_preferences", "user_preferences", anasProfile, wish(`"user_id":"US.9"`, "stop"))),
		envelope(`{"field":"message_template_status_update","value":{"event":"APPROVED","message_template_id":1,"message_template_name":"x","message_template_language":"en"}}`,
			`{"field":"account_update","value":{"event":"ACCOUNT_RESTRICTION","phone_number":"15550100200"}}`),
		envelope(news("messages", "messages", anasProfile, written("wamid.f", "image", `"image":{"id":"77","caption":"x"},"errors":[{"code":131052}]`), written("wamid.g", "video", `"video":{"id":78}`))),
	} {
		f.Add([]byte(seed))
	}
	for name, content := range received {
		f.Add([]byte(envelope(news("messages", "messages", anasProfile, written("wamid."+name, wireType(name), content)))))
	}
	l := newLine(f)
	l.hear(hello("wamid.in", "hi"))
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
		checkWholeness(t, l)
	})
}

// envelope wraps changes in a callback.
func envelope(changes ...string) string {
	return `{"object":"whatsapp_business_account","entry":[{"id":"waba-1","changes":[` + strings.Join(changes, ",") + `]}]}`
}

// wholeness asks for what must never be: pieces that only failed when they were
// written, people without a name, words without their thread, counts that are
// wrong, and events that are no JSON.
const wholeness = `
	SELECT 'failed: ' || field || ' ' || substr(payload, 1, 500) FROM raw_callbacks WHERE reason = 'failed' UNION ALL
	SELECT 'a contact without identity: ' || id FROM contacts WHERE phone_number IS NULL AND bsuid IS NULL UNION ALL
	SELECT 'a message beside its conversation: ' || m.id FROM messages m LEFT JOIN conversations v ON v.id = m.conversation_id WHERE v.contact_id IS NOT m.contact_id UNION ALL
	SELECT 'an empty conversation: ' || id FROM conversations v WHERE NOT EXISTS (SELECT 1 FROM messages WHERE conversation_id = v.id) UNION ALL
	SELECT 'unread: ' || v.unread_count FROM conversations v WHERE unread_count <>
		(SELECT count(*) FROM messages WHERE conversation_id = v.id AND direction = 'inbound' AND type <> 'reaction') UNION ALL
	SELECT 'an event that is no JSON: ' || id FROM events WHERE NOT json_valid(payload)
	LIMIT 5`

// checkWholeness fails the test for what is not as it should be.
func checkWholeness(t testing.TB, l *line) {
	t.Helper()
	for _, fault := range storagetest.Select[string](t, l.dir, wholeness) {
		t.Errorf("%.500s", fault)
	}
}

// TestHostileCallbacksAreTakenAndLeaveNothingHalfDone posts what no provider
// would.
func TestHostileCallbacksAreTakenAndLeaveNothingHalfDone(t *testing.T) {
	l := newLine(t)
	l.hear(hello("wamid.in", "hi"))
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	long := strings.Repeat("é", 1_500_000) // 3 MB
	for name, body := range map[string]string{
		"garbage":              "\x00\xff\xfe garbage",
		"empty":                "",
		"half":                 envelope(news("messages", "messages", anasProfile, hello("wamid.x", "hi")))[:200],
		"not UTF-8":            envelope(news("messages", "messages", anasProfile, hello("wamid.utf8", "hi"))[:len(news("messages", "messages", anasProfile, hello("wamid.utf8", "hi")))-12] + "\xff\"}}]}}"),
		"deep":                 envelope(news("messages", "messages", anasProfile, written("wamid.deep", "text", `"text":{"body":"x","y":`+deep+`}`), hello("wamid.beside", "taken"))),
		"deep frame":           `{"object":"whatsapp_business_account","x":` + deep + `,"entry":[{"changes":[` + news("messages", "messages", anasProfile, hello("wamid.framed", "hi")) + `]}]}`,
		"deeper than Go":       strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000),
		"3 MB text":            envelope(news("messages", "messages", anasProfile, hello("wamid.long", long))),
		"3 MB name":            envelope(news("messages", "messages", `{"profile":{"name":"`+long+`"},"wa_id":"15550001111"}`, hello("wamid.name", "hi"))),
		"3 MB type":            envelope(news("messages", "messages", anasProfile, written("wamid.kind", long, `"x":1`))),
		"no phone at all":      envelope(news("messages", "messages", "", `{"id":"wamid.n","timestamp":"1","type":"text","text":{"body":"x"}}`)),
		"phones that are not":  envelope(news("messages", "messages", "", writtenBy(`"from":"abc"`, "wamid.n", "text", `"text":{"body":"x"}`), writtenBy(`"from":"0000000"`, "wamid.n", "text", `"text":{"body":"x"}`), writtenBy(`"from":""`, "wamid.n", "text", `"text":{"body":"x"}`), writtenBy(`"from":"12345678901234567890"`, "wamid.n", "text", `"text":{"body":"x"}`))),
		"wrong types":          envelope(news("messages", "messages", `7,null,[],{"profile":[]},{"wa_id":{}}`, `7`, `null`, `[]`, `"x"`, `{"id":7}`, `{"id":"a","from":1}`, `{"id":"b","type":[]}`, `{"id":"c","timestamp":{}}`, written("wamid.d", "text", `"text":"x"`), written("wamid.e", "text", `"text":{"body":7}`), written("wamid.f", "image", `"image":[]`), written("wamid.g", "image", `"image":{"caption":7}`), written("wamid.h", "contacts", `"contacts":{}`), written("wamid.i", "reaction", `"reaction":{"emoji":"x"}`), written("wamid.j", "text", `"text":{"body":"x"},"context":7`))),
		"missing fields":       envelope(news("messages", "messages", anasProfile, written("wamid.a", "text", ""), written("wamid.b", "image", ""), written("wamid.c", "interactive", ""), written("", "text", `"text":{"body":"x"}`), written("wamid.d", "", `"text":{"body":"x"}`))),
		"values that are not":  envelope(`{"field":"messages","value":7}`, `{"field":"messages","value":[]}`, `{"field":"messages","value":{"messages":{}}}`, `{"field":"smb_message_echoes","value":null}`, `{"field":"user_id_update","value":{"user_id_update":[[]]}}`, `{"field":"user_preferences","value":{"user_preferences":["x"]}}`, `{"field":7,"value":{}}`, `7`, `null`),
		"entries that are not": `{"object":"whatsapp_business_account","entry":[7,null,[],{"changes":{}},{"changes":null},{"id":{},"time":"x","changes":[` + news("messages", "messages", anasProfile, hello("wamid.odd", "hi")) + `]}]}`,
		"many keys":            envelope(news("messages", "messages", anasProfile, strings.Replace(hello("wamid.dup", "one"), `"id":`, `"id":"wamid.other","id":`, 1))),
		"a thousand":           envelope(news("messages", "messages", anasProfile, thousand()...)),
		"SQL":                  envelope(news("messages", "messages", strings.Replace(anasProfile, "Ana Ruiz", "'; DROP TABLE messages; --", 1), hello("wamid.'; DROP TABLE events; --", "x"))),
	} {
		t.Run(name, func(t *testing.T) {
			code, refused := post(t, l.server, body, sign(body))
			if refused != nil || code != 200 {
				t.Fatalf("%d %v", code, refused)
			}
			checkWholeness(t, l)
		})
	}
	texts := make(map[string]int)
	for _, id := range storagetest.Select[string](t, l.dir, `SELECT provider_id FROM messages`) {
		texts[id]++
	}
	for _, taken := range []string{"wamid.beside", "wamid.long", "wamid.name", "wamid.odd", "wamid.'; DROP TABLE events; --", "wamid.bulk.999"} {
		l.is.Equal(texts[taken], 1)
	}
	for _, refused := range []string{"wamid.deep", "wamid.x", "wamid.n", "wamid.kind", "wamid.a", "wamid.d", ""} {
		l.is.Equal(texts[refused], 0)
	}
	l.is.Equal(l.count("contacts"), 1)
}

// thousand are as many messages as the provider puts into one callback.
func thousand() (all []string) {
	for i := range 1000 {
		id, _ := json.Marshal(i)
		all = append(all, hello("wamid.bulk."+string(id), "hi"))
	}
	return all
}
