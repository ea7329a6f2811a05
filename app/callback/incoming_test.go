package callback

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"confab/jobs/messaging"
	"confab/storage"
	"confab/storage/storagetest"
)

// ana is who writes in most tests.
const ana = `"from":"15550001111","from_user_id":"US.13491208655302741918"`

// anasProfile is her as callbacks describe her.
const anasProfile = `{"profile":{"name":"Ana Ruiz"},"wa_id":"15550001111","user_id":"US.13491208655302741918"}`

// written words a message of ana: more is its content, without a comma before it.
func written(wamid, kind, more string) string {
	return writtenBy(ana, wamid, kind, more)
}

func writtenBy(who, wamid, kind, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{%s,"id":%q,"timestamp":"1750030073","type":%q%s}`, who, wamid, kind, more)
}

// hello is a text.
func hello(wamid, body string) string {
	return written(wamid, "text", fmt.Sprintf(`"text":{"body":%q}`, body))
}

// news words a change of a field: list is the name of its items.
func news(field, list, profiles string, items ...string) string {
	return `{"field":"` + field + `","value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550100200","phone_number_id":"` + ourNumber + `"},` +
		`"contacts":[` + profiles + `],"` + list + `":[` + strings.Join(items, ",") + `]}}`
}

// hear posts messages of ana.
func (l *line) hear(messages ...string) {
	l.t.Helper()
	l.post(news("messages", "messages", anasProfile, messages...))
}

// typed lists the events of a type.
func (l *line) typed(kind string) (found []storage.Event) {
	l.t.Helper()
	for _, e := range l.events() {
		described(l.t, e)
		if e.Type == kind {
			found = append(found, e)
		}
	}
	return found
}

// kinds lists the types of all events, in order.
func (l *line) kinds() (all []string) {
	l.t.Helper()
	for _, e := range l.events() {
		all = append(all, e.Type)
	}
	return all
}

// said lists the messages of the line's account, oldest first, with all that is kept of
// them.
func (l *line) said() (all []storage.Message) {
	l.t.Helper()
	storagetest.View(l.t, l.server.DB, func(rx *storage.Rx) (err error) {
		all, _, err = rx.Messages(l.account.ID, storage.MessageFilter{}, storage.First, 1000)
		for i := range all {
			if err == nil {
				all[i], err = rx.Message(l.account.ID, all[i].ID)
			}
		}
		return err
	})
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// thread is the thread of the person with a number.
func (l *line) thread(phone string) (t storage.Thread) {
	l.t.Helper()
	storagetest.View(l.t, l.server.DB, func(rx *storage.Rx) (err error) { t, err = rx.ThreadByPhone(l.account.ID, phone); return err })
	return t
}

// count counts rows of a table.
func (l *line) count(table string) int {
	l.t.Helper()
	return storagetest.Select[int](l.t, l.dir, `SELECT count(*) FROM `+table)[0]
}

// kept lists why changes were only kept, oldest first.
func (l *line) kept() []string {
	l.t.Helper()
	return storagetest.Select[string](l.t, l.dir, `SELECT reason FROM raw_callbacks ORDER BY id`)
}

// state is what a conversation shows of its state.
type state struct {
	Status  string       `db:"status"`
	Unread  int          `db:"unread_count"`
	Message storage.Time `db:"last_message_at"`
	Inbound storage.Time `db:"last_inbound_at"`
	Updated storage.Time `db:"updated_at"`
}

func (l *line) conversation() state {
	l.t.Helper()
	return storagetest.Select[state](l.t, l.dir, `SELECT status, unread_count, last_message_at, last_inbound_at, updated_at FROM conversations`)[0]
}

// hosted lets the line's server name media of its own.
func hosted(l *line) *line {
	l.server.Publisher = messaging.Publisher{PublicURL: "https://confab.test"}
	return l
}

// received are the types of messages that people can send, with their content.
var received = map[string]string{
	"text":         `"text":{"body":"Where is my order? <b>\u00e9</b>"}`,
	"location":     `"location":{"latitude":52.5163,"longitude":13.3777,"name":"Gate","address":"Pariser Platz"}`,
	"contacts":     `"contacts":[{"name":{"formatted_name":"Bo Lind"},"phones":[{"phone":"+1 555-000-2222","wa_id":"15550002222","type":"CELL"}]}]`,
	"button":       `"button":{"payload":"yes","text":"Yes"},"context":{"from":"15550100200","id":"wamid.template"}`,
	"reaction":     `"reaction":{"message_id":"wamid.out","emoji":"👍"}`,
	"order":        `"order":{"catalog_id":"1","text":"Please","product_items":[{"product_retailer_id":"tea","quantity":2,"item_price":7.5,"currency":"USD"}]}`,
	"unsupported":  `"errors":[{"code":131051,"title":"Message type unknown","message":"Message type unknown","error_data":{"details":"Message type is currently not supported."}}],"unsupported":{"type":"edit"}`,
	"poll":         `"poll":{"name":"Tea or coffee?","options":["tea","coffee"]}`,
	"button_reply": `"interactive":{"type":"button_reply","button_reply":{"id":"yes","title":"Yes"}},"context":{"from":"15550100200","id":"wamid.buttons"}`,
	"list_reply":   `"interactive":{"type":"list_reply","list_reply":{"id":"tea","title":"Tea","description":"Green"}},"context":{"from":"15550100200","id":"wamid.list"}`,
	"nfm_reply":    `"interactive":{"type":"nfm_reply","nfm_reply":{"name":"flow","body":"Sent","response_json":"{\"a\":1}"}},"context":{"from":"15550100200","id":"wamid.flow"}`,
}

// wireType is the type that a message of a golden file has.
func wireType(name string) string {
	if strings.HasSuffix(name, "_reply") {
		return "interactive"
	}
	return name
}

func TestEveryTypeOfMessageIsStoredAndTold(t *testing.T) {
	for name, content := range received {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			kind := wireType(name)
			l.hear(written("wamid.in", kind, content))
			l.is.Equal(l.kinds(), []string{"contact.created", "message.received"})
			e := l.typed("message.received")[0]
			l.is.Equal(e.EventID, "wamid.in")
			l.is.Equal(e.Source, "provider")
			goldenEvent(t, "message_received_"+name, e)

			m := l.said()[0]
			l.is.Equal(m.Type, kind)
			l.is.Equal(m.Direction, storage.Inbound)
			l.is.Equal(m.Status, storage.MessageDelivered)
			l.is.Equal(m.SentAt, storage.Time(1750030073000))
			l.is.Equal(*m.PhoneNumber, "+15550001111")
			want := content[strings.Index(content, `"`+kind+`":`)+len(kind)+3:]
			l.is.True(strings.HasPrefix(want, string(m.Content))) // exactly as it came
			l.is.Equal(m.MediaStatus, nil)
			l.is.Equal(len(l.kept()), 0)
		})
	}
}

func TestAReplySaysWhatItAnswers(t *testing.T) {
	l := newLine(t)
	l.hear(written("wamid.1", "text", `"text":{"body":"yes"},"context":{"from":"15550100200","id":"wamid.out","referred_product":{"catalog_id":"1"}}`),
		written("wamid.2", "text", `"text":{"body":"fw"},"context":{"forwarded":true}`), hello("wamid.3", "plain"))
	l.is.Equal(string(l.said()[0].Context), `{"message_id":"wamid.out","from":"15550100200","id":"wamid.out","referred_product":{"catalog_id":"1"}}`)
	l.is.Equal(string(l.said()[1].Context), `{"forwarded":true}`)
	l.is.Equal(l.said()[2].Context, nil)
}

func TestAReactionThatIsTakenBackHasNoEmoji(t *testing.T) {
	for name, emoji := range map[string]string{"left out": "", "null": `,"emoji":null`, "empty": `,"emoji":""`} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			l.hear(written("wamid.in", "reaction", `"reaction":{"message_id":"wamid.out"`+emoji+`}`))
			l.is.True(strings.Contains(string(l.said()[0].Content), `"emoji":""`))
			l.is.True(strings.Contains(string(l.typed("message.received")[0].Payload), `"emoji":""`))
		})
	}
}

func TestWhatCannotBeShownSaysWhatItWas(t *testing.T) {
	for given, want := range map[string]string{
		`"unsupported":{"type":"poll_creation"}`: `{"type":"poll_creation"}`,
		`"errors":[{"code":131060}]`:             `{"type":"unknown"}`,
		`"unsupported":null`:                     `{"type":"unknown"}`,
		`"unsupported":{"more":1}`:               `{"type":"unknown","more":1}`,
		`"unsupported":{"type":"","raw":[1, 2]}`: `{"type":"unknown","raw":[1, 2]}`,
		`"unsupported":"edit"`:                   `{"type":"unknown"}`,
	} {
		t.Run(given, func(t *testing.T) {
			l := newLine(t)
			l.hear(written("wamid.in", "unsupported", given))
			l.is.Equal(string(l.said()[0].Content), want)
			value := valueOf(l, l.typed("message.received")[0].Payload)
			var reported any
			l.is.NoErr(json.Unmarshal([]byte(want), &reported))
			l.is.Equal(value["messages"].([]any)[0].(map[string]any)["unsupported"], reported)
		})
	}
}
