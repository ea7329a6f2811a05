package callback

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"confab/jobs/messaging"
	"confab/jobs/provider"
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
		envelope(news("user_preferences", "user_preferences", anasProfile, preference(`"user_id":"US.9"`, "stop"))),
		envelope(`{"field":"message_template_status_update","value":{"event":"APPROVED","message_template_id":1,"message_template_name":"x","message_template_language":"en"}}`,
			`{"field":"account_update","value":{"event":"ACCOUNT_RESTRICTION","phone_number":"15550100200"}}`),
		envelope(news("messages", "messages", anasProfile, written("wamid.f", "image", `"image":{"id":"77","caption":"x"},"errors":[{"code":131052}]`), written("wamid.g", "video", `"video":{"id":78}`))),
	} {
		f.Add([]byte(seed))
	}
	for name, content := range received {
		f.Add([]byte(envelope(news("messages", "messages", anasProfile, written("wamid."+name, wireType(name), content)))))
	}
	w := &worn{root: f.TempDir()}
	f.Cleanup(w.close)
	f.Fuzz(func(t *testing.T, body []byte) {
		w.renew(t)
		code, refused := post(t, w.line.server, string(body), sign(string(body)))
		if refused != nil || code != 200 {
			t.Fatalf("%d %v", code, refused)
		}
		var m storage.Message
		storagetest.View(t, w.line.server.DB, func(rx *storage.Rx) (err error) { m, err = rx.OutboundMessage(w.line.account.ID, w.sent); return err })
		if m.ProviderID == nil || *m.ProviderID != "wamid.1" || storage.NextStatus(m.Status, storage.MessageSent) != m.Status {
			t.Fatalf("the message is %s", m.Status)
		}
		var faults []string
		if err := w.db.Select(&faults, wholeness); err != nil || len(faults) > 0 {
			t.Fatalf("%v %.500q", err, faults)
		}
	})
}

// wornOut is how many callbacks a line takes before there is a new one: to open
// one takes as long as some callbacks, and to look through all that many have
// left takes longer with each.
const wornOut = 100

// worn is a line that is replaced before it has taken too much.
type worn struct {
	root  string
	taken int
	line  *line
	sent  string // a message on its way to Ana, who has written too
	db    *sqlx.DB
}

func (w *worn) renew(t *testing.T) {
	t.Helper()
	if w.taken++; w.taken%wornOut != 1 {
		return
	}
	w.close()
	dir := filepath.Join(w.root, strconv.Itoa(w.taken))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.line = openLine(t, dir)
	w.line.hear(hello("wamid.in", "hi"))
	w.sent = w.line.outbound(w.line.account, "wamid.1")
	w.db = storagetest.Beside(dir)
}

func (w *worn) close() {
	if w.line != nil {
		w.db.Close()
		w.line.server.DB.Close()
		os.RemoveAll(w.line.dir)
	}
}

// FuzzSignature lets anything be the signature of a callback: nothing but the
// digest of its very bytes is taken, however it is written.
func FuzzSignature(f *testing.F) {
	for _, header := range []string{"", "sha256=", sign("{}"), strings.ToUpper(sign("{}")), sign("{}") + "00", "sha256=sha256=", "sha1=00", sign("{}") + ", " + sign("x"), " " + sign("{}")} {
		f.Add(header, "{}")
	}
	believed := func(body, header string) bool {
		signature, ok := parseSignature(header)
		return ok && isSigned([]byte(body), signature, secret)
	}
	f.Fuzz(func(t *testing.T, header, body string) {
		given, prefixed := strings.CutPrefix(header, "sha256=")
		genuine := prefixed && strings.EqualFold(given, strings.TrimPrefix(sign(body), "sha256="))
		if believed(body, header) != genuine {
			t.Errorf("%q is believed to sign %q, or is not", header, body)
		}
		if believed(body+" ", sign(body)) || !believed(body, sign(body)) {
			t.Errorf("%q has another signature than its own", body)
		}
	})
}

// FuzzPerson lets anything be a number or an id of a person: each is left out,
// or kept as the API takes it, and reads again as the same.
func FuzzPerson(f *testing.F) {
	for _, phone := range []string{"", "15550001111", "+15550001111", "++15550001111", "015550001111", "123456", "1234567890123456", "1555000111\n", "١٥٥٥٠٠٠١١١١"} {
		f.Add(phone, "US.13491208655302741918", "US.ENT.1")
	}
	for _, id := range []string{"us.1", "US.", "USA.1", "US.1\n", "US.ENT.ENT.1", "US.ENT.", "US.é", "US." + strings.Repeat("1", 129)} {
		f.Add("15550001111", id, id)
	}
	f.Fuzz(func(t *testing.T, phone, id, parent string) {
		p := messaging.NewPerson(phone, id, parent)
		if again := messaging.NewPerson(p.Phone, p.BSUID, p.Parent); again != p {
			t.Fatalf("%+v reads as %+v", p, again)
		}
		if number, _ := strings.CutPrefix(phone, "+"); p.Phone != "" && p.Phone != "+"+number || p.BSUID != "" && p.BSUID != id || p.Parent != "" && p.Parent != parent && p.Parent != id {
			t.Fatalf("%q, %q and %q became %+v", phone, id, parent, p)
		}
		if length := len(p.Phone); p.Phone != "" && (length < 8 || length > 16 || provider.Digits(p.Phone) != p.Phone[1:]) {
			t.Fatalf("%q is no number", p.Phone)
		}
		if end := lastDigits(phone); len(end) > 8 || !strings.HasSuffix(provider.Digits(phone), end) {
			t.Fatalf("%q ends in %q", phone, end)
		}
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
	SELECT 'an alias beside its account: ' || x.phone_number FROM contact_aliases x JOIN contacts c ON c.id = x.contact_id
		WHERE c.account_id <> x.account_id OR c.phone_number IS NULL UNION ALL
	SELECT 'an alias that is a number: ' || x.phone_number FROM contact_aliases x JOIN contacts c USING (account_id, phone_number) UNION ALL
	SELECT 'an event that is no JSON: ' || id FROM events WHERE NOT json_valid(payload)
	LIMIT 5`

// checkWholeness fails the test if the database is inconsistent.
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
		"many keys":            envelope(news("messages", "messages", anasProfile, storagetest.Swap(t, hello("wamid.dup", "one"), `"id":`, `"id":"wamid.other","id":`))),
		"a thousand":           envelope(news("messages", "messages", anasProfile, thousand()...)),
		"SQL":                  envelope(news("messages", "messages", storagetest.Swap(t, anasProfile, "Ana Ruiz", "'; DROP TABLE messages; --"), hello("wamid.'; DROP TABLE events; --", "x"))),
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
