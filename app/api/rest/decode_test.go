package rest

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

// sampleBody has every kind of field that bodies have.
type sampleBody struct {
	Name     *string              `json:"name"`
	Count    *int                 `json:"count"`
	Small    int8                 `json:"small"`
	Ratio    float64              `json:"ratio"`
	On       *bool                `json:"on"`
	IDs      []string             `json:"ids"`
	Text     *sampleText          `json:"text"`
	Rows     []sampleRow          `json:"rows"`
	Grid     [][]int              `json:"grid"`
	Nick     Patch[string]        `json:"nick"`
	Tags     Patch[[]string]      `json:"tags"`
	Inner    Patch[sampleText]    `json:"inner"`
	Metadata map[string]any       `json:"metadata"`
	Raw      json.RawMessage      `json:"raw"`
	Since    storage.Time         `json:"since"`
	Any      any                  `json:"any"`
	Hidden   string               `json:"-"`
	Extra    map[string]sampleRow `json:"extra"`
	sampleCommon
}

type sampleCommon struct {
	Kind string `json:"kind"`
}

type sampleText struct {
	Body *string `json:"body"`
}

type sampleRow struct {
	ID    string      `json:"id"`
	Reply *sampleText `json:"reply"`
}

func TestAWrongTypeIsReportedWithItsWholePath(t *testing.T) {
	tests := []struct{ body, param, rule string }{
		{`{"name":1}`, "name", "must be a string."},
		{`{"name":{"a":1}}`, "name", "must be a string."},
		{`{"count":"1"}`, "count", "must be a whole number."},
		{`{"count":1.5}`, "count", "must be a whole number."},
		{`{"small":300}`, "small", "must be a whole number."},
		{`{"ratio":true}`, "ratio", "must be a number."},
		{`{"on":"yes"}`, "on", "must be true or false."},
		{`{"ids":"a"}`, "ids", "must be an array."},
		{`{"ids":{}}`, "ids", "must be an array."},
		{`{"ids":["a","b",3]}`, "ids[2]", "must be a string."},
		{`{"text":"a"}`, "text", "must be an object."},
		{`{"text":[]}`, "text", "must be an object."},
		{`{"text":{"body":[1]}}`, "text.body", "must be a string."},
		{`{"rows":[{"id":"a"},{"reply":{"body":false}}]}`, "rows[1].reply.body", "must be a string."},
		{`{"rows":[[]]}`, "rows[0]", "must be an object."},
		{`{"grid":[[1,2],[3,"x"]]}`, "grid[1][1]", "must be a whole number."},
		{`{"nick":7}`, "nick", "must be a string."},
		{`{"name":"long enough to mislead an offset","nick":7}`, "nick", "must be a string."},
		{`{"tags":["aaaa",5]}`, "tags[1]", "must be a string."}, // not [0], where the inner offset points
		{`{"inner":{"body":5}}`, "inner.body", "must be a string."},
		{`{"metadata":[]}`, "metadata", "must be an object."},
		{`{"since":"yesterday"}`, "since", "has the wrong format."},
		{`{"since":5}`, "since", "has the wrong format."},
		{`{"kind":5}`, "kind", "must be a string."},
		{`{"ratio":1e999}`, "ratio", "must be a number."},
		{`{"name":1,"count":"x"}`, "name", "must be a string."}, // the first one counts
		{` { "n\u0061me" : [ ] } `, "name", "must be a string."},
		{`{"rows":[{"id":"\"]}"},{"id":"\\"},{"id":{}}]}`, "rows[2].id", "must be a string."},
	}
	for _, tt := range tests {
		t.Run(tt.body, func(t *testing.T) {
			is := is.New(t)
			err := Unmarshal([]byte(tt.body), &sampleBody{})
			e, ok := errors.AsType[*Error](err)
			is.True(ok)
			is.Equal(e.Code, InvalidFieldValue)
			is.Equal(e.Param, tt.param)
			is.Equal(e.Message, tt.param+" "+tt.rule)
		})
	}
}

func TestNamesAreExactAndTheLastOneCounts(t *testing.T) {
	is := is.New(t)
	read := func(body string) sampleBody {
		t.Helper()
		var in sampleBody
		is.NoErr(Unmarshal([]byte(body), &in))
		return in
	}
	is.Equal(read(`{"NAME":"a","Name":5,"naMe":{}}`).Name, nil) // unknown fields, with any value
	is.Equal(*read(`{"name":"a","NAME":"b"}`).Name, "a")
	is.Equal(*read(`{"name":"a","name":"b"}`).Name, "b")
	is.Equal(read(`{"name":"a","name":null}`).Name, nil)
	is.Equal(read(`{"text":{"body":"a"},"text":{}}`).Text.Body, nil) // replaced, not merged
	is.Equal(read(`{"text":{"BODY":"a"}}`).Text.Body, nil)
	is.Equal(*read(`{"\u006eame":"a","\u004eame":"b"}`).Name, "a") // escapes are read first
	is.Equal(read(`{"rows":[{"ID":"a"},{"id":"b"}]}`).Rows, []sampleRow{{}, {ID: "b"}})
	is.Equal(read(`{"nick":null,"nick":"x"}`).Nick, Patch[string]{Set: true, Value: "x"})
	is.Equal(read(`{"tags":["a","b"],"tags":["c"]}`).Tags.Value, []string{"c"})
	is.Equal(read(`{"metadata":{"Name":1,"NAME":2}}`).Metadata, map[string]any{"Name": 1.0, "NAME": 2.0}) // theirs, not ours
	is.Equal(string(read(`{"raw":{"Name": [1]}}`).Raw), `{"Name": [1]}`)
	is.Equal(read(`{"-":"x","Hidden":"y","hidden":"z"}`).Hidden, "")
	is.Equal(read(`{"kind":"x"}`).Kind, "x")
	is.Equal(read(`{"":1,"\\":2,"\"":3}`), sampleBody{})
}

func TestNullFitsEverywhere(t *testing.T) {
	var b strings.Builder
	for name := range StructFields(reflect.TypeFor[sampleBody]()) {
		b.WriteString(`,"` + name + `":null`)
	}
	var in sampleBody
	is := is.New(t)
	is.NoErr(Unmarshal([]byte("{"+b.String()[1:]+"}"), &in))
	is.True(in.Nick.Set && in.Nick.Null && !in.Nick.Given())
	is.Equal(in.Name, nil)
}

func TestDeepBodiesCostNoMoreThanTheirLength(t *testing.T) {
	is := is.New(t)
	const depth = 9_000
	body := []byte(`{"unknown":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `,"name":5}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := Unmarshal(body, &sampleBody{})
	runtime.ReadMemStats(&after)
	is.Equal(err.(*Error).Param, "name")
	is.True(after.TotalAlloc-before.TotalAlloc < 1<<20) // a path for each level would be 100 MB
}

// FuzzDecodePath compares our reading of a body with that of encoding/json: the
// same bodies are taken, and the same field is blamed.
func FuzzDecodePath(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"name":"a","count":1,"rows":[{"id":"x","reply":{"body":"y"}}]}`, `{"ids":["a",1]}`, `{"tags":[1],"inner":{"body":{}}}`,
		`{"grid":[[1],[2,"x"]],"metadata":{"a":[{}]}}`, `{"NAME":1,"name":"a","name":2}`, `{"since":"2026-01-02T03:04:05Z","any":[1e999]}`,
		`{"extra":{"a":{"id":1}}}`, "{\"n\\u0061me\":\"\\ud800\",\"\":{\"\\\\\":[]}}", `{"text":{"body":"a"},"text":null}`,
	} {
		f.Add([]byte(seed))
	}
	indexes := regexp.MustCompile(`\[\d+\]`)
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) || body[0] != '{' {
			return // refused before
		}
		before := string(body)
		var ours, theirs sampleBody
		err := Unmarshal(body, &ours)
		if string(body) != before {
			t.Fatal("the body was changed")
		}
		theirErr := json.Unmarshal(body, &theirs)
		if hasOddKeys(body) {
			return // where encoding/json reads more into the body than there is
		}
		if (err == nil) != (theirErr == nil) {
			t.Fatalf("we say %v, encoding/json says %v", err, theirErr)
		}
		mismatch, ok := errors.AsType[*json.UnmarshalTypeError](theirErr)
		if e, ours := errors.AsType[*Error](err); ok && ours {
			blamed := indexes.ReplaceAllString(e.Param, "")
			if strings.HasPrefix(blamed, "extra.") {
				blamed = "extra" // encoding/json does not name the keys of maps
			}
			if !strings.HasPrefix(mismatch.Field, blamed) {
				t.Errorf("we blame %q, encoding/json %q", e.Param, mismatch.Field)
			}
		}
		if err == nil && !reflect.DeepEqual(ours, theirs) {
			t.Errorf("we read %+v, encoding/json %+v", ours, theirs)
		}
	})
}

// hasOddKeys reports whether a key repeats or differs from its lower case.
func hasOddKeys(body []byte) bool {
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.UseNumber()
	seen := make(map[string]bool)
	for {
		token, err := dec.Token()
		if err != nil {
			return false
		}
		if text, ok := token.(string); ok { // values too: rather too often than too seldom
			if seen[text] || strings.ToLower(strings.ToUpper(text)) != text {
				return true
			}
			seen[text] = true
		}
	}
}

// A field without a rule of its own is bounded all the same.
func TestNoListAndNoTextIsEndless(t *testing.T) {
	list := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(`"a",`, n), ",") + "]" }
	text := func(n int) string { return `"` + strings.Repeat("ä", n-1) + `\u0041"` }
	for _, tt := range []struct{ body, param, rule string }{
		{`{"ids":` + list(1000) + `}`, "", ""},
		{`{"ids":` + list(1001) + `}`, "ids", "must have at most 1000 items."},
		{`{"tags":` + list(1001) + `}`, "tags", "must have at most 1000 items."},
		{`{"grid":[[],` + strings.ReplaceAll(list(1001), `"a"`, "1") + `]}`, "grid[1]", "must have at most 1000 items."},
		{`{"name":` + text(32768) + `}`, "", ""},
		{`{"name":` + text(32769) + `}`, "name", "must have at most 32768 characters."},
		{`{"nick":` + text(32769) + `}`, "nick", "must have at most 32768 characters."},
		{`{"kind":` + text(32769) + `}`, "kind", "must have at most 32768 characters."},
		{`{"rows":[{},{"reply":{"body":` + text(32769) + `}}]}`, "rows[1].reply.body", "must have at most 32768 characters."},
		{`{"ids":["a",` + text(32769) + `]}`, "ids[1]", "must have at most 32768 characters."},
		{`{"unknown":` + text(100_000) + `,"more":` + list(5000) + `}`, "", ""}, // ignored
	} {
		is := is.New(t)
		err := Unmarshal([]byte(tt.body), new(sampleBody))
		if tt.param == "" {
			is.NoErr(err)
			continue
		}
		is.Equal(AsError(err).Param, tt.param)
		is.Equal(AsError(err).Message, tt.param+" "+tt.rule)
	}
}
