package provider

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// FuzzAnswer feeds answers to the parser. Nothing may make it panic, succeed
// without what success needs, or keep a text of unbounded length.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{accepted, `{"success":true}`, `{"error":{"code":100,"error_subcode":33,"error_data":{"blame_field_specs":[["a",0]]}}}`,
		`{"error":"x"}`, `{"data":[],"paging":{"next":"x","cursors":{"after":"y"}}}`, `{"id":"upload:1","file_offset":"3"}`, `<html>`, ``} {
		f.Add(200, []byte(body), "30", `{"1":[{"estimated_time_to_regain_access":1}]}`)
		f.Add(400, []byte(body), "Sun, 15 Nov 2026 12:01:00 GMT", "")
	}
	f.Fuzz(func(t *testing.T, status int, body []byte, retryAfter, usage string) {
		c := through(t, func(r *http.Request) (*http.Response, error) {
			res := reply(r, string(body))
			res.StatusCode = status
			return res, nil
		})
		file := File{MIME: "text/plain", Size: 1, Content: strings.NewReader("x")}
		for name, call := range map[string]func() (ok bool, err error){
			"send": func() (bool, error) {
				s, err := c.Send(t.Context(), token, "1", []byte(`{}`), nil)
				return s.ID != "", err
			},
			"mark read": func() (bool, error) { return true, c.MarkRead(t.Context(), token, "1", "wamid.1", true) },
			"upload": func() (bool, error) {
				id, err := c.UploadMedia(t.Context(), token, "1", file, nil)
				return id != "", err
			},
			"upload handle": func() (bool, error) {
				handle, err := c.UploadHandle(t.Context(), token, file)
				return handle != "", err
			},
			"upload content": func() (bool, error) {
				handle, err := c.uploadContent(t.Context(), token, "upload:1", file)
				return handle != "", err
			},
			"look up": func() (bool, error) {
				m, err := c.lookupMedia(t.Context(), token, "1", "")
				return m.url != nil, err
			},
			"templates": func() (bool, error) {
				all, err := c.Templates(t.Context(), token, "1", "")
				return all != nil, err
			},
			"numbers": func() (bool, error) {
				all, err := c.Numbers(t.Context(), token, "1")
				return all != nil, err
			},
			"template": func() (bool, error) {
				made, err := c.CreateTemplate(t.Context(), token, "1", []byte(`{}`))
				return made.ID != "", err
			},
			"number": func() (bool, error) {
				n, err := c.Number(t.Context(), token, "1")
				return n.ID != "", err
			},
			"exchange": func() (bool, error) {
				tok, err := c.ExchangeCode(t.Context(), "code")
				return isValidToken(tok), err
			},
			"debug": func() (bool, error) {
				a, err := c.debugToken(t.Context(), token)
				return a.Data != nil, err
			},
		} {
			ok, err := call()
			if err == nil && (!ok || status < 200 || status > 299) {
				t.Fatalf("%s: success invented: %d %s", name, status, body)
			}
			if e, isError := err.(*Error); isError {
				judgeFailure(t, e)
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		h := http.Header{"Retry-After": {retryAfter}, "X-Business-Use-Case-Usage": {usage}}
		if wait := requestedWait(h, time.Now()); wait < 0 || wait > maxWait {
			t.Fatalf("pause of %s", wait)
		}
	})
}

func judgeFailure(t *testing.T, e *Error) {
	t.Helper()
	if e.Class.Code == "" || e.Outcome == Done || e.Outcome == "" {
		t.Fatalf("failure without a class: %#v", e)
	}
	if len(e.Error()) > 4*maxTextBytes || strings.Contains(e.Error(), token.Reveal()) {
		t.Fatalf("failure with too much text: %d bytes", len(e.Error()))
	}
}

// FuzzDialect translates documents both ways. The result must be JSON that
// differs from the document only where the dialect says so.
func FuzzDialect(f *testing.F) {
	for _, doc := range []string{callback, accepted, `{"interactive":{"type":"reply_buttons"},"template":{"language":"en"},"messaging_product":"chat"}`,
		`{"object":"chat_business_account","errors":[{"error_data":{"messaging_product":"whatsapp"}}]}`, ` [1.0,"a\"b",{}] `, `"\ud800"`} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		before := bytes.Clone(doc)
		for _, rules := range []*node{toProvider, fromProvider} {
			got, err := translate(doc, rules)
			if !bytes.Equal(doc, before) {
				t.Fatal("the document was changed in place")
			}
			if (err == nil) != json.Valid(doc) {
				t.Fatalf("valid %t, error %v", json.Valid(doc), err)
			}
			if err != nil {
				continue
			}
			judgeTranslation(t, doc, got, rules)
		}
		GetMember(doc, "a")
		all, _ := ParseCallback(doc)
		for _, n := range all {
			judgeNews(t, n)
		}
	})
}

// judgeNews reads one piece of a callback in every way that there is.
func judgeNews(t *testing.T, n CallbackChange) {
	t.Helper()
	Read[TemplateUpdate](n.Value)
	value, err := Read[Value](n.Value)
	if err != nil || string(n.Value) == "null" {
		return
	}
	for _, raw := range value.Messages {
		if narrowed := n.WithOneItem("messages", raw, value.Contacts); narrowed != nil && !json.Valid(narrowed) {
			t.Fatalf("no longer JSON: %q", narrowed)
		}
		if _, err := Read[Message](raw); err != nil || string(raw) == "null" {
			continue
		}
		for _, changed := range []json.RawMessage{DeleteMember(raw, "id"), SetMember(raw, "id", json.RawMessage(`"x"`))} {
			if !json.Valid(changed) {
				t.Fatalf("no longer JSON: %q", changed)
			}
		}
	}
}

// judgeTranslation compares with a translation of the decoded document, which
// knows nothing of bytes.
func judgeTranslation(t *testing.T, doc, got []byte, rules *node) {
	t.Helper()
	if !json.Valid(got) {
		t.Fatalf("no longer JSON: %q", got)
	}
	if again, err := translate(got, rules); err != nil || !bytes.Equal(again, got) {
		t.Fatalf("translated twice: %q", again)
	}
	if !utf8.Valid(doc) {
		return // decoding would replace bytes that are not text
	}
	want, is := rewritten(decoded(t, doc), rules), decoded(t, got)
	if !reflect.DeepEqual(want, is) {
		t.Fatalf("%q became %q", doc, got)
	}
}

func decoded(t *testing.T, doc []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func rewritten(v any, n *node) any {
	if n == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = rewritten(v[key], n.keys[key])
		}
	case []any:
		for i := range v {
			v[i] = rewritten(v[i], n.each)
		}
	case string:
		switch {
		case n.rule != nil && n.rule.from == "":
			return map[string]any{"code": v}
		case n.rule != nil && v == n.rule.from:
			return n.rule.to
		}
	}
	return v
}

// TestTextsOfUsersSurviveTheDialect sends documents with arbitrary texts across
// and back.
func TestTextsOfUsersSurviveTheDialect(t *testing.T) {
	words := rapid.OneOf(rapid.SampledFrom([]string{theirProduct, theirObject, ourProduct, ourObject, ourButtons, theirButtons}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		body, name := words.Draw(t, "body"), words.Draw(t, "name")
		doc, err := json.Marshal(map[string]any{
			"messaging_product": ourProduct, "type": "text", "text": map[string]string{"body": body, "messaging_product": name},
			"interactive": map[string]any{"type": ourButtons, "body": map[string]string{"text": body, "type": name}},
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := ToProvider(doc)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Replace(string(doc), `"type":"reply_buttons"},"messaging_product":"chat"`, `"type":"button"},"messaging_product":"whatsapp"`, 1)
		if string(got) != want {
			t.Fatalf("%s became %s", doc, got)
		}
	})
}
