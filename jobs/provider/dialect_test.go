package provider

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestOurDialectBecomesTheProviders(t *testing.T) {
	for _, test := range []struct{ name, ours, theirs string }{
		{"text", `{"messaging_product":"chat","to":"+1","type":"text","text":{"body":"hi"}}`,
			`{"messaging_product":"whatsapp","to":"+1","type":"text","text":{"body":"hi"}}`},
		{"read receipt", `{"messaging_product":"chat","status":"read","message_id":"wamid.1","typing_indicator":{"type":"text"}}`,
			`{"messaging_product":"whatsapp","status":"read","message_id":"wamid.1","typing_indicator":{"type":"text"}}`},
		{"reply buttons", `{"messaging_product":"chat","type":"interactive","interactive":{"type":"reply_buttons","body":{"text":"x"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"reply_buttons"}}]}}}`,
			`{"messaging_product":"whatsapp","type":"interactive","interactive":{"type":"button","body":{"text":"x"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"reply_buttons"}}]}}}`},
		{"alias of reply buttons", `{"interactive":{"type":"button"}}`, `{"interactive":{"type":"button"}}`},
		{"other interactive", `{"interactive":{"type":"list","header":{"type":"reply_buttons"}}}`, `{"interactive":{"type":"list","header":{"type":"reply_buttons"}}}`},
		{"template", `{"template":{"name":"x","language":"en_US","components":[]}}`, `{"template":{"name":"x","language":{"code":"en_US"},"components":[]}}`},
		{"template with an object", `{"template":{"language":{"code":"en_US","policy":"deterministic"}}}`, `{"template":{"language":{"code":"en_US","policy":"deterministic"}}}`},
		{"language of something else", `{"language":"en_US","text":{"language":"en"}}`, `{"language":"en_US","text":{"language":"en"}}`},
		{"words of a user", `{"messaging_product":"chat","text":{"body":"chat","messaging_product":"chat","object":"chat_business_account"}}`,
			`{"messaging_product":"whatsapp","text":{"body":"chat","messaging_product":"chat","object":"chat_business_account"}}`},
		{"data of a flow", `{"interactive":{"type":"flow","action":{"parameters":{"flow_action_payload":{"data":{"messaging_product":"chat","interactive":{"type":"reply_buttons"}}}}}}}`,
			`{"interactive":{"type":"flow","action":{"parameters":{"flow_action_payload":{"data":{"messaging_product":"chat","interactive":{"type":"reply_buttons"}}}}}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			got, err := ToProvider([]byte(test.ours))
			is.NoErr(err)
			is.Equal(string(got), test.theirs)
		})
	}
}

func TestTheProvidersDialectBecomesOurs(t *testing.T) {
	fault := func(product string) string {
		return `[{"code":131047,"title":"Re-engagement message","error_data":{"messaging_product":"` + product + `","details":"whatsapp"},"href":"https:\/\/developers.facebook.com\/docs\/whatsapp\/"}]`
	}
	value := func(value string) string {
		return `{"object":"OBJECT","entry":[{"id":"7","changes":[{"value":` + value + `,"field":"messages"}]}]}`
	}
	for _, test := range []struct{ name, doc string }{
		{"text", value(`{"messaging_product":"PRODUCT","metadata":{"display_phone_number":"1","phone_number_id":"2"},"contacts":[{"profile":{"name":"whatsapp"},"wa_id":"1"}],"messages":[{"from":"1","id":"wamid.1","timestamp":"1","type":"text","text":{"body":"whatsapp"}}]}`)},
		{"text that looks like an envelope", value(`{"messaging_product":"PRODUCT","messages":[{"type":"text","text":{"body":"{\"messaging_product\":\"whatsapp\"}"}}]}`)},
		{"reply of a flow", value(`{"messaging_product":"PRODUCT","messages":[{"interactive":{"type":"nfm_reply","nfm_reply":{"messaging_product":"whatsapp","response_json":"{\"object\":\"whatsapp_business_account\"}"}}}]}`)},
		{"status", value(`{"messaging_product":"PRODUCT","statuses":[{"id":"wamid.1","status":"sent","biz_opaque_callback_data":"whatsapp","pricing":{"billable":true}}]}`)},
		{"failed status", value(`{"messaging_product":"PRODUCT","statuses":[{"status":"failed","errors":` + fault("PRODUCT") + `}]}`)},
		{"unsupported message", value(`{"messaging_product":"PRODUCT","messages":[{"type":"unsupported","errors":` + fault("PRODUCT") + `}]}`)},
		{"errors of the account", value(`{"messaging_product":"PRODUCT","errors":` + fault("PRODUCT") + `}`)},
		{"echo", value(`{"messaging_product":"PRODUCT","message_echoes":[{"type":"text","text":{"body":"whatsapp"},"errors":` + fault("PRODUCT") + `}]}`)},
		{"history", value(`{"messaging_product":"PRODUCT","history":[{"errors":` + fault("PRODUCT") + `}]}`)},
		{"template review", value(`{"event":"APPROVED","message_template_id":594425479261596,"message_template_name":"whatsapp"}`)},
		{"several entries", `{"object":"OBJECT","entry":[{"changes":[{"value":{"messaging_product":"PRODUCT"}},{"value":{"messaging_product":"PRODUCT"}}]},{"changes":[{"value":{"messaging_product":"PRODUCT"}}]}]}`},
		{"oddly written", "\n{ \"object\" :\t\"OBJECT\" , \"n\":[1.50,1e5,-0.0,12345678901234567890,true,null,\"\\u00e9\\/\"] ,\"z\":{},\"a\":[ ] }\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			theirs := strings.NewReplacer("PRODUCT", theirProduct, "OBJECT", theirObject).Replace(test.doc)
			ours := strings.NewReplacer("PRODUCT", ourProduct, "OBJECT", ourObject).Replace(test.doc)
			is.True(theirs != ours) // there is something to translate
			got, err := translate([]byte(theirs), fromProvider)
			is.NoErr(err)
			is.Equal(string(got), ours)
		})
	}
}

func TestEscapedWordsAreRecognized(t *testing.T) {
	is := is.New(t)
	got, err := translate([]byte(`{"\u006fbject":"whatsapp\u005fbusiness_account","messaging_product":"\u0057hatsapp"}`), fromProvider)
	is.NoErr(err)
	is.Equal(string(got), `{"\u006fbject":"chat_business_account","messaging_product":"\u0057hatsapp"}`) // a capital W is another word
}

func TestNothingToTranslateIsNothingChanged(t *testing.T) {
	for _, doc := range []string{
		`{}`, `[]`, `null`, `"whatsapp"`, `12`, `{"messaging_product":7,"object":null,"entry":{"*":{"changes":[]}}}`, `{"object":["whatsapp_business_account"]}`,
		`{"entry":[[{"changes":1}]],"messaging_product":{"a":"whatsapp"}}`, `{"messaging_product":"WhatsApp"}`, `{"errors":{"*":{"error_data":{"messaging_product":"whatsapp"}}}}`,
		`{"a.b":1,"":{"messaging_product":"whatsapp"}}`, `{"interactive":"reply_buttons","template":["x"]}`,
	} {
		t.Run(doc, func(t *testing.T) {
			is := is.New(t)
			for _, rules := range []*node{fromProvider, toProvider} {
				got, err := translate([]byte(doc), rules)
				is.NoErr(err)
				is.Equal(string(got), doc)
			}
		})
	}
}

func TestWhatIsNotJSONIsNotTranslated(t *testing.T) {
	is := is.New(t)
	for _, doc := range []string{``, `{`, `{"object":"whatsapp_business_account"`, `{} {}`, `{"a":}`, "\xff", `{'object':1}`} {
		_, err := translate([]byte(doc), fromProvider)
		is.Equal(err, ErrNotJSON)
		_, err = ToProvider([]byte(doc))
		is.Equal(err, ErrNotJSON)
	}
}

func TestDepthCostsNothing(t *testing.T) {
	is := is.New(t)
	deep := `{"object":"whatsapp_business_account","x":` + strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000) + `}`
	got, err := translate([]byte(deep), fromProvider)
	is.NoErr(err)
	is.Equal(string(got), strings.Replace(deep, theirObject, ourObject, 1))
}

// TestTheDialectsMeetInOneFile keeps the words of both dialects in dialect.go.
func TestTheDialectsMeetInOneFile(t *testing.T) {
	is := is.New(t)
	files, err := filepath.Glob("*.go")
	is.NoErr(err)
	is.True(slices.Contains(files, "dialect.go") && len(files) > 10)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "dialect.go" {
			continue
		}
		source, err := os.ReadFile(file)
		is.NoErr(err)
		for _, word := range []string{theirProduct, theirObject, ourProduct, ourObject, ourButtons} {
			if strings.Contains(string(source), `"`+word+`"`) {
				t.Errorf("%s says %q", file, word)
			}
		}
	}
}

func BenchmarkToProvider(b *testing.B) {
	doc := []byte(`{"messaging_product":"chat","recipient_type":"individual","to":"+16505551234","type":"text","text":{"body":"hello there","preview_url":true}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ToProvider(doc); err != nil {
			b.Fatal(err)
		}
	}
}

// translate is rewrite for a document that may be anything.
func translate(doc []byte, rules *node) ([]byte, error) {
	if !json.Valid(doc) {
		return nil, ErrNotJSON
	}
	return rewrite(doc, rules), nil
}
