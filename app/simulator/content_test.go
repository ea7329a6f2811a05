package simulator

import (
	"fmt"
	"net/http"
	"testing"
)

// contentCase is a message and the code with which it is refused.
type contentCase struct {
	name    string
	message object
	code    string
}

// checkContent sends each case.
func checkContent(t *testing.T, cases []contentCase) {
	b := newBench(t)
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			is := b.New(t)
			if !tt.message.has("to") {
				tt.message["to"] = "16505551234"
			}
			r := b.send(tt.message)
			is.Equal(r.err().text("code"), tt.code) // code of the answer
			is.Equal(r.status == http.StatusOK, tt.code == good)
			if tt.code != good {
				is.True(r.err().text("fbtrace_id") != "") // every error has a trace
			}
		})
	}
}

// of is a message of a type.
func of(kind string, content any) object { return object{"type": kind, kind: content} }

func TestTheEnvelopeOfAMessageIsChecked(t *testing.T) {
	text := object{"body": "x"}
	checkContent(t, []contentCase{
		{"no type", object{"text": text}, good},
		{"no content", object{"type": "text"}, "100"},
		{"unknown type", object{"type": "poll", "poll": object{}}, "100"},
		{"reply", object{"text": text, "context": object{"message_id": "wamid.x"}}, good},
		{"reply to nothing", object{"text": text, "context": object{}}, "131008"},
		{"individual", object{"text": text, "recipient_type": "individual"}, good},
		{"group", object{"text": text, "recipient_type": "group"}, "131041"},
		{"crowd", object{"text": text, "recipient_type": "crowd"}, "100"},
		{"opaque data", object{"text": text, "biz_opaque_callback_data": letters(512)}, good},
		{"opaque data too long", object{"text": text, "biz_opaque_callback_data": letters(513)}, "100"},
		{"no number", object{"text": text, "to": "abc"}, "131009"},
		{"short number", object{"text": text, "to": "123456"}, "131009"},
		{"long number", object{"text": text, "to": "1234567890123456"}, "131009"},
		{"to oneself", object{"text": text, "to": "15550009999"}, "131021"},
		{"both number and id", object{"text": text, "to": "16505551234", "recipient": "US.1"}, good},
		{"id as number", object{"text": text, "to": "US.1"}, good},
	})
	b := newBench(t)
	r := b.graph("POST", "/"+b.number.PhoneNumberID+"/messages", object{"messaging_product": "sms", "to": "16505551234", "text": text})
	b.Equal(r.err().text("code"), "100")
	r = b.send(object{"recipient": "someone", "text": text})
	b.Equal(r.err().text("code"), "100")
}

func TestTextsFilesAndPlacesAreChecked(t *testing.T) {
	link := "https://example.com/a"
	named := func(name object) []object { return []object{{"name": name}} }
	many := make([]object, 258)
	for i := range many {
		many[i] = named(object{"formatted_name": "A B", "first_name": "A"})[0]
	}
	checkContent(t, []contentCase{
		{"text of 4096", of("text", object{"body": letters(4096)}), good},
		{"text of 4097", of("text", object{"body": letters(4097)}), "100"},
		{"text without body", of("text", object{}), "100"},
		{"text empty", of("text", object{"body": ""}), "100"},
		{"image by link", of("image", object{"link": link, "caption": letters(1024)}), good},
		{"image without source", of("image", object{}), "100"},
		{"image with both", of("image", object{"link": link, "id": "1"}), "100"},
		{"image of nobody", of("image", object{"id": "1"}), "131009"},
		{"image in a word", of("image", "x"), "100"},
		{"caption too long", of("image", object{"link": link, "caption": letters(1025)}), "100"},
		{"video", of("video", object{"link": link}), good},
		{"audio with caption", of("audio", object{"link": link, "caption": "c"}), "100"},
		{"sticker with caption", of("sticker", object{"link": link, "caption": "c"}), "100"},
		{"document", of("document", object{"link": link, "filename": "a.pdf"}), good},
		{"place", of("location", object{"latitude": "37.4", "longitude": -122.1}), good},
		{"place without longitude", of("location", object{"latitude": 1}), "100"},
		{"place off the map", of("location", object{"latitude": 91, "longitude": 0}), "131009"},
		{"place in words", of("location", object{"latitude": "NaN", "longitude": 0}), "131009"},
		{"contacts", of("contacts", many[:257]), good},
		{"too many contacts", of("contacts", many), "100"},
		{"no contacts", of("contacts", []object{}), "100"},
		{"contact without name", of("contacts", []object{{}}), "100"},
		{"contact without full name", of("contacts", named(object{"first_name": "A"})), "100"},
		{"contact with full name only", of("contacts", named(object{"formatted_name": "A B"})), "131008"},
		{"reaction taken back", of("reaction", object{"message_id": "x", "emoji": ""}), good},
		{"reaction without emoji", of("reaction", object{"message_id": "x"}), "100"},
		{"reaction to nothing", of("reaction", object{"emoji": "x"}), "100"},
		{"reaction of words", of("reaction", object{"message_id": "x", "emoji": letters(21)}), "131009"},
		{"reaction in reply", object{"type": "reaction", "reaction": object{"message_id": "x", "emoji": ""}, "context": object{"message_id": "y"}}, "131009"},
	})
}

// interactive is a message with an action and, perhaps, other parts.
func interactive(kind string, action any, extra ...any) object {
	in := object{"type": kind, "body": object{"text": "b"}, "action": action}
	for i := 0; i < len(extra); i += 2 {
		in[extra[i].(string)] = extra[i+1]
	}
	return of("interactive", in)
}

func replies(list ...object) object { return object{"buttons": list} }

func replyButton(id, title string) object {
	return object{"type": "reply", "reply": object{"id": id, "title": title}}
}

func TestReplyButtonsAreChecked(t *testing.T) {
	one := replyButton("1", "Yes")
	picture := object{"type": "image", "image": object{"link": "https://x.y/a"}}
	checkContent(t, []contentCase{
		{"two", interactive("button", replies(one, replyButton("2", "No"))), good},
		{"none", interactive("button", replies()), "131009"},
		{"four", interactive("button", replies(one, replyButton("2", "b"), replyButton("3", "c"), replyButton("4", "d"))), "131009"},
		{"long title", interactive("button", replies(replyButton("1", letters(21)))), "131009"},
		{"no title", interactive("button", replies(replyButton("1", ""))), "131009"},
		{"long id", interactive("button", replies(replyButton(letters(257), "a"))), "131009"},
		{"same titles", interactive("button", replies(one, replyButton("2", "Yes"))), "131009"},
		{"same ids", interactive("button", replies(one, replyButton("1", "No"))), "131009"},
		{"another kind of button", interactive("button", replies(object{"type": "push"})), "131009"},
		{"long body", interactive("button", replies(one), "body", object{"text": letters(1025)}), "131009"},
		{"no body", interactive("button", replies(one), "body", nil), "100"},
		{"empty footer", interactive("button", replies(one), "footer", object{}), good},
		{"long footer", interactive("button", replies(one), "footer", object{"text": letters(61)}), "131009"},
		{"picture above", interactive("button", replies(one), "header", picture), good},
		{"text above", interactive("button", replies(one), "header", object{"type": "text", "text": letters(60)}), good},
		{"long text above", interactive("button", replies(one), "header", object{"type": "text", "text": letters(61)}), "131009"},
		{"picture of nothing above", interactive("button", replies(one), "header", object{"type": "image"}), "100"},
		{"sound above", interactive("button", replies(one), "header", object{"type": "audio"}), "131009"},
		{"no type", interactive("", replies(one)), "100"},
		{"no action", interactive("button", nil), "100"},
		{"unknown type", interactive("dance", object{}), "100"},
		{"in a word", of("interactive", "x"), "100"},
	})
}

func TestListsLinksAndFlowsAreChecked(t *testing.T) {
	rows := func(n int) []object {
		list := make([]object, n)
		for i := range list {
			list[i] = object{"id": fmt.Sprint(i), "title": "t"}
		}
		return list
	}
	section := func(title string, rows ...object) object { return object{"title": title, "rows": rows} }
	list := func(sections ...object) object { return object{"button": "Menu", "sections": sections} }
	link := func(text, url string) object {
		return object{"name": "cta_url", "parameters": object{"display_text": text, "url": url}}
	}
	flow := func(parameters object) object { return object{"name": "flow", "parameters": parameters} }
	checkContent(t, []contentCase{
		{"list", interactive("list", list(section("", rows(10)...)), "body", object{"text": letters(4096)}), good},
		{"list with long body", interactive("list", list(section("", rows(1)...)), "body", object{"text": letters(4097)}), "131009"},
		{"two sections", interactive("list", list(section("a", rows(1)...), section("b", object{"id": "x", "title": "t"}))), good},
		{"sections without titles", interactive("list", list(section("", rows(1)...), section("", rows(1)...))), "131009"},
		{"long section title", interactive("list", list(section(letters(25), rows(1)...))), "131009"},
		{"empty section", interactive("list", list(section(""))), "131009"},
		{"no sections", interactive("list", list()), "131009"},
		{"no button", interactive("list", object{"sections": []object{section("", rows(1)...)}}), "131009"},
		{"eleven rows", interactive("list", list(section("", rows(11)...))), "131009"},
		{"same rows", interactive("list", list(section("a", rows(1)...), section("b", rows(1)...))), "131009"},
		{"row without id", interactive("list", list(section("", object{"title": "t"}))), "131009"},
		{"row without title", interactive("list", list(section("", object{"id": "1"}))), "131009"},
		{"long description", interactive("list", list(section("", object{"id": "1", "title": "t", "description": letters(73)}))), "131009"},
		{"picture above a list", interactive("list", list(section("", rows(1)...)), "header", object{"type": "image", "image": object{"link": "https://x.y/a"}}), "131009"},
		{"link", interactive("cta_url", link("Go", "https://x.y")), good},
		{"link to nowhere", interactive("cta_url", link("Go", "x")), "131009"},
		{"link without text", interactive("cta_url", link("", "https://x.y")), "131009"},
		{"link by another name", interactive("cta_url", object{"name": "url"}), "131009"},
		{"location request", interactive("location_request_message", object{"name": "send_location"}), good},
		{"flow", interactive("flow", flow(object{"flow_message_version": "3", "flow_id": "1", "flow_cta": "Go"})), good},
		{"flow by name", interactive("flow", flow(object{"flow_message_version": "3", "flow_name": "f", "flow_cta": "Go"})), good},
		{"flow of nothing", interactive("flow", flow(object{"flow_message_version": "3", "flow_cta": "Go"})), "100"},
		{"flow without button", interactive("flow", flow(object{"flow_message_version": "3", "flow_id": "1"})), "100"},
		{"flow by another name", interactive("flow", object{"name": "river"}), "131009"},
		{"product", interactive("product", object{"catalog_id": "1"}), good},
	})
}
