package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage/storagetest"
)

func TestIgnoredFieldsAreNotStored(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	junk := `"x":"` + strings.Repeat("x", 200_000) + `"`
	body := message("text", `{`+junk+`,"body":"Hi","more":[{`+junk+`}]}`)
	sent := f.call("POST", "/"+number+"/messages", body, "Idempotency-Key: k")
	is.Equal(sent.status, 200)
	is.Equal(sent.get("data.text"), map[string]any{"body": "Hi"})
	is.Equal(f.call("GET", "/"+number+"/messages/"+sent.text("data.id"), "").get("data.text"), map[string]any{"body": "Hi"})
	for _, table := range []string{"messages", "jobs", "events"} {
		column := map[string]string{"messages": "content", "jobs": "args", "events": "payload"}[table]
		for _, size := range storagetest.Select[int](t, f.dir, `SELECT length(`+column+`) FROM `+table) {
			is.True(size < 10_000)
		}
	}
	is.True(storagetest.Select[int](t, f.dir, `SELECT max(length(body)) FROM idempotency`)[0] < 10_000)
}

func TestAContentIsKeptAsItWasSent(t *testing.T) {
	for _, tt := range []struct{ kind, sent, kept string }{
		{"text", `{"body":"Hi"}`, `{"body":"Hi"}`},
		{"text", `{ "preview_url" : true,  "body":"\u00e9\n" }`, `{"preview_url":true,"body":"\u00e9\n"}`}, // order and escapes too
		{"text", `{"Body":"no","body":"yes","BODY":"no"}`, `{"body":"yes"}`},
		{"text", `{"body":"one","preview_url":false,"body":"two"}`, `{"preview_url":false,"body":"two"}`},
		{"text", `{"body":"Hi","preview_url":null}`, `{"body":"Hi"}`},
		{"image", `{"id":"m","caption":"c","filename":"f","voice":true}`, `{"id":"m","caption":"c"}`},
		{"document", `{"link":"https://x.y/z","filename":"f","sha256":"s"}`, `{"link":"https://x.y/z","filename":"f"}`},
		{"audio", `{"id":"m","voice":true,"caption":"none"}`, `{"id":"m","voice":true}`},
		{"reaction", `{"message_id":"w","emoji":"","x":{}}`, `{"message_id":"w","emoji":""}`},
		{"interactive", `{"type":"button","header":{"type":"text","text":"h","image":{"id":"i"}},"body":{"text":"b","x":1},"x":2,
			"action":{"name":"no","buttons":[{"type":"reply","x":[],"reply":{"id":"1","title":"t"}}],"sections":[{"title":"no"}]}}`,
			`{"type":"button","header":{"type":"text","text":"h"},"body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}`},
		{"interactive", `{"type":"button","header":{"type":"image","text":"no","image":{"id":"i","x":1}},"body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}`,
			`{"type":"button","header":{"type":"image","image":{"id":"i"}},"body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}`},
		{"template", `{"name":" t ","language":{"policy":"deterministic","code":"en","x":{}},"namespace":"n"}`, `{"name":" t ","language":{"code":"en"}}`},
		{"template", `{"name":"t","language":"en-US","components":[]}`, `{"name":"t","language":"en-US","components":[]}`},
		{"template", fillFrame + `{"type":"body","index":3,"cards":[],"parameters":[{"type":"text","text":"a","payload":"no","x":1}]},
			{"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"b"}]}]}`,
			fillFrame + `{"type":"body","parameters":[{"type":"text","text":"a"}]},{"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"b"}]}]}`},
		{"template", fillFrame + `{"type":"button","sub_type":"flow","index":0,"parameters":[{"type":"action","action":{ "anything" : [1, {"a":"b"}]}}]}]}`,
			fillFrame + `{"type":"button","sub_type":"flow","index":0,"parameters":[{"type":"action","action":{"anything":[1,{"a":"b"}]}}]}]}`},
		{"template", fillFrame + `{"type":"header","parameters":[{"type":"location","location":{"latitude":"1.50","longitude":2e0,"x":1}}]}]}`,
			fillFrame + `{"type":"header","parameters":[{"type":"location","location":{"latitude":"1.50","longitude":2e0}}]}]}`},
		{"template", fillFrame + `{"type":"carousel","parameters":[{"type":"text","text":"no"}],"cards":[{"card_index":"0","x":1,"components":[{"type":"body","x":2}]}]}]}`,
			fillFrame + `{"type":"carousel","cards":[{"card_index":"0","components":[{"type":"body"}]}]}]}`},
	} {
		is := is.New(t)
		kept := accept(t, message(tt.kind, tt.sent)).Outgoing().Content
		is.Equal(string(kept), tt.kept)
		is.True(json.Valid(kept))
	}
}

// What the provider gets does not depend on how it was written.
func TestTheProviderGetsALanguageAsText(t *testing.T) {
	is := is.New(t)
	for _, language := range []string{`"en_US"`, `{"code":"en_US","policy":"x"}`} {
		wire, err := accept(t, message("template", `{"name":" t ","language":`+language+`}`)).ProviderContent()
		is.NoErr(err)
		is.Equal(string(wire), `{"name":"t","language":"en_US"}`)
	}
}
