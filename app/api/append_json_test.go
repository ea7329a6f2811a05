package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"confab/app/api/rest"
	"confab/storage"
)

// encoded is what encoding/json writes, which is what views that write their own JSON
// must write too.
func encoded(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// encodedMessage is a message as encoding/json writes it, with the content after it.
func encodedMessage(t testing.TB, v messageView) string {
	t.Helper()
	type plain messageView // without its methods
	text := encoded(t, plain(v))
	if messageFieldNames[v.Type] {
		return text
	}
	name, err := json.Marshal(v.Type)
	if err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	if err := json.Compact(&content, v.content); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(text, "}") + "," + string(name) + ":" + content.String() + "}"
}

// hostileTexts are what has to be escaped, what only HTML would have escaped, and what
// is no text.
var hostileTexts = []string{
	"", "plain", `"`, `\`, "/", "<script>&'</script>", "a\x00b", "\x01\b\t\n\v\f\r\x1f\x7f", "Grüße, 世界 👋", "\u2028 \u2029 \u2027", "\u0085\ufeff\ufffd",
	"\xff", "a\xc3", "\xe2\x80", "\xe2\x80\xa8\xe2", "\xed\xa0\x80", "\xf4\x90\x80\x80", "null", strings.Repeat(`long "text" `, 300),
}

// hostileStored is JSON as it may have come: with space, escapes, and what only looks
// like space or the end of a string.
var hostileStored = []string{
	`null`, `{}`, ` { } `, "[\n1 ,\t2\r\n]", `{"body": "a  b"}`, `{"a\" b" : "\\" , "c":"\\\" "}`, `"\u2028 <&>"`, `-1.5e+3`, `[[[ ]]]`,
	"{\"a\":\"\u2028 \xff\"}", `{"link":"https://a.test/?a=1&b=2", "caption":"<b>"}`, ` true `, `""`, `"\\"`,
}

// drawText is a text, most often a hostile one.
func drawText(t *rapid.T, name string) string {
	part := rapid.OneOf(rapid.SampledFrom(hostileTexts), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	return strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, name), "")
}

// fillView gives every field of a view a value, also those that are added one day.
func fillView(t *rapid.T, name string, v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[storage.JSON]():
		if rapid.Bool().Draw(t, name+" given") {
			v.SetBytes([]byte(rapid.SampledFrom(hostileStored).Draw(t, name)))
		}
		return
	case reflect.TypeFor[storage.Time]():
		v.SetInt(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-99_999_999_999_999, 299_999_999_999_999)).Draw(t, name))
		return
	}

	switch v.Kind() {
	case reflect.String:
		v.SetString(drawText(t, name))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, name))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, name))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, name+" given") {
			v.Set(reflect.New(v.Type().Elem()))
			fillView(t, name, v.Elem())
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 3).Draw(t, name+" length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			fillView(t, fmt.Sprint(name, i), v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				fillView(t, name+"."+field.Name, v.Field(i))
			}
		}
	default:
		t.Fatalf("%s is a %s, which this test cannot make up", name, v.Type())
	}
}

// appenders are the views that write their own JSON.
func appenders() []any {
	return []any{messageView{}, mediaView{}, sendErrorView{}, conversationView{}, &assigneeView{}, contactView{}, chatAccountView{}}
}

// Views that write their own JSON write the bytes that encoding/json would.
func TestViewsWriteWhatTheEncoderWouldWrite(t *testing.T) {
	for _, zero := range appenders() {
		kind := reflect.TypeOf(zero)
		t.Run(kind.String(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				v := reflect.New(kind).Elem()
				fillView(rt, "view", v)
				want := ""
				switch view := v.Interface().(type) {
				case messageView:
					view.content = storage.JSON(rapid.SampledFrom(hostileStored).Draw(rt, "content"))
					view.Type = rapid.OneOf(rapid.SampledFrom([]string{"text", "status", "image", "a<b"}), rapid.Just(view.Type)).Draw(rt, "type")
					want = encodedMessage(t, view)
					v.Set(reflect.ValueOf(view))
				default:
					want = encoded(t, view)
				}

				got, err := rest.AppendView([]byte("before"), v.Interface())
				if err != nil || string(got) != "before"+want {
					rt.Fatalf("wrote\n%s\nin the place of\n%s (%v)", got, want, err)
				}
				if !utf8.Valid(got) && utf8.ValidString(want) {
					rt.Fatalf("%q is not UTF-8", got)
				}
			})
		})
	}
}

// A message of any content is the message that the encoder would write.
func FuzzMessageView(f *testing.F) {
	for i, text := range hostileTexts {
		f.Add(text, text, []byte(hostileStored[i%len(hostileStored)]), int64(i))
	}
	f.Fuzz(func(t *testing.T, kind, text string, stored []byte, number int64) {
		if !json.Valid(stored) {
			return
		}
		code := int(number)
		v := messageView{
			ID: text, From: &text, Type: kind, Context: stored, content: stored, CreatedAt: storage.Time(number % 1e14), IsRevoked: number > 0,
			Media: &mediaView{URL: &text, Size: &number}, Error: &sendErrorView{Message: text, ProviderCode: &code},
		}
		if got, want := string(v.AppendJSON(nil)), encodedMessage(t, v); got != want {
			t.Fatalf("wrote\n%s\nin the place of\n%s", got, want)
		}
	})
}
