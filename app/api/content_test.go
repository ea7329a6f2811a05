package api

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/storage/storagetest"
)

// readMessage takes a body the way that a request does.
func readMessage(body string) (*content.MessageBody, error) {
	var in content.MessageBody
	r := rest.Request{Body: []byte(body)}
	err := r.Decode(&in)
	return &in, err
}

// verdict is an error's code and param, and "" for none. The message has to
// name the param.
func verdict(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	e, ok := errors.AsType[*rest.Error](err)
	if !ok || e.Status() != 400 || !strings.HasPrefix(e.Message, e.Param+" ") || !strings.HasSuffix(e.Message, ".") {
		t.Fatalf("not an error for clients: %v", err)
	}
	return e.Code.Name + " " + e.Param
}

// judge is the verdict on a body.
func judge(t testing.TB, body string) string {
	t.Helper()
	_, err := readMessage(body)
	return verdict(t, err)
}

// message is a body with content of a type, as JSON.
func message(kind, content string) string {
	return `{"messaging_product":"chat","to":"+15551234567","type":"` + kind + `","` + kind + `":` + content + `}`
}

// accept reads a body that must be right.
func accept(t testing.TB, body string) *content.MessageBody {
	t.Helper()
	in, err := readMessage(body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return in
}

// ruling is a piece of JSON and the answer to it.
type ruling struct{ in, want string }

// judgeAll puts each piece into a body and asks for the verdict, which the
// served API has to uphold.
func judgeAll(t *testing.T, body func(string) string, rulings []ruling) {
	t.Helper()
	f, _ := serveNumber(t)
	for _, tt := range rulings {
		t.Run(tt.in, func(t *testing.T) {
			is := is.New(t)
			is.Equal(judge(t, body(tt.in)), tt.want)
			f.in(t).uphold(body(tt.in), tt.want)
		})
	}
}

func TestTheEnvelopeOfASend(t *testing.T) {
	const rest = `,"text":{"body":"x"}}`
	judgeAll(t, func(in string) string { return in }, []ruling{
		{`{}`, "missing_required_field type"},
		{`{"type":null,"status":null}`, "missing_required_field type"},
		{`{"messaging_product":"chat","to":"+15551234567"` + rest, "missing_required_field type"},
		{`{"to":"+15551234567","type":"text"` + rest, "missing_required_field messaging_product"},
		{`{"messaging_product":null,"to":"+15551234567","type":"text"` + rest, "missing_required_field messaging_product"},
		{`{"messaging_product":"","to":"+15551234567","type":"text"` + rest, "invalid_field_value messaging_product"},
		{`{"messaging_product":"whatsapp","to":"+15551234567","type":"text"` + rest, "invalid_field_value messaging_product"},
		{`{"messaging_product":1,"to":"+15551234567","type":"text"` + rest, "invalid_field_value messaging_product"},
		{`{"messaging_product":"chat","recipient_type":"individual","to":"15551234567","type":"text"` + rest, ""},
		{`{"messaging_product":"chat","recipient_type":null,"to":"15551234567","type":"text"` + rest, ""},
		{`{"messaging_product":"chat","recipient_type":"group","to":"15551234567","type":"text"` + rest, "invalid_field_value recipient_type"},
		{`{"messaging_product":"chat","recipient_type":"","to":"15551234567","type":"text"` + rest, "invalid_field_value recipient_type"},
		{`{"messaging_product":"chat","recipient_type":[],"to":"15551234567","type":"text"` + rest, "invalid_field_value recipient_type"},
		{`{"messaging_product":"chat","to":"15551234567","type":""` + rest, "invalid_field_value type"},
		{`{"messaging_product":"chat","to":"15551234567","type":"sticker"` + rest, "invalid_field_value type"},
		{`{"messaging_product":"chat","to":"15551234567","type":"Text"` + rest, "invalid_field_value type"},
		{`{"messaging_product":"chat","to":"15551234567","type":5` + rest, "invalid_field_value type"},
		{`{"messaging_product":"chat","to":"15551234567","type":"text","image":5,"unknown":{"a":[]}` + rest, ""}, // of another type
		{`{"type":"text","status":"read","message_id":"wamid.x"}`, "missing_required_field messaging_product"},   // a type makes it a send
		{`{"recipient_type":"group","type":"x"}`, "missing_required_field messaging_product"},                    // the first rule wins
		{`{"messaging_product":"chat","recipient_type":"group","type":"x"}`, "invalid_field_value recipient_type"},
		{`{"messaging_product":"chat","type":"x","context":{}}`, "missing_required_field to"},
		{`{"messaging_product":"chat","to":"15551234567","type":"x","context":{}}`, "missing_required_field context.message_id"},
	})
}

func TestTheRecipientIsANumberOrABSUID(t *testing.T) {
	longest := strings.Repeat("a", 128)
	body := func(in string) string {
		return `{"messaging_product":"chat","type":"text","text":{"body":"x"},"unknown":1` + in + `}`
	}
	judgeAll(t, body, []ruling{
		{``, "missing_required_field to"},
		{`,"to":null`, "missing_required_field to"},
		{`,"to":null,"recipient":null`, "missing_required_field to"},
		{`,"to":""`, "invalid_phone_number to"},
		{`,"to":"","recipient":"US.1349"`, "invalid_phone_number to"},
		{`,"to":"1234567"`, ""},
		{`,"to":"123456"`, "invalid_phone_number to"},
		{`,"to":"+123456789012345"`, ""},
		{`,"to":"+1234567890123456"`, "invalid_phone_number to"},
		{`,"to":"+1 555 123 4567"`, "invalid_phone_number to"},
		{`,"to":"US.1349"`, "invalid_phone_number to"},
		{`,"to":15551234567`, "invalid_field_value to"},
		{`,"recipient":"US.1349"`, ""},
		{`,"recipient":"US.ENT.1349abcXYZ"`, ""},
		{`,"to":null,"recipient":"US.` + longest + `"`, ""},
		{`,"recipient":"US.` + longest + `a"`, "invalid_field_value recipient"},
		{`,"recipient":"US.ENT.` + longest + `"`, ""},
		{`,"recipient":"US.ENT.` + longest + `a"`, "invalid_field_value recipient"},
		{`,"recipient":""`, "invalid_field_value recipient"},
		{`,"recipient":"us.1349"`, "invalid_field_value recipient"},
		{`,"recipient":"USA.1349"`, "invalid_field_value recipient"},
		{`,"recipient":"US.13_49"`, "invalid_field_value recipient"},
		{`,"recipient":"US.1349\n"`, "invalid_field_value recipient"},
		{`,"recipient":"+15551234567"`, "invalid_field_value recipient"},
		{`,"recipient":7`, "invalid_field_value recipient"},
		{`,"to":"15551234567","recipient":"US.1349"`, ""},
		{`,"to":"15551234567","recipient":"?"`, ""}, // with a number it is not looked at
	})
}

func TestAReplyNamesItsMessage(t *testing.T) {
	body := func(in string) string {
		return strings.TrimSuffix(message("text", `{"body":"x"}`), "}") + `,"context":` + in + `}`
	}
	judgeAll(t, body, []ruling{
		{`null`, ""},
		{`{"message_id":"wamid.x"}`, ""},
		{`{}`, "missing_required_field context.message_id"},
		{`{"message_id":null}`, "missing_required_field context.message_id"},
		{`{"message_id":""}`, "invalid_field_value context.message_id"},
		{`{"message_id":5}`, "invalid_field_value context.message_id"},
		{`"wamid.x"`, "invalid_field_value context"},
	})
	is := is.New(t)
	is.Equal(judge(t, strings.TrimSuffix(message("reaction", `{"message_id":"a","emoji":"👍"}`), "}")+`,"context":{"message_id":"a"}}`), "invalid_field_value context")
}

func TestAReadReceiptNamesItsMessage(t *testing.T) {
	judgeAll(t, func(in string) string { return in }, []ruling{
		{`{"status":"read","message_id":"wamid.x"}`, ""},
		{`{"messaging_product":"chat","status":"read","message_id":"wamid.x"}`, ""},
		{`{"messaging_product":"whatsapp","status":"read","message_id":"wamid.x"}`, "invalid_field_value messaging_product"},
		{`{"messaging_product":"","status":"read","message_id":"wamid.x"}`, "invalid_field_value messaging_product"},
		{`{"status":"","message_id":"wamid.x"}`, "invalid_field_value status"},
		{`{"status":"delivered","message_id":"wamid.x"}`, "invalid_field_value status"},
		{`{"status":true,"message_id":"wamid.x"}`, "invalid_field_value status"},
		{`{"status":"read"}`, "missing_required_field message_id"},
		{`{"status":"read","message_id":null}`, "missing_required_field message_id"},
		{`{"status":"read","message_id":""}`, "invalid_field_value message_id"},
		{`{"status":"read","message_id":5}`, "invalid_field_value message_id"},
		{`{"status":"read","message_id":"wamid.x","typing_indicator":null}`, ""},
		{`{"status":"read","message_id":"wamid.x","typing_indicator":{"type":"text"}}`, ""},
		{`{"status":"read","message_id":"wamid.x","typing_indicator":{}}`, "missing_required_field typing_indicator.type"},
		{`{"status":"read","message_id":"wamid.x","typing_indicator":{"type":null}}`, "missing_required_field typing_indicator.type"},
		{`{"status":"read","message_id":"wamid.x","typing_indicator":{"type":""}}`, "invalid_field_value typing_indicator.type"},
		{`{"status":"read","message_id":"wamid.x","typing_indicator":{"type":"audio"}}`, "invalid_field_value typing_indicator.type"},
		{`{"status":"read","message_id":"wamid.x","typing_indicator":{"type":1}}`, "invalid_field_value typing_indicator.type"},
		{`{"status":"read","message_id":"wamid.x","typing_indicator":true}`, "invalid_field_value typing_indicator"},
		{`{"status":"read","message_id":"wamid.x","to":"nobody","context":{}}`, ""}, // of sends
	})
	is := is.New(t)
	r, ok := accept(t, `{"status":"read","message_id":"wamid.x"}`).ReadReceipt()
	is.True(ok)
	is.Equal(r, content.ReadReceipt{MessageID: "wamid.x"})
	r, _ = accept(t, `{"status":"read","message_id":"wamid.x","typing_indicator":{"type":"text"}}`).ReadReceipt()
	is.True(r.Typing)
	_, ok = accept(t, message("text", `{"body":"x"}`)).ReadReceipt()
	is.True(!ok)
}

func TestContentMustBeThereAndBeAnObject(t *testing.T) {
	for _, kind := range content.MessageTypes {
		is := is.New(t)
		is.Equal(judge(t, message(kind, `null`)), "missing_required_field "+kind)
		is.Equal(judge(t, storagetest.Swap(t, message(kind, `{}`), `"`+kind+`":{`, `"other":{`)), "missing_required_field "+kind)
		for _, wrong := range []string{`"x"`, `[]`, `5`, `true`, `""`} {
			is.Equal(judge(t, message(kind, wrong)), "invalid_field_value "+kind)
		}
	}
}

func TestASendSaysToWhomAndInReplyToWhat(t *testing.T) {
	is := is.New(t)
	s := accept(t, `{"messaging_product":"chat","to":"15551234567","recipient":"US.1","type":"text","text":{"body":"x"},"context":{"message_id":"wamid.y"}}`).Outgoing()
	is.Equal(s.To, "+15551234567")
	is.Equal(s.Recipient, "") // to wins
	is.Equal(*s.ReplyTo, "wamid.y")
	s = accept(t, `{"messaging_product":"chat","recipient":"US.ENT.1","type":"text","text":{"body":"x"}}`).Outgoing()
	is.Equal(s.To, "")
	is.Equal(s.Recipient, "US.ENT.1")
	is.Equal(s.ReplyTo, nil)
}

func TestContentIsSentWithoutWhatIsUnknown(t *testing.T) {
	tests := []struct{ kind, content, wire string }{
		{"text", `{ "body" : "a\u00e9\n<b>", "BODY":5, "extra":[ 1 ], "preview_url":null}`, `{"body":"aé\n<b>"}`},
		{"text", `{"body":"a","body":"b","preview_url":false}`, `{"body":"b","preview_url":false}`},
		{"audio", `{"id":"med_1","caption":5,"voice":true}`, `{"id":"med_1","voice":true}`},
		{"image", `{"id":"med_1","caption":"c","filename":5}`, `{"id":"med_1","caption":"c"}`},
		{"document", `{"link":"https://x.y/?a=1&b=2","filename":"f","x":{}}`, `{"link":"https://x.y/?a=1&b=2","filename":"f"}`},
		{"reaction", `{"message_id":"a","emoji":"","emojis":[]}`, `{"message_id":"a","emoji":""}`},
		{"template", `{"name":" a ","language":{"code":"en","policy":"deterministic"}}`, `{"name":"a","language":"en"}`},
		{"template", `{"name":"a","language":"en","components":[{"type":"body","index":5,"cards":[],"parameters":[{"type":"text","text":"x","image":{"id":"med_1"}}]}]}`,
			`{"name":"a","language":"en","components":[{"type":"body","parameters":[{"type":"text","text":"x"}]}]}`},
		{"template", `{"name":"a","language":"en","components":[{"type":"button","sub_type":"flow","index":"0","parameters":[{"type":"action","action":{"flow_action_data":{"X":[1]}}}]}]}`,
			`{"name":"a","language":"en","components":[{"type":"button","sub_type":"flow","index":0,"parameters":[{"type":"action","action":{"flow_action_data":{"X":[1]}}}]}]}`},
		{"interactive", `{"type":"cta_url","header":{"type":"text","text":"h","image":{}},"body":{"text":"b"},"action":{"name":"cta_url","parameters":{"display_text":"d","url":"https://x.y"},"buttons":[]}}`,
			`{"type":"cta_url","header":{"type":"text","text":"h"},"body":{"text":"b"},"action":{"name":"cta_url","parameters":{"display_text":"d","url":"https://x.y"}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.content, func(t *testing.T) {
			is := is.New(t)
			in := accept(t, message(tt.kind, tt.content))
			wire, err := in.ProviderContent()
			is.NoErr(err)
			is.Equal(decoded(t, wire), decoded(t, []byte(tt.wire)))
		})
	}
}

// decoded is JSON without its spelling.
func decoded(t testing.TB, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
