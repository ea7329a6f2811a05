package api

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/app/api/template"
	"confab/jobs/contactsheet"
	"confab/jobs/guard"
	"confab/jobs/provider"
)

// FuzzPhone reads any text as a phone number: it is E.164 with the very digits
// that were given, and the same when it is read again, or it is none.
func FuzzPhone(f *testing.F) {
	for _, seed := range []string{"", "+", "+15551234567", "15551234567", "++15551234567", "+0555123456", "123456", "1234567", "123456789012345", "1234567890123456", "+1 555 123 4567", "1555123456\n", "１５５５１２３４５６７"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		number, ok := provider.ParsePhone(text)
		if ok != rest.IsPhone(text) {
			t.Fatalf("%q is a phone number, and is not", text)
		}
		digits := strings.TrimPrefix(text, "+")
		genuine := len(digits) >= 7 && len(digits) <= 15 && digits[0] != '0' && strings.Trim(digits, "0123456789") == ""
		if ok != genuine {
			t.Fatalf("%q is taken, or is not", text)
		}
		if again, still := provider.ParsePhone(number); ok && (!still || again != number || number != "+"+digits) {
			t.Fatalf("%q became %q, then %q", text, number, again)
		}
		list := rest.Filters{Values: url.Values{"phone_number": {text}}}
		if read := list.Phone("phone_number", "phone"); ok && (list.Err != nil || read != number) {
			t.Fatalf("%q is %q in a body and %q in a query: %v", text, number, read, list.Err)
		}
	})
}

// FuzzBSUID reads any text as a business-scoped user id. A contact's own is also
// one that can be written to; only a parent's can be that and no contact's.
func FuzzBSUID(f *testing.F) {
	for _, seed := range []string{"", "US", "US.", "US.1", "us.1", "US.ENT.1", "US.ENT.", "US.ENT", "USA.1", "US.1\n", "US.é", "ÜS.1", "US.ENT.ENT.1", "US." + strings.Repeat("a", 128), "US." + strings.Repeat("a", 129)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		recipient, own := provider.BSUID.MatchString(id), contactsheet.IsOwnBSUID(id)
		if own != (recipient && !provider.IsParentBSUID(id)) {
			t.Fatalf("%q: a recipient %t, a contact %t", id, recipient, own)
		}
		if recipient && (len(id) < 4 || len(id) > 135 || strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' })) {
			t.Fatalf("%q is no id", id)
		}
		body, _ := json.Marshal(map[string]any{"messaging_product": "chat", "recipient": id, "type": "text", "text": map[string]string{"body": "x"}})
		if _, err := readMessage(string(body)); (err == nil) != recipient && json.Valid(body) && strings.ToValidUTF8(id, "") == id {
			t.Fatalf("%q: a recipient %t, but %v", id, recipient, err)
		}
	})
}

// FuzzURL lets anything be the address of an endpoint, of a file, or of where a
// setup link leads. An accepted address is https, or http where that is allowed, names a
// host, holds no password, and reads as the same address again.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{
		"", "https://shop.test/hook?a=b", "http://localhost:3000/ok", "https://user:pass@shop.test", "https://shop.test#x", "https://shop.test/ a", "https://", "https:///x", "https:x", "//shop.test",
		"HTTPS://SHOP.TEST", "ftp://shop.test", "javascript:alert(1)", "https://shop.test\\@evil.test", "https://127.0.0.1", "https://[::1]", "https://2130706433", "https://0x7f.1", "https://[::ffff:10.0.0.1]:443",
		"https://shop.test:0", "https://shop.test:99999", "https://shop.test:", "https://[fe80::1%25eth0]", "https://shop.test\r\nX: y", "https://ſhop.test", "https://shop。test", "https://%31%32%37.0.0.1", "http://localhost.evil.test",
	} {
		f.Add(seed)
	}
	urls := guard.New(guard.Options{})
	f.Cleanup(urls.Close)
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		for name, refused := range map[string]error{
			"an endpoint": checkURLForm(urls, &text), "a redirect": checkRedirectURL("url", &text, content.NoHTTP), "a file": content.CheckLink("url", &text, content.NoHTTP),
		} {
			if e, ours := errors.AsType[*rest.Error](refused); refused != nil {
				if !ours || e.Param != "url" || e.Status() != 400 {
					t.Fatalf("%s at %q: no words for a client: %v", name, text, refused)
				}
				continue
			}
			local := name == "a redirect" && u.Scheme == "http" && guard.IsLocalHost(u.Hostname())
			if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && !local || strings.ContainsAny(text, "\r\n") || strings.ContainsAny(u.String(), " \"<>") {
				t.Fatalf("%s may be at %q", name, text)
			}
			if again, err := url.Parse(u.String()); err != nil || again.Host != u.Host || again.Scheme != u.Scheme {
				t.Fatalf("%s at %q is written as %q", name, text, u)
			}
		}
	})
}

// FuzzTemplateBody lets anything be a template. It is refused in words that a
// client can use, or what the provider is sent is a template that says the
// same when it is read again.
func FuzzTemplateBody(f *testing.F) {
	for _, rt := range (&Server{}).Routes() {
		if strings.Contains(rt.Path, "/templates") && rt.Method != "GET" {
			g := generator{operation: described().doc.Paths.Find(braces(rt.Path)).GetOperation(rt.Method)}
			for _, example := range g.examples() {
				f.Add([]byte(toJSON(example)))
			}
		}
	}
	for _, components := range []string{
		`[{"type":"body","text":"Hi {{1}}, bye {{2}}.","example":{"body_text":[["a","b"]]}},{"type":"FOOTER","text":"f"}]`,
		`[{"type":"BODY","text":"Hi {{name}}.","example":{"body_text_named_params":[{"param_name":"name","example":"Ana"}]}}]`,
		`[{"type":"BODY","text":"x"},{"type":"BUTTONS","buttons":[{"type":"PHONE_NUMBER","text":"c","phone_number":"+15551234567"},{"type":"URL","text":"u","url":"https://x.y/{{1}}","example":["1"]},{"type":"QUICK_REPLY","text":"q"}]}]`,
		`[{"type":"BODY","text":"x"},{"type":"CAROUSEL","cards":[{"components":[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["h"]}},{"type":"BODY","text":"c"}]},null]}]`,
		`[{"type":"BODY","add_security_recommendation":true},{"type":"FOOTER","code_expiration_minutes":"5"},{"type":"BUTTONS","buttons":[{"type":"OTP","otp_type":"copy_code"}]}]`,
		`[{"type":"HEADER","format":"TEXT","text":"{{1}}","example":{"header_text":["x"]}},{"type":"BODY","text":"{{1}}"},{"type":"LIMITED_TIME_OFFER","limited_time_offer":{"text":"t","has_expiration":true}}]`,
	} {
		for _, category := range []string{"MARKETING", "utility", "AUTHENTICATION"} {
			f.Add([]byte(`{"name":"n","language":"en-US","category":"` + category + `","parameter_format":"named","message_send_ttl_seconds":"60","components":` + components + `}`))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) || body[0] != '{' {
			return // refused before
		}
		var in template.Draft
		if err := readTemplate(body, &in); err != nil {
			if e, ours := errors.AsType[*rest.Error](err); !ours || e.Param == "" || e.Status() != 400 {
				t.Fatalf("no words for a client: %v", err)
			}
			return
		}
		wire, err := in.ProviderBody()
		if err != nil {
			t.Fatal(err)
		}
		var again template.Draft
		if err := readTemplate(wire, &again); err != nil {
			t.Fatalf("%s became %s, which is refused: %v", body, wire, err)
		}
		if twice, err := again.ProviderBody(); err != nil || string(twice) != string(wire) {
			t.Fatalf("%s became %s", wire, twice)
		}
		row, err := in.Row(1)
		if err != nil || !json.Valid(row.Components) {
			t.Fatalf("%s is kept as %s: %v", body, row.Components, err)
		}
	})
}

// readTemplate reads and checks a body as the handler does.
func readTemplate(body []byte, in *template.Draft) error {
	if err := rest.Unmarshal(body, in); err != nil {
		return err
	}
	return in.Validate()
}
