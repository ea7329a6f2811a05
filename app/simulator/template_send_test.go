package simulator

import (
	"testing"
)

// fillingCase is what a message gives to a template, and how it is refused.
type fillingCase struct {
	name, template string
	components     []object
	code, details  string
}

// checkFillings sends each case.
func checkFillings(t *testing.T, cases []fillingCase) {
	b := newBench(t)
	for _, tmpl := range sendTemplates() {
		tmpl.Language, tmpl.Category = "en_US", "MARKETING"
		_, err := b.s.AddTemplate(b.number.WABAID, tmpl)
		b.NoErr(err)
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			is := b.New(t)
			r := b.send(object{"to": "16505551234", "type": "template", "template": object{
				"name": tt.template, "language": object{"code": "en_US", "policy": "deterministic"}, "components": tt.components,
			}})
			is.Equal(r.err().text("code"), tt.code) // code
			if tt.details != "" {
				is.Equal(r.err().child("error_data").text("details"), tt.details)
			}
		})
	}
}

// sendTemplates are templates that need something each.
func sendTemplates() []Template {
	example := func(values ...string) map[string]any { return map[string]any{"body_text": [][]string{values}} }
	handle := map[string]any{"header_handle": []string{"4::x"}}
	imageHeader := map[string]any{"type": "HEADER", "format": "IMAGE", "example": handle}
	card := map[string]any{"components": []any{imageHeader, map[string]any{"type": "BUTTONS", "buttons": []any{
		map[string]any{"type": "URL", "text": "Go", "url": "https://x.y/{{1}}", "example": []string{"1"}}}}}}
	return []Template{
		{Name: "two", Components: []map[string]any{{"type": "BODY", "text": "Hi {{1}}, your order {{2}} came.", "example": example("a", "b")}}},
		{Name: "image", Components: []map[string]any{imageHeader, {"type": "BODY", "text": "Look."}}},
		{Name: "place", Components: []map[string]any{{"type": "HEADER", "format": "LOCATION"}, {"type": "BODY", "text": "Here."}}},
		{Name: "named", ParameterFormat: "NAMED", Components: []map[string]any{{"type": "BODY", "text": "Hi {{who}}, it is {{when}} now.",
			"example": map[string]any{"body_text_named_params": []map[string]any{{"param_name": "who", "example": "a"}, {"param_name": "when", "example": "b"}}}}}},
		{Name: "link", Components: []map[string]any{{"type": "BODY", "text": "Look."}, {"type": "BUTTONS", "buttons": []any{
			map[string]any{"type": "URL", "text": "Go", "url": "https://x.y/{{1}}", "example": []string{"1"}},
			map[string]any{"type": "COPY_CODE", "example": "SAVE"}}}}},
		{Name: "cards", Components: []map[string]any{{"type": "BODY", "text": "Look."}, {"type": "CAROUSEL", "cards": []any{card, card}}}},
		{Name: "offer", Components: []map[string]any{{"type": "BODY", "text": "Look."},
			{"type": "LIMITED_TIME_OFFER", "limited_time_offer": map[string]any{"text": "Soon", "has_expiration": true}}}},
	}
}

// given builds what a message puts into a template.
func textOf(s string) object { return object{"type": "text", "text": s} }

func part(kind string, parameters ...object) object {
	return object{"type": kind, "parameters": parameters}
}

func namedText(name, s string) object {
	return object{"type": "text", "text": s, "parameter_name": name}
}

// givenImage carries the nulls that some clients send along.
func givenImage() object {
	return object{"type": "image", "image": object{"link": "https://x.y/a.png"}, "currency": nil, "text": ""}
}

func buttonOf(kind string, index any, p object) object {
	return object{"type": "button", "sub_type": kind, "index": index, "parameters": []object{p}}
}

func filledCard(i int) object {
	return object{"card_index": i, "components": []object{part("header", givenImage()), buttonOf("url", "0", textOf("1"))}}
}

func coupon() object { return object{"type": "coupon_code", "coupon_code": "SAVE"} }

func TestTextsMustFitTheTemplate(t *testing.T) {
	checkFillings(t, []fillingCase{
		{"both", "two", []object{part("body", textOf("a"), textOf("b"))}, "", ""},
		{"one of two", "two", []object{part("body", textOf("a"))}, "132000", "body: number of localizable_params (1) does not match the expected number of params (2)"},
		{"none", "two", nil, "132000", "body: number of localizable_params (0) does not match the expected number of params (2)"},
		{"empty text", "two", []object{part("body", textOf("a"), textOf(""))}, "131008", "body: Parameter of type text is missing text value"},
		{"currency and date", "two", []object{part("body", object{"type": "currency", "currency": object{"fallback_value": "$1", "code": "USD", "amount_1000": 1000}}, object{"type": "date_time", "date_time": object{"fallback_value": "now"}})}, "", ""},
		{"image in body", "two", []object{part("body", textOf("a"), givenImage())}, "132012", "body: Format mismatch, expected TEXT, received IMAGE"},
		{"unwanted header", "two", []object{part("header", textOf("x")), part("body", textOf("a"), textOf("b"))}, "132000", "header: number of localizable_params (1) does not match the expected number of params (0)"},
		{"too long", "two", []object{part("body", textOf(string(make([]byte, 1100))), textOf("b"))}, "132005", ""},
		{"named in any order", "named", []object{part("body", namedText("when", "x"), namedText("who", "y"))}, "", ""},
		{"named without names", "named", []object{part("body", textOf("a"), textOf("b"))}, "132012", "body: Parameter name is missing or empty"},
		{"named wrongly", "named", []object{part("body", namedText("when", "x"), namedText("what", "y"))}, "132012", "body: parameter who is missing"},
		{"unknown template", "nothing", nil, "132001", "template name (nothing) does not exist in en_US"},
	})
}

func TestFilesButtonsAndCardsMustFitTheTemplate(t *testing.T) {
	checkFillings(t, []fillingCase{
		{"image", "image", []object{part("header", givenImage())}, "", ""},
		{"no image", "image", nil, "132012", "header: Format mismatch, expected IMAGE, received UNKNOWN"},
		{"text for image", "image", []object{part("header", textOf("x"))}, "132012", "header: Format mismatch, expected IMAGE, received TEXT"},
		{"image of nobody", "image", []object{part("header", object{"type": "image", "image": object{"id": "12"}})}, "131009", ""},
		{"place", "place", []object{part("header", object{"type": "location", "location": object{"latitude": 1, "longitude": 2}})}, "", ""},
		{"half a place", "place", []object{part("header", object{"type": "location", "location": object{"latitude": 1}})}, "131008", ""},
		{"link and code", "link", []object{buttonOf("url", "0", textOf("1")), buttonOf("copy_code", 1, coupon())}, "", ""},
		{"no link", "link", []object{buttonOf("copy_code", 1, coupon())}, "131008", "buttons: Button at index 0 of type Url requires a parameter"},
		{"no such button", "link", []object{buttonOf("url", 7, textOf("1"))}, "131009", ""},
		{"text for code", "link", []object{buttonOf("url", 0, textOf("1")), buttonOf("copy_code", 1, textOf("x"))}, "132012", ""},
		{"cards", "cards", []object{{"type": "carousel", "cards": []object{filledCard(0), filledCard(1)}}}, "", ""},
		{"one card of two", "cards", []object{{"type": "carousel", "cards": []object{filledCard(0)}}}, "132012", "carousel: number of cards (1) does not match the expected number of cards (2)"},
		{"card without image", "cards", []object{{"type": "carousel", "cards": []object{filledCard(0), {"card_index": 1, "components": []object{buttonOf("url", 0, textOf("1"))}}}}}, "132012", ""},
		{"offer", "offer", []object{{"type": "limited_time_offer", "parameters": []object{{"type": "limited_time_offer", "limited_time_offer": object{"expiration_time_ms": 1698562800000}}}}}, "", ""},
		{"endless offer", "offer", nil, "131008", "limited_time_offer: expiration_time_ms is missing"},
	})
}

func TestATemplateIsFoundByNameAndLanguage(t *testing.T) {
	b := newBench(t)
	_, err := b.s.AddTemplate(b.number.WABAID, bodyTemplate("hello", "utility"))
	b.NoErr(err)
	send := func(template object) reply {
		return b.send(object{"to": "16505551234", "type": "template", "template": template})
	}
	r := send(object{"name": "hello", "language": object{"code": "de"}})
	b.Equal(r.status, 404)
	b.Equal(r.err().text("message"), "(#132001) Template name does not exist in the translation")
	b.Equal(send(object{"name": "hello"}).err().text("code"), "100")
	b.Equal(send(object{"language": object{"code": "de"}}).err().text("code"), "100")
	other, err := b.s.AddNumber(Number{})
	b.NoErr(err)
	r = b.graph("POST", "/"+other.PhoneNumberID+"/messages", object{"messaging_product": "whatsapp", "to": "16505551234", "type": "template",
		"template": object{"name": "hello", "language": object{"code": "en_US"}}})
	b.Equal(r.err().text("code"), "132001") // it belongs to another account
}
