package simulator

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const (
	good       = ""
	noSubcode  = "100" // error 100 without a subcode
	sampleCode = "2388043"
	longCode   = "2388040"
)

// ruleCase is a template, given as changes to a good one, and the subcode with
// which it is refused.
type ruleCase struct {
	name    string
	change  object
	subcode string
}

// checkRules submits each case.
func checkRules(t *testing.T, cases []ruleCase) {
	b := newBench(t)
	for i, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			is := b.New(t)
			if _, named := tt.change["name"]; !named {
				tt.change["name"] = fmt.Sprintf("t_%d", i)
			}
			r := b.createTemplate(tt.change)
			if tt.subcode == good {
				is.Equal(r.err().text("error_user_msg")+r.err().text("message"), "")
				is.Equal(r.status, http.StatusOK)
				return
			}
			is.Equal(r.status, http.StatusBadRequest)
			is.Equal(r.err().text("code"), "100")
			if tt.subcode == noSubcode {
				is.Equal(r.err().text("error_subcode"), "")
				return
			}
			is.Equal(r.err().text("error_subcode"), tt.subcode)
			is.Equal(r.err().text("is_transient"), "false")
			is.True(r.err().text("error_user_title") != "" && r.err().text("error_user_msg") != "")
		})
	}
}

func letters(n int) string { return strings.Repeat("x", n) }

// with is a template of a plain body and more.
func with(more ...object) object {
	return object{"components": append([]object{{"type": "BODY", "text": "Plain text."}}, more...)}
}

func marketing(change object) object {
	change["category"] = "MARKETING"
	return change
}

// bodyText is a template of a body with examples.
func bodyText(text string, examples ...string) object {
	return object{"components": []object{{"type": "BODY", "text": text, "example": object{"body_text": [][]string{examples}}}}}
}

func named(text string, example ...object) object {
	return object{"parameter_format": "named", "components": []object{{"type": "BODY", "text": text, "example": object{"body_text_named_params": example}}}}
}

func mediaHeader(format string, handles ...string) object {
	return object{"type": "HEADER", "format": format, "example": object{"header_handle": handles}}
}

func textHeader(text string, examples ...string) object {
	h := object{"type": "HEADER", "format": "TEXT", "text": text}
	if examples != nil {
		h["example"] = object{"header_text": examples}
	}
	return h
}

func buttons(list ...object) object { return object{"type": "BUTTONS", "buttons": list} }

func quickReply(text string) object { return object{"type": "QUICK_REPLY", "text": text} }

func linkButton(url string, examples ...string) object {
	b := object{"type": "URL", "text": "Go", "url": url}
	if examples != nil {
		b["example"] = examples
	}
	return b
}

func TestTheFrameOfATemplateIsChecked(t *testing.T) {
	checkRules(t, []ruleCase{
		{"plain", with(), good},
		{"name in upper case", object{"name": "Order"}, "2388046"},
		{"name too long", object{"name": letters(513)}, "2388046"},
		{"no name", object{"name": nil}, noSubcode},
		{"no language", object{"language": nil}, noSubcode},
		{"strange language", object{"language": "klingon!"}, noSubcode},
		{"no category", object{"category": nil}, noSubcode},
		{"strange category", object{"category": "FUN"}, noSubcode},
		{"no components", object{"components": []object{}}, noSubcode},
		{"components of nothing", object{"components": []any{5}}, noSubcode},
		{"strange component", with(object{"type": "PICTURE"}), noSubcode},
		{"no body", object{"components": []object{textHeader("Hi")}}, "2388072"},
		{"two bodies", with(object{"type": "BODY", "text": "Again."}), noSubcode},
		{"strange format", object{"parameter_format": "random"}, noSubcode},
		{"lifetime", object{"message_send_ttl_seconds": 60}, good},
		{"lifetime without end", object{"message_send_ttl_seconds": -1}, good},
		{"lifetime too long", object{"message_send_ttl_seconds": 99999}, noSubcode},
		{"lifetime of marketing", marketing(object{"message_send_ttl_seconds": 60}), noSubcode},
		{"lifetime of marketing without end", marketing(object{"message_send_ttl_seconds": -1}), noSubcode},
		{"lifetime in words", object{"message_send_ttl_seconds": "long"}, noSubcode},
	})
}

func TestTheBodyOfATemplateIsChecked(t *testing.T) {
	checkRules(t, []ruleCase{
		{"1024 characters", bodyText(letters(1024)), good},
		{"1025 characters", bodyText(letters(1025)), longCode},
		{"empty", bodyText(" "), "2388072"},
		{"no example", object{"components": []object{{"type": "BODY", "text": "Hi {{1}} there"}}}, sampleCode},
		{"flat example", object{"components": []object{{"type": "BODY", "text": "Hi {{1}} there", "example": object{"body_text": []string{"x"}}}}}, good},
		{"empty example", bodyText("Hi {{1}} there", ""), sampleCode},
		{"too few examples", bodyText("Hi {{1}} and {{2}} there", "a"), sampleCode},
		{"too many examples", bodyText("Hi {{1}} there", "a", "b"), sampleCode},
		{"one variable twice", bodyText("Hi {{1}}, dear {{1}}, hello", "a"), good},
		{"out of order", bodyText("Hi {{2}} and {{1}} there", "a", "b"), good},
		{"gap in numbers", bodyText("Hi {{1}} and {{3}} there", "a", "b"), "2388072"},
		{"from zero", bodyText("Hi {{0}} there", "a"), "2388072"},
		{"leading variable", bodyText("{{1}} is here", "a"), "2388299"},
		{"trailing variable", bodyText("Here is {{1}}", "a"), "2388299"},
		{"trailing variable and full stop", bodyText("Here is {{1}}.", "a"), good},
		{"adjacent variables", bodyText("Hi {{1}} {{2}} there", "a", "b"), "2388072"},
		{"too many variables", bodyText("a {{1}}, {{2}}, {{3}}.", "a", "b", "c"), "2388293"},
		{"bad braces", bodyText("Hi {{1} there", "a"), "2388072"},
		{"letters as number", bodyText("Hi {{name}} there", "a"), "2388072"},
		{"named", named("Hi {{first_name}} there", object{"param_name": "first_name", "example": "Ann"}), good},
		{"named without example", named("Hi {{first_name}} there"), sampleCode},
		{"named with empty example", named("Hi {{first_name}} there", object{"param_name": "first_name", "example": ""}), sampleCode},
		{"named in capitals", named("Hi {{Name}} there", object{"param_name": "Name", "example": "Ann"}), "2388072"},
		{"named with signs", named("Hi {{na$me}} there", object{"param_name": "na$me", "example": "Ann"}), "2388072"},
	})
}

func TestHeaderAndFooterOfATemplateAreChecked(t *testing.T) {
	checkRules(t, []ruleCase{
		{"text", with(textHeader("Hi")), good},
		{"variable", with(textHeader("Hi {{1}}", "x")), good},
		{"without example", with(textHeader("Hi {{1}}")), sampleCode},
		{"two variables", with(textHeader("{{1}} {{2}}", "x", "y")), "2388047"},
		{"bad braces", with(textHeader("Hi {{1}")), "2388047"},
		{"61 characters", with(textHeader(letters(61))), longCode},
		{"no text", with(textHeader("")), "2388047"},
		{"two lines", with(textHeader("a\nb")), "2388047"},
		{"image", with(mediaHeader("image", "4::aW1n:AR")), good},
		{"image without handle", with(mediaHeader("IMAGE")), sampleCode},
		{"image with rubbish", with(mediaHeader("IMAGE", "rubbish")), "2388047"},
		{"video", with(mediaHeader("VIDEO", "4::x")), good},
		{"document", with(mediaHeader("DOCUMENT", "4::x")), good},
		{"location", with(object{"type": "HEADER", "format": "LOCATION"}), good},
		{"product", with(object{"type": "HEADER", "format": "PRODUCT"}), good},
		{"sound", with(object{"type": "HEADER", "format": "SOUND"}), "2388047"},
		{"footer", with(object{"type": "FOOTER", "text": "Bye"}), good},
		{"footer without text", with(object{"type": "FOOTER"}), "2388073"},
		{"footer with variable", with(object{"type": "FOOTER", "text": "Bye {{1}}"}), "2388073"},
		{"footer of 61 characters", with(object{"type": "FOOTER", "text": letters(61)}), longCode},
	})
}

func TestTheButtonsOfATemplateAreChecked(t *testing.T) {
	phone := func(number string) object {
		return object{"type": "PHONE_NUMBER", "text": "Call", "phone_number": number}
	}
	yes, link := quickReply("Yes"), linkButton("https://x.y")
	eleven := make([]object, 11)
	for i := range eleven {
		eleven[i] = quickReply("Yes")
	}
	checkRules(t, []ruleCase{
		{"both groups", with(buttons(yes, link)), good},
		{"none", with(buttons()), noSubcode},
		{"eleven", with(buttons(eleven...)), noSubcode},
		{"mixed", with(buttons(yes, link, yes)), noSubcode},
		{"three links", with(buttons(link, link, link)), noSubcode},
		{"lever", with(buttons(object{"type": "LEVER", "text": "x"})), noSubcode},
		{"no text", with(buttons(quickReply(""))), noSubcode},
		{"variable in text", with(buttons(quickReply("Hi {{1}}"))), noSubcode},
		{"26 characters", with(buttons(quickReply(letters(26)))), longCode},
		{"link with variable", with(buttons(linkButton("https://x.y/{{1}}", "https://x.y/1"))), good},
		{"link without example", with(buttons(linkButton("https://x.y/{{1}}"))), sampleCode},
		{"variable inside link", with(buttons(linkButton("https://x.y/{{1}}/z", "q"))), noSubcode},
		{"link to nowhere", with(buttons(linkButton("nowhere"))), noSubcode},
		{"link with bad braces", with(buttons(linkButton("https://x.y/{{1}"))), noSubcode},
		{"link too long", with(buttons(linkButton("https://x.y/" + letters(2000)))), longCode},
		{"phone", with(buttons(phone("+15550001111"))), good},
		{"bad phone", with(buttons(phone("soon"))), noSubcode},
		{"code", with(buttons(object{"type": "COPY_CODE", "example": "SAVE20"})), good},
		{"code in a list", with(buttons(object{"type": "COPY_CODE", "example": []string{"SAVE20"}})), good},
		{"code without example", with(buttons(object{"type": "COPY_CODE"})), sampleCode},
		{"flow", with(buttons(object{"type": "FLOW", "text": "Go", "flow_id": "1"})), good},
		{"flow of nothing", with(buttons(object{"type": "FLOW", "text": "Go"})), noSubcode},
		{"contact request", with(buttons(object{"type": "REQUEST_CONTACT_INFO"})), good},
	})
}

func TestCarouselsAndOffersAreChecked(t *testing.T) {
	yes, link := quickReply("Yes"), linkButton("https://x.y")
	code := object{"type": "COPY_CODE", "example": "SAVE20"}
	card := func(components ...object) object { return object{"components": components} }
	picture := card(mediaHeader("IMAGE", "4::x"), buttons(yes))
	cards := func(list ...object) object { return object{"type": "CAROUSEL", "cards": list} }
	offer := func(text string) object {
		return object{"type": "LIMITED_TIME_OFFER", "limited_time_offer": object{"text": text}}
	}
	eleven := make([]object, 11)
	for i := range eleven {
		eleven[i] = picture
	}
	long := card(mediaHeader("IMAGE", "4::x"), object{"type": "BODY", "text": letters(161)}, buttons(yes))
	checkRules(t, []ruleCase{
		{"two cards", marketing(with(cards(picture, picture))), good},
		{"one card", marketing(with(cards(picture))), noSubcode},
		{"eleven cards", marketing(with(cards(eleven...))), noSubcode},
		{"unequal cards", marketing(with(cards(picture, card(mediaHeader("VIDEO", "4::x"), buttons(yes))))), noSubcode},
		{"card without buttons", marketing(with(cards(card(mediaHeader("IMAGE", "4::x")), picture))), noSubcode},
		{"card of text", marketing(with(cards(card(textHeader("Hi"), buttons(yes)), picture))), noSubcode},
		{"card of a document", marketing(with(cards(card(mediaHeader("DOCUMENT", "4::x"), buttons(yes)), picture))), noSubcode},
		{"card of a place", marketing(with(cards(card(object{"type": "HEADER", "format": "LOCATION"}, buttons(yes)), picture))), noSubcode},
		{"card with three buttons", marketing(with(cards(card(mediaHeader("IMAGE", "4::x"), buttons(yes, yes, yes)), picture))), noSubcode},
		{"card with long body", marketing(with(cards(long, long))), longCode},
		{"carousel with footer", marketing(with(cards(picture, picture), object{"type": "FOOTER", "text": "Bye"})), noSubcode},
		{"utility carousel", with(cards(picture, picture)), noSubcode},
		{"offer", marketing(with(offer("Ends soon"), buttons(code, link))), good},
		{"offer with late code", marketing(with(offer("Ends soon"), buttons(link, code))), noSubcode},
		{"offer too long", marketing(with(offer(letters(17)))), noSubcode},
		{"offer with footer", marketing(with(offer("Soon"), object{"type": "FOOTER", "text": "Bye"})), noSubcode},
		{"offer with long body", marketing(object{"components": []object{{"type": "BODY", "text": letters(601)}, offer("Soon")}}), longCode},
	})
}

func TestAuthenticationTemplatesAreChecked(t *testing.T) {
	auth := func(comps ...object) object { return object{"category": "AUTHENTICATION", "components": comps} }
	otp := func(kind string, extra ...any) object {
		o := object{"type": "OTP", "otp_type": kind}
		for i := 0; i < len(extra); i += 2 {
			o[extra[i].(string)] = extra[i+1]
		}
		return buttons(o)
	}
	expires := func(minutes int) object { return object{"type": "FOOTER", "code_expiration_minutes": minutes} }
	apps := []object{{"package_name": "a.b", "signature_hash": "12345678901"}}
	body := object{"type": "BODY"}
	checkRules(t, []ruleCase{
		{"copy code", auth(object{"type": "BODY", "add_security_recommendation": true}, expires(10), otp("COPY_CODE")), good},
		{"one tap", auth(body, otp("ONE_TAP", "supported_apps", apps)), good},
		{"one tap without app", auth(body, otp("ONE_TAP")), noSubcode},
		{"one tap with half an app", auth(body, otp("ONE_TAP", "supported_apps", []object{{"package_name": "a.b"}})), noSubcode},
		{"zero tap", auth(body, otp("ZERO_TAP", "supported_apps", apps, "zero_tap_terms_accepted", true)), good},
		{"zero tap without terms", auth(body, otp("ZERO_TAP", "supported_apps", apps)), noSubcode},
		{"strange kind", auth(body, otp("TELEPATHY")), noSubcode},
		{"long label", auth(body, otp("COPY_CODE", "text", letters(26))), longCode},
		{"own text", auth(object{"type": "BODY", "text": "Buy now"}, otp("COPY_CODE")), "2388072"},
		{"91 minutes", auth(body, expires(91), otp("COPY_CODE")), noSubcode},
		{"no minutes", auth(body, expires(0), otp("COPY_CODE")), noSubcode},
		{"header", auth(body, textHeader("Hi"), otp("COPY_CODE")), noSubcode},
		{"two buttons", auth(body, buttons(object{"type": "OTP"}, object{"type": "OTP"})), noSubcode},
		{"quick reply", auth(body, buttons(quickReply("Yes"))), noSubcode},
		{"carousel", auth(body, object{"type": "CAROUSEL"}), noSubcode},
	})
}
