package api

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"

	"confab/app/api/content"
	"confab/app/api/rest"
)

// FuzzMessageBody takes any body: it is refused in words that a client can use,
// or what goes to the provider says the same as the body did.
func FuzzMessageBody(f *testing.F) {
	for _, body := range fileOf {
		f.Add([]byte(body(`{"id":"med_1","caption":"c","filename":"f"}`)))
		f.Add([]byte(body(`{"link":"https://x.y/a.png"}`)))
	}
	for kind := range actions {
		f.Add([]byte(tapped(kind, `,"body":{"text":"b"},"header":{"type":"text","text":"h"},"footer":{"text":"f"}`)))
	}
	for _, parameter := range sampleParameters {
		f.Add([]byte(message("template", fillFrame+headerOf(parameter)+`,`+bodyOf(parameter)+`,`+url0+`,`+code3+`,`+until+`]}`)))
		f.Add([]byte(message("template", fillFrame+`{"type":"button","sub_type":"flow","index":"1","parameters":[`+parameter+`]}]}`)))
	}
	for _, l := range textLimits {
		f.Add([]byte(l.with(`"https://x.y"`)))
		f.Add([]byte(l.with(`null`)))
	}
	f.Add([]byte(`{"status":"read","message_id":"a","typing_indicator":{"type":"text"}}`))
	f.Add([]byte(`{"messaging_product":"chat","recipient":"US.ENT.1","type":"reaction","reaction":{"message_id":"a","emoji":""}}`))
	f.Add([]byte(message("template", fillFrame+bodyOf(textA)+`,`+cardsOf(first, second)+`]}`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) == 0 || !utf8.Valid(body) || !json.Valid(body) || body[0] != '{' {
			return // refused before
		}
		in, err := readMessage(string(body))
		if e, ok := errors.AsType[*rest.Error](err); err != nil {
			if !ok || e.Param == "" || e.Status() != 400 {
				t.Fatalf("no words for a client: %v", err)
			}
			return
		}
		if r, ok := in.ReadReceipt(); ok {
			if r.MessageID == "" {
				t.Fatal("a receipt for nothing")
			}
			return
		}
		sameOnTheWire(t, in)
	})
}

// sameOnTheWire checks that the provider is sent what the body says, and that
// no stored template makes the body a panic.
func sameOnTheWire(t *testing.T, in *content.MessageBody) {
	s := in.Outgoing()
	if (s.To == "") == (s.Recipient == "") || !json.Valid(s.Content) {
		t.Fatalf("half a send: %+v", s)
	}
	wire, err := in.ProviderContent()
	if err != nil {
		t.Fatal(err)
	}
	kept := accept(t, message(s.Type, string(s.Content)))
	if same, err := kept.ProviderContent(); err != nil || string(same) != string(wire) || string(kept.Outgoing().Content) != string(s.Content) {
		t.Fatalf("what is kept, %s, would be sent as %s, not %s", s.Content, same, wire)
	}
	next := accept(t, message(s.Type, string(wire)))
	again := next.Outgoing()
	if !reflect.DeepEqual(s.Media, again.Media) || !reflect.DeepEqual(s.Body, again.Body) {
		t.Fatalf("%s became %s", s.Content, wire)
	}
	if twice, err := next.ProviderContent(); err != nil || string(twice) != string(wire) {
		t.Fatalf("%s became %s", wire, twice)
	}
	if s.Template == nil {
		return
	}
	if s.Template.Name != again.Template.Name || s.Template.Language != again.Template.Language {
		t.Fatalf("%s became %s", s.Content, wire)
	}
	for _, stored := range storedTemplates {
		err := parsed(t, stored).CheckParameters(s.Template.Components)
		if e, ok := errors.AsType[*rest.Error](err); err != nil && (!ok || e.Code != rest.InvalidFieldValue || e.Param == "") {
			t.Fatalf("no words for a client: %v", err)
		}
		parsed(t, stored).Render(s.Template.Components)
	}
}
