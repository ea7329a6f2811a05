package rest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"
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

// A page of views that write themselves is the page that the encoder would make of them.
func TestAPageIsWhatTheEncoderWouldMakeOfIt(t *testing.T) {
	is := is.New(t)
	cursor := `c<"`
	l := newList(0)
	all := []labelView{{ID: "a"}, {ID: `b"`}}
	for i := range all {
		fits, err := l.Add(&all[i], 1<<20)
		is.NoErr(err)
		is.True(fits)
	}
	l.HasMore, l.NextCursor = true, &cursor
	got := l.Render("req_1")
	is.Equal(string(got), encoded(t, struct {
		Data       []labelView `json:"data"`
		HasMore    bool        `json:"has_more"`
		NextCursor *string     `json:"next_cursor"`
		RequestID  string      `json:"request_id"`
	}{all, true, &cursor, "req_1"}))
	is.Equal(string(newList(3).Render("req_2")), `{"data":[],"has_more":false,"next_cursor":null,"request_id":"req_2"}`)
}

// An item that a page has no room for leaves nothing.
func TestAnItemThatDoesNotFitLeavesNoTrace(t *testing.T) {
	is := is.New(t)
	l := newList(2)
	small, large := labelView{Name: "VIP"}, labelView{Name: strings.Repeat("a", 2000)}
	fits, err := l.Add(&small, 1500)
	is.NoErr(err)
	is.True(fits)
	before := string(l.Data)
	fits, err = l.Add(&large, 1500)
	is.NoErr(err)
	is.True(!fits)
	is.Equal(string(l.Data), before)
	_, err = l.Add(make(chan int), 1<<20)
	is.True(err != nil)
	is.Equal(string(l.Data), before)
	fits, err = newList(1).Add(&large, 10) // the first one, of any size
	is.NoErr(err)
	is.True(fits)
}

func TestTheEndOfAListIsWhatTheEncoderWouldWrite(t *testing.T) {
	is := is.New(t)
	for _, text := range hostileTexts {
		for _, l := range []listBody{{Data: []byte(listStart), HasMore: true, NextCursor: &text}, {Data: []byte(listStart)}} {
			is.Equal(string(l.Render(text)), encoded(t, struct {
				Data       []int   `json:"data"`
				HasMore    bool    `json:"has_more"`
				NextCursor *string `json:"next_cursor"`
				RequestID  string  `json:"request_id"`
			}{[]int{}, l.HasMore, l.NextCursor, text}))
		}
	}
}

func FuzzAppendText(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := string(AppendText(nil, text)), encoded(t, text); got != want {
			t.Fatalf("%q became %s, not %s", text, got, want)
		}
		name, err := json.Marshal(text)
		if got := string(AppendKey(nil, text)); err != nil || got != string(name)+":" {
			t.Fatalf("%q became the name %s, not %s (%v)", text, got, name, err)
		}
	})
}

func FuzzAppendStored(f *testing.F) {
	for _, text := range hostileStored {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := AppendStored(nil, text) // never more than it was given, and no panic
		var want bytes.Buffer
		if json.Compact(&want, text) == nil && !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%q became %q, not %q", text, got, want.Bytes())
		}
	})
}
