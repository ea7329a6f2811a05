package rest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestHalfACharacterIsNoJSON(t *testing.T) {
	f := serve(t)
	for body, want := range map[string]int{
		`{"name":"a\ud800b"}`:      400,
		`{"name":"\udc00"}`:        400,
		`{"name":"\ud83d"}`:        400,
		`{"name":"\ud83d\ud83d"}`:  400,
		`{"name":"\ud83d\n"}`:      400,
		`{"name":"\ud83d\ude00"}`:  201,
		`{"name":"\\ud800 spelt"}`: 201,
		`{"name":"\u00e4"}`:        201,
	} {
		got := f.call("POST", "/labels", body)
		if got.status != want || (want == 400 && got.get("error.code") != "invalid_json") {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}

func TestABodyMayHaveOneMebibyte(t *testing.T) {
	const mebibyte = 1_048_576
	f := serve(t)
	fill := func(size int) string {
		body := `{"name":"VIP"` + strings.Repeat(" ", size)
		return body[:size-1] + "}"
	}
	for _, chunked := range []bool{false, true} {
		send := func(body string) answer {
			req, err := http.NewRequest("POST", f.url+"/labels", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if chunked {
				req.ContentLength = -1
				req.Body = io.NopCloser(strings.NewReader(body))
			}
			req.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
			req.Header.Set("Content-Type", "application/json")
			return f.do(req)
		}
		is := is.New(t)
		before := f.labels()
		got := send(fill(mebibyte + 1))
		is.Equal(got.code(), "413 request_too_large")
		is.Equal(got.get("error.type"), "invalid_request_error")
		is.Equal(f.labels(), before)
		made := send(fill(mebibyte))
		is.Equal(made.code(), "201")
		is.Equal(f.call("DELETE", "/labels/"+made.text("data.id"), "").status, 200)
	}
}

func TestABodyThatIsNoJSONObjectIsRefused(t *testing.T) {
	f := serve(t)
	id := f.call("POST", "/labels", `{"name":"VIP"}`).text("data.id")
	bodies := map[string]string{
		"garbage": "hello", "an array": `[{"name":"a"}]`, "a string": `"name"`, "null": "null", "a number": "1", "two values": `{"name":"a"}{"name":"b"}`,
		"something behind it": `{"name":"a"} x`, "truncated": `{"name":"a"`, "a truncated string": `{"name":"a`, "a trailing comma": `{"name":"a",}`,
		"single quotes": `{'name':'a'}`, "invalid UTF-8 in a value": "{\"name\":\"\xff\"}", "invalid UTF-8 in a key": "{\"na\xc3me\":1}", "a lone escape": `{"name":"\u12"}`,
		"a control character": "{\"name\":\"a\nb\"}", "a byte order mark": "\ufeff{}", "other space in front": "\u00a0{}", "a form": "name=a",
		"deep arrays":  `{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
		"deep objects": strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000),
		"NaN":          `{"name":NaN}`, "a bad number": `{"x":01}`, "a comment": `{"name":"a"} // b`,
	}
	for name, body := range bodies {
		for _, target := range []string{"POST /labels", "PATCH /labels/" + id} {
			t.Run(name+" "+target, func(t *testing.T) {
				is := is.New(t)
				method, path, _ := strings.Cut(target, " ")
				got := f.call(method, path, body)
				is.Equal(got.code(), "400 invalid_json")
				is.Equal(got.get("error.type"), "invalid_request_error")
			})
		}
	}
	is.New(t).Equal(f.labels(), 1)
}

func TestAnEmptyBodyIsAnEmptyObject(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	for _, body := range []string{"", " \t\r\n", "{}", " { } "} {
		is.Equal(f.call("POST", "/labels", body).code(), "400 missing_required_field name")
	}
}

func TestATornBodyIsRefused(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	rec := httptest.NewRecorder()
	req := httptest.NewRequest("POST", "/v1/labels", io.MultiReader(strings.NewReader(`{"name":"VIP"}`), failing{}))
	req.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
	f.ServeHTTP(rec, req)
	is.Equal(rec.Code, 400)
	is.True(strings.Contains(rec.Body.String(), `"code":"invalid_json"`))
	is.Equal(f.labels(), 0) // what came was complete by chance
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestQueryParametersAreReadOrRefusedNeverDropped(t *testing.T) {
	f := serve(t)
	tests := []struct{ query, want string }{
		{"", "200"}, {"?", "200"}, {"?limit=1", "200"}, {"?limit=100", "200"}, {"?limit=025", "200"},
		{"?limit=0", "400 invalid_limit limit"}, {"?limit=101", "400 invalid_limit limit"}, {"?limit=-1", "400 invalid_limit limit"},
		{"?limit=abc", "400 invalid_limit limit"}, {"?limit=", "400 invalid_limit limit"}, {"?limit", "400 invalid_limit limit"},
		{"?limit=1.5", "400 invalid_limit limit"}, {"?limit=1e1", "400 invalid_limit limit"}, {"?limit=%201", "400 invalid_limit limit"},
		{"?limit=99999999999999999999", "400 invalid_limit limit"}, {"?limit=٢٥", "400 invalid_limit limit"},
		{"?limit=%zz", "400 invalid_limit limit"}, {"?limit=5;cursor=x", "400 invalid_limit limit"}, {"?%6cimit=0", "400 invalid_limit limit"},
		{"?cursor=", "400 invalid_cursor cursor"}, {"?cursor=x", "400 invalid_cursor cursor"}, {"?cursor=%zz", "400 invalid_cursor cursor"},
		{"?limit=0&cursor=x", "400 invalid_limit limit"},
		{"?sort=name&Limit=0&LIMIT=x&unknown=%zz", "200"}, // unknown ones are ignored
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			is := is.New(t)
			req := httptest.NewRequest("GET", "/v1/labels", nil)
			req.URL.RawQuery = strings.TrimPrefix(tt.query, "?")
			req.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
			rec := httptest.NewRecorder()
			f.ServeHTTP(rec, req)
			is.Equal(answer{status: rec.Code, body: rec.Body.String()}.code(), tt.want)
			if !strings.Contains(tt.query, "%zz") { // which no client can send
				is.Equal(f.call("GET", "/labels"+tt.query, "").code(), tt.want)
			}
		})
	}
}
