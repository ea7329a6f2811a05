package api

import (
	"fmt"
	"slices"
	"strings"

	"confab/app/api/content"
	"confab/app/api/template"

	"pgregory.net/rapid"
)

// tree is a JSON object that is being made up.
type tree = map[string]any

// maker makes templates up: mostly right ones, and for each rule some that break
// it.
type maker struct{ *rapid.T }

// odds draws true about once in n times. The least number, which rapid likes best,
// is for the usual case.
func (m maker) odds(n int, what string) bool { return rapid.IntRange(1, n).Draw(m.T, what) == n/2+1 }

// pick draws one of several values.
func pick[V any](m maker, what string, values ...V) V {
	return rapid.SampledFrom(values).Draw(m.T, what)
}

// cased writes a word in some case.
func (m maker) cased(word string) string {
	if m.odds(4, "lower case") {
		return strings.ToLower(word)
	}
	return word
}

// text draws a text with variables: most of the time one as it should be.
func (m maker) text(most int, named bool, variables int) string {
	if m.odds(3, "any text") {
		return m.anyText(most, named, variables)
	}
	text := "Dear"
	for i := range variables {
		name := fmt.Sprint(i + 1)
		if named {
			name = []string{"who", "order_id", "a1"}[i]
		}
		text += " {{" + name + "}} and"
	}
	return text + " friends"
}

// anyText draws words and variables as they come.
func (m maker) anyText(most int, named bool, variables int) string {
	var words []string
	for range rapid.IntRange(0, 6).Draw(m.T, "words") {
		words = append(words, pick(m, "word", "Hello", "dear", "it", "is", "50%", "—", "ünïcode", "10", "\n", "!"))
	}
	for i := range variables {
		name := fmt.Sprint(i + 1)
		if named {
			name = pick(m, "name", "who", "order_id", "a1")
		}
		if m.odds(12, "odd variable") {
			name = pick(m, "odd name", "0", "x", "Who", "7", "", " 1 ", "#1", "first name")
		}
		at := rapid.IntRange(0, len(words)).Draw(m.T, "at")
		words = append(words[:at], append([]string{"{{" + name + "}}"}, words[at:]...)...)
	}
	if m.odds(25, "open braces") {
		words = append(words, "{{1")
	}
	text := strings.Join(words, pick(m, "between", " ", " ", " ", "  ", ""))
	if m.odds(10, "length") {
		text += strings.Repeat("x", most+pick(m, "around the limit", -1, 0, 1)-min(most-1, len([]rune(text))))
	}
	return text
}

// example draws the examples of a text's variables.
func (m maker) example(comp tree, key, text string, named bool) {
	if m.odds(12, "no example") {
		return
	}
	var names []string
	for _, found := range template.Placeholder.FindAllStringSubmatch(text, -1) {
		if name := strings.TrimSpace(found[1]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 && !m.odds(5, "example for nothing") {
		return
	}
	n := len(names)
	if m.odds(15, "count") {
		n = max(0, n+pick(m, "off by", -1, 1))
	}
	if named {
		list := []any{}
		for i := range n {
			name := "more"
			if i < len(names) {
				name = names[i]
			}
			if name == "" {
				name = "x"
			}
			list = append(list, tree{"param_name": name, "example": "e"})
		}
		comp["example"] = tree{key + "_named_params": list}
		return
	}
	list := []any{}
	for range n {
		list = append(list, pick(m, "sample", "Ana", "5", "x y"))
	}
	if m.odds(20, "empty sample") && n > 0 {
		list[0] = ""
	}
	if n > 0 && (key == "body_text" && !m.odds(3, "flat") || m.odds(4, "nested")) {
		comp["example"] = tree{key: []any{list}}
	} else {
		comp["example"] = tree{key: list}
	}
}

func (m maker) header(named, card bool) tree {
	format := pick(m, "format", "TEXT", "IMAGE", "VIDEO", "DOCUMENT", "GIF", "LOCATION", "PRODUCT")
	if card && !m.odds(10, "odd card") {
		format = pick(m, "card format", "IMAGE", "VIDEO")
	}
	comp := tree{"type": m.cased("HEADER"), "format": m.cased(format)}
	if m.odds(25, "bad format") {
		comp["format"] = pick[any](m, "which format", "SOUND", "", nil)
	}
	switch format {
	case "TEXT":
		text := m.text(template.MaxHeaderText, named, rapid.IntRange(0, 2).Draw(m.T, "header variables"))
		comp["text"] = text
		m.example(comp, "header_text", text, named)
	case "IMAGE", "VIDEO", "DOCUMENT", "GIF":
		if !m.odds(15, "no file") {
			comp["example"] = tree{"header_handle": []any{pick(m, "handle", "4::aW1h", "4::aW1h", "4::aW1h", "4:x", "https://scontent.whatsapp.net/v/1", "https://scontent.whatsapp.net/v/2", "nonsense", "")}}
		}
	}
	return comp
}

func (m maker) body(named bool, most int) tree {
	text := m.text(most, named, rapid.IntRange(0, 3).Draw(m.T, "variables"))
	comp := tree{"type": m.cased("BODY"), "text": text}
	m.example(comp, "body_text", text, named)
	return comp
}

func (m maker) button() tree {
	kind := pick(m, "button", "QUICK_REPLY", "QUICK_REPLY", "QUICK_REPLY", "URL", "URL", "URL", "PHONE_NUMBER", "COPY_CODE", "FLOW", "CATALOG", "MPM", "SPM", "VOICE_CALL", "REQUEST_CONTACT_INFO")
	if m.odds(20, "odd button") {
		kind = pick(m, "which odd button", "OTP", "NONSENSE")
	}
	b := tree{"type": m.cased(kind)}
	if !m.odds(20, "no label") {
		b["text"] = pick(m, "label", "Yes", "See more", strings.Repeat("x", 25), strings.Repeat("x", 26), " ", "Hi {{1}}")
		if !m.odds(5, "odd label") {
			b["text"] = "Go"
		}
	}
	switch kind {
	case "URL":
		b["url"] = "https://example.com/{{1}}"
		if m.odds(4, "odd url") {
			b["url"] = pick(m, "which url", "https://example.com", "https://example.com/a", "http://example.com/{{1}}", "https://example.com/{{1}}", "https://example.com/{{2}}",
				"https://example.com/{{1}}/x", "https://example.com/{{order}}", "nowhere", "", "https://example.com/{{1", "https://example.com/"+strings.Repeat("x", 1980))
		}
		if !m.odds(6, "no sample") {
			b["example"] = []any{"https://example.com/5"}
		}
	case "PHONE_NUMBER":
		b["phone_number"] = pick(m, "phone", "+15551234567", "+15551234567", "15551234567", "call me", "", "123")
	case "COPY_CODE":
		b["example"] = pick[any](m, "coupon", "SPRING", "SPRING", []any{"SPRING"}, strings.Repeat("x", 20), strings.Repeat("x", 21), "", nil)
	case "FLOW":
		if !m.odds(4, "no flow") {
			b[pick(m, "flow", "flow_id", "flow_name", "flow_json")] = "7"
		}
	}
	return b
}

func (m maker) buttons(most int) tree {
	n := rapid.IntRange(1, 4).Draw(m.T, "buttons")
	if m.odds(10, "number of buttons") {
		n = pick(m, "how many", 0, most, most+1)
	}
	list := []any{}
	same := m.button()
	alike := m.odds(3, "alike")
	for range n {
		if alike {
			list = append(list, same)
		} else {
			list = append(list, m.button())
		}
	}
	return tree{"type": m.cased("BUTTONS"), "buttons": list}
}

func (m maker) card(named bool) tree {
	parts := []any{}
	if !m.odds(20, "card without header") {
		parts = append(parts, m.header(named, true))
	}
	if m.odds(2, "card with body") {
		parts = append(parts, m.body(named, template.MaxCardBody))
	}
	if !m.odds(20, "card without buttons") {
		parts = append(parts, m.buttons(template.MaxCardButtons))
	}
	if m.odds(25, "card with more") {
		parts = append(parts, tree{"type": "FOOTER", "text": "x"})
	}
	return tree{"components": parts}
}

func (m maker) carousel(named bool) tree {
	n := rapid.IntRange(template.MinCards, 4).Draw(m.T, "cards")
	if m.odds(6, "number of cards") {
		n = pick(m, "how many cards", 0, 1, content.MaxCards, content.MaxCards+1)
	}
	cards := []any{}
	first := m.card(named)
	for range n {
		if m.odds(15, "another card") {
			cards = append(cards, m.card(named))
		} else {
			cards = append(cards, first)
		}
	}
	return tree{"type": m.cased("CAROUSEL"), "cards": cards}
}

// codeParts are those of a template for authentication.
func (m maker) codeParts() []any {
	body := tree{"type": m.cased("BODY")}
	if m.odds(2, "advice") {
		body["add_security_recommendation"] = pick(m, "recommend", true, false)
	}
	if m.odds(12, "own text") {
		body["text"] = "Your code is {{1}}."
	}
	b := tree{"type": m.cased("OTP"), "otp_type": m.cased(pick(m, "otp", "COPY_CODE", "ONE_TAP", "ZERO_TAP"))}
	if m.odds(10, "odd otp") {
		b[pick(m, "odd otp key", "type", "otp_type")] = pick[any](m, "odd otp value", "URL", "SING", nil)
	}
	if m.odds(3, "otp label") {
		b["text"] = strings.Repeat("x", pick(m, "otp label length", 1, 25, 26))
	}
	if !m.odds(4, "no apps") {
		b["supported_apps"] = []any{tree{"package_name": pick(m, "package", "com.a", ""), "signature_hash": strings.Repeat("k", pick(m, "hash", 11, 11, 10, 12))}}
		if !m.odds(5, "bad app") {
			b["supported_apps"] = []any{tree{"package_name": "com.a", "signature_hash": "12345678901"}}
		}
	}
	if !m.odds(3, "no terms") {
		b["zero_tap_terms_accepted"] = !m.odds(5, "terms refused")
	}
	parts := []any{body}
	if !m.odds(15, "no code button") {
		list := []any{b}
		if m.odds(15, "two code buttons") {
			list = append(list, b)
		}
		parts = append(parts, tree{"type": m.cased("BUTTONS"), "buttons": list})
	}
	if m.odds(2, "expires") {
		parts = append(parts, tree{"type": m.cased("FOOTER"), "code_expiration_minutes": pick[any](m, "minutes", 1, 10, 90, 0, 91, "10", nil)})
	}
	if m.odds(20, "code with more") {
		parts = append(parts, m.header(false, false))
	}
	return parts
}

// template makes a whole one up.
func (m maker) template(name string) tree {
	category := pick(m, "category", template.Marketing, template.Utility, template.Authentication)
	named := m.odds(3, "named")
	t := tree{"name": name, "language": pick(m, "language", "en_US", "en", "pt_BR", "fil", "en-US"), "category": m.cased(category)}
	if named {
		t["parameter_format"] = m.cased("NAMED")
	} else if m.odds(4, "positional") {
		t["parameter_format"] = m.cased("POSITIONAL")
	}
	if m.odds(25, "bad top") {
		t[pick(m, "top key", "name", "language", "category")] = pick[any](m, "top value", "Nonsense", "", nil)
	}
	if m.odds(40, "bad format") {
		t["parameter_format"] = "numbered"
	}
	if m.odds(5, "ttl") {
		t["message_send_ttl_seconds"] = pick[any](m, "seconds", -1, 0, 30, 900, 901, 43200, 43201, 2592000, 2592001, "900")
	}
	if category == template.Authentication {
		t["components"] = m.codeParts()
		return t
	}
	parts := []any{}
	if !m.odds(25, "no body") {
		parts = append(parts, m.body(named, pick(m, "body limit", content.MaxBodyText, template.MaxOfferBody)))
	}
	add := func(what string, n int, make func() tree) {
		if m.odds(n, what) {
			parts = append(parts, make())
		}
	}
	fancy := m.odds(4, "fancy")
	if fancy {
		add("carousel", 2, func() tree { return m.carousel(named) })
		add("offer", 2, func() tree {
			return tree{"type": m.cased("LIMITED_TIME_OFFER"), "limited_time_offer": tree{"text": strings.Repeat("x", pick(m, "offer length", 1, 16, 17, 0)), "has_expiration": true}}
		})
	}
	rare := 3
	if fancy {
		rare = 12
	}
	add("header", rare, func() tree { return m.header(named, false) })
	add("footer", rare, func() tree {
		return tree{"type": m.cased("FOOTER"), "text": pick(m, "footer", "Bye", strings.Repeat("x", 60), strings.Repeat("x", 61), " ", "Bye {{1}} all")}
	})
	add("buttons", 3, func() tree { return m.buttons(template.MaxTemplateButtons) })
	add("twice", 30, func() tree { return m.body(named, 100) })
	add("nonsense", 40, func() tree { return tree{"type": pick[any](m, "nonsense type", "SIDEBAR", "", nil)} })
	t["components"] = parts
	return t
}
