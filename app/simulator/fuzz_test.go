package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// quiet is a simulator that posts no callbacks.
func quiet(f *testing.F) (*Server, Number) {
	s, err := New(Options{AccessToken: testToken})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	n, err := s.AddNumber(Number{})
	if err != nil {
		f.Fatal(err)
	}
	set := s.Settings()
	set.SentMS, set.DeliveredMS = nil, nil
	set.PairLimit, set.MessagesPerSecond = false, 0
	if err := s.SetSettings(set); err != nil {
		f.Fatal(err)
	}
	return s, n
}

// checkAnswer wants JSON, an error exactly when the status says so, and never
// a fault of the server's own.
func checkAnswer(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
		t.Fatalf("answer is no JSON: %v: %q", err, w.Body)
	}
	if _, failed := m["error"]; failed != (w.Code != http.StatusOK) {
		t.Fatalf("status %d with %s", w.Code, w.Body)
	}
	if w.Code == http.StatusInternalServerError && !strings.Contains(w.Body.String(), `(#1`) {
		t.Fatalf("the server failed: %s", w.Body)
	}
}

func FuzzMergedParameters(f *testing.F) {
	s, n := quiet(f)
	f.Add("a=b&fields=id", "application/json", []byte(`{"messaging_product":"whatsapp","to":"16505551234","type":"text","text":{"body":"x"}}`))
	f.Add("", "application/x-www-form-urlencoded", []byte(`messaging_product=whatsapp&to=16505551234&text={"body":"x"}`))
	f.Add("messaging_product=whatsapp", "multipart/form-data; boundary=x", []byte("--x\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\n16505551234\r\n--x--\r\n"))
	f.Add("to=%zz&;", "", []byte(`{"type":"interactive","interactive":{"type":"button","action":{"buttons":[1]}}}`))
	f.Add("", "application/json", []byte(`{"messaging_product":"whatsapp","to":"1650555123","type":"template","template":{"name":"x","language":{"code":"en"},"components":[{"type":"body"}]}}`))
	f.Add("", "application/json", []byte(`{"messaging_product":"whatsapp","to":"1650555123","type":"contacts","contacts":[{"name":{"formatted_name":"x"}}]}`))
	f.Fuzz(func(t *testing.T, query, kind string, body []byte) {
		r := httptest.NewRequest("POST", "/"+n.PhoneNumberID+"/messages", bytes.NewReader(body))
		r.URL.RawQuery = query
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Authorization", "Bearer "+testToken)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		checkAnswer(t, w)
	})
}

func FuzzPath(f *testing.F) {
	s, n := quiet(f)
	for _, path := range []string{"/", "/v23.0/" + n.PhoneNumberID, "/" + n.WABAID + "/phone_numbers", "/upload:x", "/oauth/access_token", "/v1.0", "//x//y", "/%3f", "/_sim"} {
		f.Add("GET", path, "fields=id{x},b&limit=1&after=x")
	}
	f.Fuzz(func(t *testing.T, method, path, query string) {
		r, err := http.NewRequest(method, "http://localhost", nil)
		if err != nil || strings.HasPrefix(path, "/_sim/") || path == downloadPath {
			return
		}
		r.URL.Path, r.URL.RawQuery, r.Host = path, query, "localhost"
		r.Header.Set("Authorization", "Bearer "+testToken)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		checkAnswer(t, w)
	})
}

func FuzzInbound(f *testing.F) {
	s, _ := quiet(f)
	for _, body := range []string{
		`{"from":"16505551234","type":"text","text":{"body":"x"}}`, `{"bsuid":"US.1","text":"x","username":"a.b"}`,
		`{"from":"16505551234","type":"image","image":{"data":"aGk=","caption":"c"}}`, `{"from":"1","type":"contacts","contacts":[null]}`,
		`{"from":"16505551234","type":"unsupported","error_code":131060,"context":{"id":"x"}}`, `{"from":"16505551234","type":"location","location":{"latitude":"NaN","longitude":1}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequest("POST", "http://localhost/_sim/inbound", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		checkAnswer(t, w)
		if w.Code == http.StatusInternalServerError {
			t.Fatalf("%s", w.Body)
		}
	})
}

func FuzzTemplateComponents(f *testing.F) {
	for _, comps := range []string{
		`[{"type":"BODY","text":"Hi {{1}} there","example":{"body_text":[["x"]]}}]`,
		`[{"type":"body","text":"a"},{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4::x"]}},{"type":"BUTTONS","buttons":[{"type":"URL","text":"x","url":"https://x.y/{{1}}","example":["1"]}]}]`,
		`[{"type":"BODY","text":"a"},{"type":"CAROUSEL","cards":[{"components":[]},{"components":[{"type":"HEADER","format":"VIDEO"}]}]}]`,
		`[{"type":"BODY","add_security_recommendation":true},{"type":"BUTTONS","buttons":[{"type":"OTP","otp_type":"COPY_CODE"}]}]`,
	} {
		f.Add(comps, "MARKETING", "POSITIONAL", "[]")
		f.Add(comps, "AUTHENTICATION", "NAMED", `[{"type":"body","parameters":[{"type":"text","text":"x"}]},{"type":"button","index":0,"parameters":[{}]}]`)
	}
	s, n := quiet(f)
	f.Fuzz(func(t *testing.T, comps, category, format, given string) {
		made, err := readTemplate(object{"name": "x", "language": "en", "category": category, "parameter_format": format, "components": comps})
		if err != nil {
			return
		}
		again, err := readTemplate(object{"name": "x", "language": "en", "category": category, "parameter_format": format, "components": made.Components})
		if err != nil {
			t.Fatalf("what was accepted and shown is refused: %v", err)
		}
		a, b := marshal(made.Components), marshal(again.Components)
		if !bytes.Equal(a, b) {
			t.Fatalf("tidying is not stable:\n%s\n%s", a, b)
		}
		var list []object
		if decodeJSON([]byte(given), &list) == nil {
			check := parameterCheck{s: s, d: &draft{message: &message{Number: n.PhoneNumberID}}, named: made.Format == formatNamed}
			check.checkComponents(made.Components, list) // must not panic
		}
	})
}

func FuzzEscape(f *testing.F) {
	f.Add("a/b é 😀 \" \\ \u2028")
	f.Fuzz(func(t *testing.T, text string) {
		raw := marshal(text)
		escaped := appendASCII(nil, raw)
		for _, c := range escaped {
			if c >= 0x80 {
				t.Fatalf("not ASCII: %q", escaped)
			}
		}
		var want, got string
		if json.Unmarshal(raw, &want) != nil || json.Unmarshal(escaped, &got) != nil || got != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}

// FuzzNumber reads any text as a recipient. An accepted one has 7 to 15 digits,
// which are all that counts; a code is read out of the last nine of them only.
func FuzzNumber(f *testing.F) {
	for _, number := range []string{"", "+1999000131026", "1999000000190", "000131026", "+1 (650) 555-1234", "1.2.3", "٠٠٠١٣١٠٢٦٩", "1999000+31026", "1999000999999"} {
		f.Add(number)
	}
	f.Fuzz(func(t *testing.T, number string) {
		plain := digits(number)
		if strings.Trim(plain, "0123456789") != "" || digits(plain) != plain {
			t.Fatalf("the digits of %q are %q", number, plain)
		}
		if validPhone(number) && (len(plain) < 7 || len(plain) > 15 || !validPhone(plain)) {
			t.Fatalf("%q is a number, and %q is none", number, plain)
		}
		code, magic := magicCode(plain)
		if magic && (!knownCode(code) || !strings.HasSuffix(plain, fmt.Sprintf("000%06d", code))) {
			t.Fatalf("%q fails with %d", number, code)
		}
	})
}
