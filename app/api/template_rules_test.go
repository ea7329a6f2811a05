package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/app/api/template"
	"confab/storage/storagetest"
)

// draft is the body of a template with components, in a category and format.
func draft(category, format string, parts ...string) string {
	if format != "" {
		format = `"parameter_format":"` + format + `",`
	}
	return fmt.Sprintf(`{"name":"order_ready","language":"en_US","category":%q,%s"components":[%s]}`, category, format, strings.Join(parts, ","))
}

// judgeDraft is what the validator says of a body: "" or "code param".
func judgeDraft(t testing.TB, body string) string {
	t.Helper()
	var in template.Draft
	err := rest.Unmarshal([]byte(body), &in)
	if err == nil {
		err = in.Validate()
	}
	return verdict(t, err)
}

const (
	greeting  = `{"type":"BODY","text":"Hi there"}`
	reply1    = `{"type":"QUICK_REPLY","text":"Yes"}`
	imageCard = `{"components":[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4::a"]}},{"type":"BODY","text":"A card"},{"type":"BUTTONS","buttons":[` + reply1 + `]}]}`
	otp       = `{"type":"BUTTONS","buttons":[{"type":"OTP","otp_type":"COPY_CODE"}]}`
	code      = `{"type":"BODY","add_security_recommendation":true}`
)

func bodyWith(text, example string) string {
	if example != "" {
		example = `,"example":` + example
	}
	return fmt.Sprintf(`{"type":"BODY","text":%q%s}`, text, example)
}

func topped(format, more string) string {
	return fmt.Sprintf(`{"type":"HEADER","format":%q%s}`, format, more)
}

func withButtons(list ...string) string {
	return `{"type":"BUTTONS","buttons":[` + strings.Join(list, ",") + `]}`
}

func carousel(cards ...string) string {
	return `{"type":"CAROUSEL","cards":[` + strings.Join(cards, ",") + `]}`
}

func offerOf(text string) string {
	return fmt.Sprintf(`{"type":"LIMITED_TIME_OFFER","limited_time_offer":{"text":%q,"has_expiration":true}}`, text)
}

func codeButton(more string) string { return withButtons(`{"type":"OTP",` + more + `}`) }

func repeated(n int, s string) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = s
	}
	return all
}

// templateRule is a draft and its fault.
type templateRule struct{ name, body, want string }

// templateRules are the rules of templates, each by drafts that keep or break it.
func templateRules(t testing.TB) []templateRule {
	t.Helper()
	return []templateRule{
		{"the least there is", draft("utility", "", greeting), ""},
		{"no name", storagetest.Swap(t, draft("UTILITY", "", greeting), `"name":"order_ready",`, ""), "missing_required_field name"},
		{"an empty name", storagetest.Swap(t, draft("UTILITY", "", greeting), "order_ready", ""), "invalid_field_value name"},
		{"a name in capitals", storagetest.Swap(t, draft("UTILITY", "", greeting), "order_ready", "Order"), "invalid_field_value name"},
		{"a name with a space", storagetest.Swap(t, draft("UTILITY", "", greeting), "order_ready", "order ready"), "invalid_field_value name"},
		{"the longest name", storagetest.Swap(t, draft("UTILITY", "", greeting), "order_ready", strings.Repeat("a", 512)), ""},
		{"a longer name", storagetest.Swap(t, draft("UTILITY", "", greeting), "order_ready", strings.Repeat("a", 513)), "invalid_field_value name"},
		{"a name that is a number", storagetest.Swap(t, draft("UTILITY", "", greeting), `"order_ready"`, "7"), "invalid_field_value name"},
		{"no language", storagetest.Swap(t, draft("UTILITY", "", greeting), `"language":"en_US",`, ""), "missing_required_field language"},
		{"a short language", storagetest.Swap(t, draft("UTILITY", "", greeting), "en_US", "fil"), ""},
		{"another spelling", storagetest.Swap(t, draft("UTILITY", "", greeting), "en_US", "en-US"), ""},
		{"no such language", storagetest.Swap(t, draft("UTILITY", "", greeting), "en_US", "English"), "invalid_field_value language"},
		{"an empty language", storagetest.Swap(t, draft("UTILITY", "", greeting), "en_US", ""), "invalid_field_value language"},
		{"no category", `{"name":"a","language":"en","components":[` + greeting + `]}`, "missing_required_field category"},
		{"another category", draft("SERVICE", "", greeting), "invalid_field_value category"},
		{"another format", draft("UTILITY", "numbered", greeting), "invalid_field_value parameter_format"},
		{"no components", `{"name":"a","language":"en","category":"UTILITY"}`, "missing_required_field components"},
		{"components that are null", `{"name":"a","language":"en","category":"UTILITY","components":null}`, "missing_required_field components"},
		{"an empty list", draft("UTILITY", ""), "invalid_field_value components"},
		{"a component that is null", draft("UTILITY", "", greeting, "null"), "missing_required_field components[1]"},
		{"a component that is a word", draft("UTILITY", "", greeting, `"FOOTER"`), "invalid_field_value components[1]"},
		{"components that are none", storagetest.Swap(t, draft("UTILITY", "", greeting), "["+greeting+"]", "{}"), "invalid_field_value components"},
		{"no type", draft("UTILITY", "", greeting, `{"text":"x"}`), "missing_required_field components[1].type"},
		{"another type", draft("UTILITY", "", greeting, `{"type":"SIDEBAR"}`), "invalid_field_value components[1].type"},
		{"two bodies", draft("UTILITY", "", greeting, greeting), "invalid_field_value components[1].type"},
		{"no body", draft("UTILITY", "", `{"type":"FOOTER","text":"Bye"}`), "invalid_field_value components"},
		{"lower case", draft("marketing", "positional", `{"type":"body","text":"Hi there"}`, `{"type":"footer","text":"Bye"}`), ""},

		{"the least time", storagetest.Swap(t, draft("UTILITY", "", greeting), `{`, `{"message_send_ttl_seconds":30,`), ""},
		{"too short a time", storagetest.Swap(t, draft("UTILITY", "", greeting), `{`, `{"message_send_ttl_seconds":29,`), "invalid_field_value message_send_ttl_seconds"},
		{"the longest time", storagetest.Swap(t, draft("UTILITY", "", greeting), `{`, `{"message_send_ttl_seconds":"43200",`), ""},
		{"too long a time", storagetest.Swap(t, draft("UTILITY", "", greeting), `{`, `{"message_send_ttl_seconds":43201,`), "invalid_field_value message_send_ttl_seconds"},
		{"thirty days", storagetest.Swap(t, draft("UTILITY", "", greeting), `{`, `{"message_send_ttl_seconds":-1,`), ""},
		{"thirty days of marketing by a word", storagetest.Swap(t, draft("MARKETING", "", greeting), `{`, `{"message_send_ttl_seconds":-1,`), "invalid_field_value message_send_ttl_seconds"},
		{"half a day of marketing", storagetest.Swap(t, draft("MARKETING", "", greeting), `{`, `{"message_send_ttl_seconds":43200,`), ""},
		{"thirty days of marketing", storagetest.Swap(t, draft("MARKETING", "", greeting), `{`, `{"message_send_ttl_seconds":2592000,`), ""},
		{"more of marketing", storagetest.Swap(t, draft("MARKETING", "", greeting), `{`, `{"message_send_ttl_seconds":2592001,`), "invalid_field_value message_send_ttl_seconds"},
		{"a code for 15 minutes", storagetest.Swap(t, draft("AUTHENTICATION", "", code, otp), `{`, `{"message_send_ttl_seconds":900,`), ""},
		{"a code for longer", storagetest.Swap(t, draft("AUTHENTICATION", "", code, otp), `{`, `{"message_send_ttl_seconds":901,`), "invalid_field_value message_send_ttl_seconds"},
		{"a time that is none", storagetest.Swap(t, draft("UTILITY", "", greeting), `{`, `{"message_send_ttl_seconds":"soon",`), "invalid_field_value message_send_ttl_seconds"},

		{"a body without text", draft("UTILITY", "", `{"type":"BODY"}`), "missing_required_field components[0].text"},
		{"an empty body", draft("UTILITY", "", bodyWith("", "")), "invalid_field_value components[0].text"},
		{"a blank body", draft("UTILITY", "", bodyWith(" \n ", "")), "invalid_field_value components[0].text"},
		{"the longest body", draft("UTILITY", "", bodyWith(strings.Repeat("é", 1024), "")), ""},
		{"a longer body", draft("UTILITY", "", bodyWith(strings.Repeat("é", 1025), "")), "invalid_field_value components[0].text"},
		{"a body that is a list", draft("UTILITY", "", `{"type":"BODY","text":["x"]}`), "invalid_field_value components[0].text"},
		{"variables", draft("UTILITY", "", bodyWith("Hi {{1}}, it is {{2}} o'clock", `{"body_text":[["Ana","5"]]}`)), ""},
		{"variables in another order", draft("UTILITY", "", bodyWith("Hi {{2}}, it is {{1}} o'clock", `{"body_text":[["Ana","5"]]}`)), ""},
		{"a variable twice", draft("UTILITY", "", bodyWith("Hi {{1}}, dear {{ 1 }} over there", `{"body_text":[["Ana"]]}`)), ""},
		{"a flat example", draft("UTILITY", "", bodyWith("Hi {{1}} there", `{"body_text":["Ana"]}`)), ""},
		{"no example", draft("UTILITY", "", bodyWith("Hi {{1}} there", "")), "missing_required_field components[0].example"},
		{"an example of something else", draft("UTILITY", "", bodyWith("Hi {{1}} there", `{"header_text":["Ana"]}`)), "missing_required_field components[0].example.body_text"},
		{"an example too few", draft("UTILITY", "", bodyWith("Hi {{1}} and {{2}} there", `{"body_text":[["Ana"]]}`)), "invalid_field_value components[0].example.body_text"},
		{"an example too many", draft("UTILITY", "", bodyWith("Hi {{1}} there", `{"body_text":[["Ana","Bo"]]}`)), "invalid_field_value components[0].example.body_text"},
		{"an empty example", draft("UTILITY", "", bodyWith("Hi {{1}} there", `{"body_text":[[""]]}`)), "invalid_field_value components[0].example.body_text"},
		{"an example that is a number", draft("UTILITY", "", bodyWith("Hi {{1}} there", `{"body_text":[[5]]}`)), "invalid_field_value components[0].example.body_text"},
		{"an example that is a word", draft("UTILITY", "", bodyWith("Hi {{1}} there", `{"body_text":"Ana"}`)), "invalid_field_value components[0].example.body_text"},
		{"a gap", draft("UTILITY", "", bodyWith("Hi {{1}} and {{3}} there", `{"body_text":[["Ana","Bo"]]}`)), "invalid_field_value components[0].text"},
		{"a variable that begins", draft("UTILITY", "", bodyWith(" {{1}} is here", `{"body_text":[["Ana"]]}`)), "invalid_field_value components[0].text"},
		{"a variable that ends", draft("UTILITY", "", bodyWith("Here is {{1}} ", `{"body_text":[["Ana"]]}`)), "invalid_field_value components[0].text"},
		{"two side by side", draft("UTILITY", "", bodyWith("Here is {{1}} {{2}} and more", `{"body_text":[["Ana","Bo"]]}`)), "invalid_field_value components[0].text"},
		{"too few words", draft("UTILITY", "", bodyWith("Hi {{1}}, {{2}}, {{3}}!", `{"body_text":[["a","b","c"]]}`)), "invalid_field_value components[0].text"},
		{"braces that do not match", draft("UTILITY", "", bodyWith("Hi {{1} there", "")), "invalid_field_value components[0].text"},
		{"a name among numbers", draft("UTILITY", "", bodyWith("Hi {{name}} there", `{"body_text":[["Ana"]]}`)), "invalid_field_value components[0].text"},
		{"a sign", draft("UTILITY", "", bodyWith("Hi {{#1}} there", `{"body_text":[["Ana"]]}`)), "invalid_field_value components[0].text"},
		{"names", draft("UTILITY", "named", bodyWith("Hi {{first_name}}, it is {{hour}} o'clock", `{"body_text_named_params":[{"param_name":"hour","example":"5"},{"param_name":"first_name","example":"Ana"}]}`)), ""},
		{"a number among names", draft("UTILITY", "NAMED", bodyWith("Hi {{1}} there", `{"body_text":[["Ana"]]}`)), "invalid_field_value components[0].text"},
		{"a name in capitals", draft("UTILITY", "NAMED", bodyWith("Hi {{Name}} there", `{"body_text_named_params":[{"param_name":"Name","example":"Ana"}]}`)), "invalid_field_value components[0].text"},
		{"no named examples", draft("UTILITY", "NAMED", bodyWith("Hi {{name}} there", `{"body_text":[["Ana"]]}`)), "missing_required_field components[0].example.body_text_named_params"},
		{"an example for another name", draft("UTILITY", "NAMED", bodyWith("Hi {{name}} there", `{"body_text_named_params":[{"param_name":"nom","example":"Ana"}]}`)), "invalid_field_value components[0].example.body_text_named_params"},
		{"a named example without a name", draft("UTILITY", "NAMED", bodyWith("Hi {{name}} there", `{"body_text_named_params":[{"example":"Ana"}]}`)), "missing_required_field components[0].example.body_text_named_params[0].param_name"},
		{"a named example without an example", draft("UTILITY", "NAMED", bodyWith("Hi {{name}} there", `{"body_text_named_params":[{"param_name":"name"}]}`)), "missing_required_field components[0].example.body_text_named_params[0].example"},
		{"an empty named example", draft("UTILITY", "NAMED", bodyWith("Hi {{name}} there", `{"body_text_named_params":[{"param_name":"name","example":""}]}`)), "invalid_field_value components[0].example.body_text_named_params[0].example"},

		{"a footer", draft("UTILITY", "", greeting, `{"type":"FOOTER","text":"Bye"}`), ""},
		{"a footer without text", draft("UTILITY", "", greeting, `{"type":"FOOTER"}`), "missing_required_field components[1].text"},
		{"a blank footer", draft("UTILITY", "", greeting, `{"type":"FOOTER","text":" "}`), "invalid_field_value components[1].text"},
		{"a long footer", draft("UTILITY", "", greeting, `{"type":"FOOTER","text":"`+strings.Repeat("x", 61)+`"}`), "invalid_field_value components[1].text"},
		{"a footer with a variable", draft("UTILITY", "", greeting, `{"type":"FOOTER","text":"Bye {{1}} all"}`), "invalid_field_value components[1].text"},

		{"a header without a format", draft("UTILITY", "", greeting, `{"type":"HEADER","text":"x"}`), "missing_required_field components[1].format"},
		{"a header of another format", draft("UTILITY", "", greeting, topped("SOUND", "")), "invalid_field_value components[1].format"},
		{"a header", draft("UTILITY", "", greeting, topped("text", `,"text":"News"`)), ""},
		{"a header without text", draft("UTILITY", "", greeting, topped("TEXT", "")), "missing_required_field components[1].text"},
		{"a blank header", draft("UTILITY", "", greeting, topped("TEXT", `,"text":" "`)), "invalid_field_value components[1].text"},
		{"a long header", draft("UTILITY", "", greeting, topped("TEXT", `,"text":"`+strings.Repeat("x", 61)+`"`)), "invalid_field_value components[1].text"},
		{"a header of two lines", draft("UTILITY", "", greeting, topped("TEXT", `,"text":"a\nb"`)), "invalid_field_value components[1].text"},
		{"a header with a variable", draft("UTILITY", "", greeting, topped("TEXT", `,"text":"For {{1}}","example":{"header_text":["Ana"]}`)), ""},
		{"a header with its example in a list", draft("UTILITY", "", greeting, topped("TEXT", `,"text":"For {{1}}","example":{"header_text":[["Ana"]]}`)), ""},
		{"a header with a name", draft("UTILITY", "named", greeting, topped("TEXT", `,"text":"For {{who}}","example":{"header_text_named_params":[{"param_name":"who","example":"Ana"}]}`)), ""},
		{"a header without its example", draft("UTILITY", "", greeting, topped("TEXT", `,"text":"For {{1}}"`)), "missing_required_field components[1].example"},
		{"a header with another example", draft("UTILITY", "", greeting, topped("TEXT", `,"text":"For {{1}}","example":{"body_text":["Ana"]}`)), "missing_required_field components[1].example.header_text"},
		{"a header with two variables", draft("UTILITY", "", greeting, topped("TEXT", `,"text":"{{1}} for {{2}}","example":{"header_text":["a","b"]}`)), "invalid_field_value components[1].text"},
		{"a header with a bad variable", draft("UTILITY", "", greeting, topped("TEXT", `,"text":"For {{x}}","example":{"header_text":["a"]}`)), "invalid_field_value components[1].text"},
		{"a place", draft("UTILITY", "", greeting, topped("LOCATION", "")), ""},
		{"a product", draft("MARKETING", "", greeting, topped("PRODUCT", "")), ""},
		{"an image", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_handle":["4::aW1h"]}`)), ""},
		{"a video", draft("UTILITY", "", greeting, topped("VIDEO", `,"example":{"header_handle":["4::aW1h"]}`)), ""},
		{"a document", draft("UTILITY", "", greeting, topped("DOCUMENT", `,"example":{"header_handle":["4::aW1h"]}`)), ""},
		{"a GIF", draft("MARKETING", "", greeting, topped("gif", `,"example":{"header_handle":["4::aW1h"]}`)), ""},
		{"an image by its URL", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_url":"https://example.com/a.png"}`)), ""},
		{"an image by its URL in a list", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_url":["https://example.com/a.png"]}`)), ""},
		{"an image by its URL as a handle", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_handle":["https://example.com/a.png"]}`)), ""},
		{"an image as the provider shows it", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_handle":["https://scontent.whatsapp.net/v/1"]}`)), ""},
		{"an image without an example", draft("UTILITY", "", greeting, topped("IMAGE", "")), "missing_required_field components[1].example"},
		{"an image with an empty example", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{}`)), "missing_required_field components[1].example.header_handle"},
		{"an image with no handle", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_handle":[]}`)), "invalid_field_value components[1].example.header_handle"},
		{"an image with two handles", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_handle":["4::a","4::b"]}`)), "invalid_field_value components[1].example.header_handle"},
		{"an image with nonsense", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_handle":["nonsense"]}`)), "invalid_field_value components[1].example.header_handle[0]"},
		{"an image by both", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_handle":["4::a"],"header_url":"https://example.com/a.png"}`)), "invalid_field_value components[1].example.header_url"},
		{"an image by an insecure URL", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_url":"http://example.com/a.png"}`)), "invalid_field_value components[1].example.header_url"},
		{"an image by an insecure handle", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_handle":["http://example.com/a.png"]}`)), "invalid_field_value components[1].example.header_handle[0]"},
		{"an image by a path", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_url":"a.png"}`)), "invalid_field_value components[1].example.header_url"},
		{"an image by two URLs", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_url":["https://a.com","https://b.com"]}`)), "invalid_field_value components[1].example.header_url"},
		{"an image by a number", draft("UTILITY", "", greeting, topped("IMAGE", `,"example":{"header_url":7}`)), "invalid_field_value components[1].example.header_url"},

		{"buttons that are absent", draft("UTILITY", "", greeting, `{"type":"BUTTONS"}`), "missing_required_field components[1].buttons"},
		{"no button", draft("UTILITY", "", greeting, withButtons()), "invalid_field_value components[1].buttons"},
		{"ten replies", draft("UTILITY", "", greeting, withButtons(repeated(10, reply1)...)), ""},
		{"eleven replies", draft("UTILITY", "", greeting, withButtons(repeated(11, reply1)...)), "invalid_field_value components[1].buttons"},
		{"a button that is null", draft("UTILITY", "", greeting, withButtons("null")), "missing_required_field components[1].buttons[0]"},
		{"a button without a type", draft("UTILITY", "", greeting, withButtons(`{"text":"Yes"}`)), "missing_required_field components[1].buttons[0].type"},
		{"a button of another type", draft("UTILITY", "", greeting, withButtons(`{"type":"SELF_DESTRUCT","text":"Yes"}`)), "invalid_field_value components[1].buttons[0].type"},
		{"a code's button elsewhere", draft("UTILITY", "", greeting, withButtons(`{"type":"OTP","otp_type":"COPY_CODE"}`)), "invalid_field_value components[1].buttons[0].type"},
		{"a reply without text", draft("UTILITY", "", greeting, withButtons(`{"type":"QUICK_REPLY"}`)), "missing_required_field components[1].buttons[0].text"},
		{"a blank reply", draft("UTILITY", "", greeting, withButtons(`{"type":"QUICK_REPLY","text":" "}`)), "invalid_field_value components[1].buttons[0].text"},
		{"a long reply", draft("UTILITY", "", greeting, withButtons(`{"type":"QUICK_REPLY","text":"`+strings.Repeat("x", 26)+`"}`)), "invalid_field_value components[1].buttons[0].text"},
		{"a reply with a variable", draft("UTILITY", "", greeting, withButtons(`{"type":"QUICK_REPLY","text":"Yes {{1}}"}`)), "invalid_field_value components[1].buttons[0].text"},
		{"two links", draft("UTILITY", "", greeting, withButtons(repeated(2, `{"type":"url","text":"See","url":"https://example.com"}`)...)), ""},
		{"three links", draft("UTILITY", "", greeting, withButtons(repeated(3, `{"type":"URL","text":"See","url":"https://example.com"}`)...)), "invalid_field_value components[1].buttons[2].type"},
		{"a link without a URL", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See"}`)), "missing_required_field components[1].buttons[0].url"},
		{"a link to nowhere", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See","url":"nowhere"}`)), "invalid_field_value components[1].buttons[0].url"},
		{"a link to mail", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See","url":"mailto:a@example.com"}`)), "invalid_field_value components[1].buttons[0].url"},
		{"a long link", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See","url":"https://example.com/`+strings.Repeat("x", 1981)+`"}`)), "invalid_field_value components[1].buttons[0].url"},
		{"a link with a variable", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See","url":"https://example.com/{{1}}","example":["https://example.com/5"]}`)), ""},
		{"a link with a text as example", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See","url":"https://example.com/{{1}}","example":"5"}`)), ""},
		{"a link with a name", draft("UTILITY", "NAMED", greeting, withButtons(`{"type":"URL","text":"See","url":"https://example.com/{{order}}","example":["5"]}`)), ""},
		{"a link without its example", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See","url":"https://example.com/{{1}}"}`)), "missing_required_field components[1].buttons[0].example"},
		{"a link with an empty example", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See","url":"https://example.com/{{1}}","example":[""]}`)), "invalid_field_value components[1].buttons[0].example"},
		{"a link with two examples", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See","url":"https://example.com/{{1}}","example":["a","b"]}`)), "invalid_field_value components[1].buttons[0].example"},
		{"a link with a variable inside", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See","url":"https://example.com/{{1}}/x","example":["a"]}`)), "invalid_field_value components[1].buttons[0].url"},
		{"a link with two variables", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See","url":"https://example.com/{{1}}/{{2}}","example":["a"]}`)), "invalid_field_value components[1].buttons[0].url"},
		{"a link with another variable", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See","url":"https://example.com/{{2}}","example":["a"]}`)), "invalid_field_value components[1].buttons[0].url"},
		{"a link with open braces", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See","url":"https://example.com/{{1"}`)), "invalid_field_value components[1].buttons[0].url"},
		{"a phone", draft("UTILITY", "", greeting, withButtons(`{"type":"PHONE_NUMBER","text":"Call","phone_number":"+15551234567"}`)), ""},
		{"a phone without a number", draft("UTILITY", "", greeting, withButtons(`{"type":"PHONE_NUMBER","text":"Call"}`)), "missing_required_field components[1].buttons[0].phone_number"},
		{"a phone that is none", draft("UTILITY", "", greeting, withButtons(`{"type":"PHONE_NUMBER","text":"Call","phone_number":"me"}`)), "invalid_phone_number components[1].buttons[0].phone_number"},
		{"two phones", draft("UTILITY", "", greeting, withButtons(repeated(2, `{"type":"PHONE_NUMBER","text":"Call","phone_number":"+15551234567"}`)...)), "invalid_field_value components[1].buttons[1].type"},
		{"a coupon", draft("MARKETING", "", greeting, withButtons(`{"type":"COPY_CODE","example":"SPRING25"}`)), ""},
		{"a coupon in a list", draft("MARKETING", "", greeting, withButtons(`{"type":"COPY_CODE","example":["SPRING25"]}`)), ""},
		{"a coupon without a code", draft("MARKETING", "", greeting, withButtons(`{"type":"COPY_CODE"}`)), "missing_required_field components[1].buttons[0].example"},
		{"a long coupon", draft("MARKETING", "", greeting, withButtons(`{"type":"COPY_CODE","example":"`+strings.Repeat("x", 21)+`"}`)), "invalid_field_value components[1].buttons[0].example"},
		{"a flow", draft("UTILITY", "", greeting, withButtons(`{"type":"FLOW","text":"Go","flow_id":"7","flow_action":"navigate","navigate_screen":"A"}`)), ""},
		{"a flow by name", draft("UTILITY", "", greeting, withButtons(`{"type":"FLOW","text":"Go","flow_name":"x"}`)), ""},
		{"a flow by JSON", draft("UTILITY", "", greeting, withButtons(`{"type":"FLOW","text":"Go","flow_json":"{}"}`)), ""},
		{"a flow without one", draft("UTILITY", "", greeting, withButtons(`{"type":"FLOW","text":"Go"}`)), "missing_required_field components[1].buttons[0].flow_id"},
		{"a catalog", draft("MARKETING", "", greeting, withButtons(`{"type":"CATALOG","text":"View"}`)), ""},
		{"many products", draft("MARKETING", "", greeting, withButtons(`{"type":"MPM","text":"View"}`)), ""},
		{"one product", draft("MARKETING", "", greeting, withButtons(`{"type":"SPM","text":"View"}`)), ""},
		{"a call", draft("MARKETING", "", greeting, withButtons(`{"type":"VOICE_CALL","text":"Call","ttl_minutes":"100"}`)), ""},
		{"a call without text", draft("MARKETING", "", greeting, withButtons(`{"type":"VOICE_CALL"}`)), "missing_required_field components[1].buttons[0].text"},
		{"an app", draft("MARKETING", "", greeting, withButtons(`{"type":"APP","text":"Open","app_deep_link":{"meta_app_id":"1","android_deep_link":"x://y"}}`)), ""},
		{"a wish for contacts", draft("UTILITY", "", greeting, withButtons(`{"type":"REQUEST_CONTACT_INFO"}`)), ""},
		{"replies before others", draft("UTILITY", "", greeting, withButtons(reply1, reply1, `{"type":"URL","text":"See","url":"https://example.com"}`)), ""},
		{"replies behind others", draft("UTILITY", "", greeting, withButtons(`{"type":"URL","text":"See","url":"https://example.com"}`, reply1)), ""},
		{"replies around others", draft("UTILITY", "", greeting, withButtons(reply1, `{"type":"URL","text":"See","url":"https://example.com"}`, reply1)), "invalid_field_value components[1].buttons[2].type"},

		{"a carousel", draft("MARKETING", "", greeting, carousel(imageCard, imageCard)), ""},
		{"ten cards", draft("MARKETING", "", greeting, carousel(repeated(10, imageCard)...)), ""},
		{"eleven cards", draft("MARKETING", "", greeting, carousel(repeated(11, imageCard)...)), "invalid_field_value components[1].cards"},
		{"one card", draft("MARKETING", "", greeting, carousel(imageCard)), "invalid_field_value components[1].cards"},
		{"cards that are absent", draft("MARKETING", "", greeting, `{"type":"CAROUSEL"}`), "missing_required_field components[1].cards"},
		{"a card that is null", draft("MARKETING", "", greeting, carousel(imageCard, "null")), "missing_required_field components[1].cards[1]"},
		{"a card without components", draft("MARKETING", "", greeting, carousel(imageCard, "{}")), "missing_required_field components[1].cards[1].components"},
		{"a carousel of utility", draft("UTILITY", "", greeting, carousel(imageCard, imageCard)), "invalid_field_value components[1].type"},
		{"a carousel without a body", draft("MARKETING", "", carousel(imageCard, imageCard)), "invalid_field_value components"},
		{"a carousel with a header", draft("MARKETING", "", greeting, carousel(imageCard, imageCard), topped("TEXT", `,"text":"x"`)), "invalid_field_value components[2].type"},
		{"a carousel with a footer", draft("MARKETING", "", greeting, carousel(imageCard, imageCard), `{"type":"FOOTER","text":"x"}`), "invalid_field_value components[2].type"},
		{"a card without a header", draft("MARKETING", "", greeting, carousel(imageCard, `{"components":[`+withButtons(reply1)+`]}`)), "invalid_field_value components[1].cards[1].components"},
		{"a card without buttons", draft("MARKETING", "", greeting, carousel(imageCard, `{"components":[`+topped("IMAGE", `,"example":{"header_handle":["4::a"]}`)+`]}`)), "invalid_field_value components[1].cards[1].components"},
		{"a card with a footer", draft("MARKETING", "", greeting, carousel(imageCard, storagetest.Swap(t, imageCard, `"BODY"`, `"FOOTER"`))), "invalid_field_value components[1].cards[1].components[1].type"},
		{"a card in a card", draft("MARKETING", "", greeting, carousel(imageCard, storagetest.Swap(t, imageCard, `"BODY"`, `"CAROUSEL"`))), "invalid_field_value components[1].cards[1].components[1].type"},
		{"a card with words on top", draft("MARKETING", "", greeting, carousel(imageCard, storagetest.Swap(t, imageCard, `"IMAGE"`, `"TEXT"`))), "invalid_field_value components[1].cards[1].components[0].format"},
		{"a card with a document", draft("MARKETING", "", greeting, carousel(imageCard, storagetest.Swap(t, imageCard, `"IMAGE"`, `"DOCUMENT"`))), "invalid_field_value components[1].cards[1].components[0].format"},
		{"a card with a long body", draft("MARKETING", "", greeting, carousel(imageCard, storagetest.Swap(t, imageCard, "A card", strings.Repeat("x", 161)))), "invalid_field_value components[1].cards[1].components[1].text"},
		{"a card with three buttons", draft("MARKETING", "", greeting, carousel(imageCard, storagetest.Swap(t, imageCard, reply1, strings.Join(repeated(3, reply1), ",")))), "invalid_field_value components[1].cards[1].components[2].buttons"},
		{"cards of two formats", draft("MARKETING", "", greeting, carousel(imageCard, storagetest.Swap(t, imageCard, `"IMAGE"`, `"VIDEO"`))), "invalid_field_value components[1].cards[1].components"},
		{"cards with other buttons", draft("MARKETING", "", greeting, carousel(imageCard, storagetest.Swap(t, imageCard, reply1, `{"type":"URL","text":"See","url":"https://example.com"}`))), "invalid_field_value components[1].cards[1].components"},
		{"cards with and without a body", draft("MARKETING", "", greeting, carousel(imageCard, storagetest.Swap(t, imageCard, `{"type":"BODY","text":"A card"},`, ""))), "invalid_field_value components[1].cards[1].components"},
		{"a card by a bad URL", draft("MARKETING", "", greeting, carousel(imageCard, storagetest.Swap(t, imageCard, `4::a`, `http://a.com`))), "invalid_field_value components[1].cards[1].components[0].example.header_handle[0]"},

		{"an offer", draft("MARKETING", "", greeting, offerOf("Ends soon")), ""},
		{"an offer with its code and link", draft("MARKETING", "", greeting, offerOf("Ends soon"), withButtons(`{"type":"COPY_CODE","example":"X1"}`, `{"type":"URL","text":"See","url":"https://example.com"}`)), ""},
		{"an offer with its code behind", draft("MARKETING", "", greeting, offerOf("Ends soon"), withButtons(`{"type":"URL","text":"See","url":"https://example.com"}`, `{"type":"COPY_CODE","example":"X1"}`)), "invalid_field_value components[2].buttons[1].type"},
		{"an offer of utility", draft("UTILITY", "", greeting, offerOf("Ends soon")), "invalid_field_value components[1].type"},
		{"an offer with a footer", draft("MARKETING", "", greeting, offerOf("Ends soon"), `{"type":"FOOTER","text":"x"}`), "invalid_field_value components[2].type"},
		{"an offer with a long body", draft("MARKETING", "", offerOf("Ends soon"), bodyWith(strings.Repeat("x", 601), "")), "invalid_field_value components[1].text"},
		{"an offer without words", draft("MARKETING", "", greeting, `{"type":"LIMITED_TIME_OFFER"}`), "missing_required_field components[1].limited_time_offer"},
		{"an offer without text", draft("MARKETING", "", greeting, `{"type":"LIMITED_TIME_OFFER","limited_time_offer":{}}`), "missing_required_field components[1].limited_time_offer.text"},
		{"a long offer", draft("MARKETING", "", greeting, offerOf(strings.Repeat("x", 17))), "invalid_field_value components[1].limited_time_offer.text"},
		{"an offer that is a word", draft("MARKETING", "", greeting, `{"type":"LIMITED_TIME_OFFER","limited_time_offer":"x"}`), "invalid_field_value components[1].limited_time_offer"},

		{"a code", draft("AUTHENTICATION", "", code, `{"type":"FOOTER","code_expiration_minutes":10}`, otp), ""},
		{"a code without advice", draft("authentication", "", `{"type":"BODY"}`, otp), ""},
		{"a code with a text", draft("AUTHENTICATION", "", greeting, otp), "invalid_field_value components[0].text"},
		{"a code without a button", draft("AUTHENTICATION", "", code), "invalid_field_value components"},
		{"a code without a body", draft("AUTHENTICATION", "", otp), "invalid_field_value components"},
		{"a code with a header", draft("AUTHENTICATION", "", code, otp, topped("TEXT", `,"text":"x"`)), "invalid_field_value components[2].type"},
		{"a code in a carousel", draft("AUTHENTICATION", "", code, otp, carousel(imageCard, imageCard)), "invalid_field_value components[2].type"},
		{"a code that does not expire", draft("AUTHENTICATION", "", code, otp, `{"type":"FOOTER"}`), "missing_required_field components[2].code_expiration_minutes"},
		{"a code that expires at once", draft("AUTHENTICATION", "", code, otp, `{"type":"FOOTER","code_expiration_minutes":0}`), "invalid_field_value components[2].code_expiration_minutes"},
		{"a code that lasts", draft("AUTHENTICATION", "", code, otp, `{"type":"FOOTER","code_expiration_minutes":91}`), "invalid_field_value components[2].code_expiration_minutes"},
		{"a code with two buttons", draft("AUTHENTICATION", "", code, withButtons(repeated(2, `{"type":"OTP","otp_type":"COPY_CODE"}`)...)), "invalid_field_value components[1].buttons"},
		{"a code with a link", draft("AUTHENTICATION", "", code, withButtons(`{"type":"URL","text":"See","url":"https://example.com"}`)), "invalid_field_value components[1].buttons[0].type"},
		{"a code of no kind", draft("AUTHENTICATION", "", code, codeButton(`"text":"x"`)), "missing_required_field components[1].buttons[0].otp_type"},
		{"a code of another kind", draft("AUTHENTICATION", "", code, codeButton(`"otp_type":"SING"`)), "invalid_field_value components[1].buttons[0].otp_type"},
		{"a code with a long label", draft("AUTHENTICATION", "", code, codeButton(`"otp_type":"COPY_CODE","text":"`+strings.Repeat("x", 26)+`"`)), "invalid_field_value components[1].buttons[0].text"},
		{"one tap", draft("AUTHENTICATION", "", code, codeButton(`"otp_type":"one_tap","autofill_text":"Autofill","supported_apps":[{"package_name":"com.a","signature_hash":"12345678901"}]`)), ""},
		{"one tap without apps", draft("AUTHENTICATION", "", code, codeButton(`"otp_type":"ONE_TAP"`)), "missing_required_field components[1].buttons[0].supported_apps"},
		{"one tap with no apps", draft("AUTHENTICATION", "", code, codeButton(`"otp_type":"ONE_TAP","supported_apps":[]`)), "invalid_field_value components[1].buttons[0].supported_apps"},
		{"one tap in an app without a name", draft("AUTHENTICATION", "", code, codeButton(`"otp_type":"ONE_TAP","supported_apps":[{"signature_hash":"12345678901"}]`)), "missing_required_field components[1].buttons[0].supported_apps[0].package_name"},
		{"one tap in an app without a hash", draft("AUTHENTICATION", "", code, codeButton(`"otp_type":"ONE_TAP","supported_apps":[{"package_name":"com.a"}]`)), "missing_required_field components[1].buttons[0].supported_apps[0].signature_hash"},
		{"one tap in an app with a short hash", draft("AUTHENTICATION", "", code, codeButton(`"otp_type":"ONE_TAP","supported_apps":[{"package_name":"com.a","signature_hash":"123"}]`)), "invalid_field_value components[1].buttons[0].supported_apps[0].signature_hash"},
		{"one tap with a long hint", draft("AUTHENTICATION", "", code, codeButton(`"otp_type":"ONE_TAP","autofill_text":"`+strings.Repeat("x", 26)+`","supported_apps":[{"package_name":"com.a","signature_hash":"12345678901"}]`)), "invalid_field_value components[1].buttons[0].autofill_text"},
		{"no tap", draft("AUTHENTICATION", "", code, codeButton(`"otp_type":"ZERO_TAP","zero_tap_terms_accepted":true,"supported_apps":[{"package_name":"com.a","signature_hash":"12345678901"}]`)), ""},
		{"no tap and no terms", draft("AUTHENTICATION", "", code, codeButton(`"otp_type":"ZERO_TAP","supported_apps":[{"package_name":"com.a","signature_hash":"12345678901"}]`)), "missing_required_field components[1].buttons[0].zero_tap_terms_accepted"},
		{"no tap and refused terms", draft("AUTHENTICATION", "", code, codeButton(`"otp_type":"ZERO_TAP","zero_tap_terms_accepted":false,"supported_apps":[{"package_name":"com.a","signature_hash":"12345678901"}]`)), "invalid_field_value components[1].buttons[0].zero_tap_terms_accepted"},
	}
}

func TestEveryRuleOfTemplatesNamesItsField(t *testing.T) {
	for _, c := range templateRules(t) {
		if got := judgeDraft(t, c.body); got != c.want {
			t.Errorf("%s: %q, not %q: %s", c.name, got, c.want, c.body)
		}
	}
}

func TestATemplateIsWrittenAsTheProviderDoes(t *testing.T) {
	is := is.New(t)
	var in template.Draft
	given := draft("marketing", "Named",
		`{"type":"body","text":"Hi {{who}} there","extra":1,"buttons":[],"example":{"body_text":[["x"]],"body_text_named_params":[{"param_name":"who","example":"Ana","more":1}]}}`,
		`{"type":"header","format":"text","text":"News","example":{"header_text":["x"]}}`,
		`{"type":"buttons","buttons":[{"type":"quick_reply","text":"Yes","url":"https://example.com"},{"type":"url","text":"See","url":"https://example.com/{{who}}","example":["x"]},{"type":"copy_code","text":"Copy","example":"A1"}]}`)
	is.NoErr(rest.Unmarshal([]byte(given), &in))
	is.NoErr(in.Validate())
	wire, err := in.ProviderBody()
	is.NoErr(err)
	want := `{"name":"order_ready","language":"en_US","category":"MARKETING","components":[` +
		`{"type":"BODY","text":"Hi {{who}} there","example":{"body_text_named_params":[{"param_name":"who","example":"Ana"}]}},` +
		`{"type":"HEADER","format":"TEXT","text":"News"},` +
		`{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Yes"},{"type":"URL","text":"See","url":"https://example.com/{{who}}","example":["x"]},{"type":"COPY_CODE","example":"A1"}]}` +
		`],"parameter_format":"named"}`
	is.Equal(string(wire), want)
	row, err := in.Row(7)
	is.NoErr(err)
	is.Equal(row.Content, "Hi {{who}} there")
	is.Equal(row.ParameterFormat, "NAMED")
	is.Equal(template.Variables(row.Content), []string{"who"})
	is.True(json.Valid(row.Components))
}
