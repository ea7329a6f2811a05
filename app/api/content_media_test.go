package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/storage"
)

// fileOf puts a file in each place where one can be.
var fileOf = map[string]func(file string) string{
	"image":    func(file string) string { return message("image", file) },
	"document": func(file string) string { return message("document", file) },
	"video":    func(file string) string { return message("video", file) },
	"audio":    func(file string) string { return message("audio", file) },
	"interactive.header.image": func(file string) string {
		return message("interactive", `{"type":"button","header":{"type":"image","image":`+file+`},"body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}`)
	},
	"interactive.header.video": func(file string) string {
		return message("interactive", linkFrame+`"display_text":"d","url":"https://x.y"}},"header":{"type":"video","video":`+file+`}}`)
	},
	"interactive.header.document": func(file string) string {
		return message("interactive", linkFrame+`"display_text":"d","url":"https://x.y"}},"header":{"type":"document","document":`+file+`}}`)
	},
	"template.components[0].parameters[0].image": func(file string) string {
		return message("template", fillFrame+`{"type":"header","parameters":[{"type":"image","image":`+file+`}]}]}`)
	},
	"template.components[0].parameters[0].gif": func(file string) string {
		return message("template", fillFrame+`{"type":"header","parameters":[{"type":"gif","gif":`+file+`}]}]}`)
	},
	"template.components[1].cards[1].components[0].parameters[0].video": func(file string) string {
		return message("template", fillFrame+`{"type":"body"},{"type":"carousel","cards":[{"card_index":0},{"card_index":1,"components":[{"type":"header","parameters":[{"type":"video","video":`+file+`}]}]}]}]}`)
	},
}

func TestAFileComesFromOnePlace(t *testing.T) {
	for param, body := range fileOf {
		t.Run(param, func(t *testing.T) {
			judgeAll(t, body, []ruling{
				{`{"link":"https://x.y/a.png"}`, ""},
				{`{"link":"https://x.y/a.png","id":null}`, ""},
				{`{"id":"med_1"}`, ""},
				{`{"id":"med_1","link":null}`, ""},
				{`{}`, "missing_required_field " + param + ".link"},
				{`{"link":null,"id":null}`, "missing_required_field " + param + ".link"},
				{`{"link":"https://x.y/a.png","id":"med_1"}`, "invalid_field_value " + param + ".link"},
				{`{"link":"","id":"med_1"}`, "invalid_field_value " + param + ".link"},
				{`{"id":""}`, "invalid_field_value " + param + ".id"},
				{`{"link":"http://x.y/a.png"}`, "invalid_field_value " + param + ".link"},
				{`null`, "missing_required_field " + param},
				{`"med_1"`, "invalid_field_value " + param},
			})
		})
	}
}

func TestALinkIsAnHTTPSURL(t *testing.T) {
	is := is.New(t)
	for _, good := range []string{"https://x.y", "HTTPS://x.y/a?b=c#d", "https://x.y:8443/ä", "https://[::1]/a", "https://1.2.3.4/%20"} {
		is.Equal(verdict(t, content.CheckLink("url", &good, content.NoHTTP)), "") // good
	}
	for _, bad := range []string{
		"", "x", "x.y/a", "//x.y/a", "http://x.y", "ftp://x.y/a", "https:", "https://", "https:///a", "https://:443/a", "https:x.y", "javascript:alert(1)",
		"https://u@x.y/", "https://u:p@x.y/", "https://:p@x.y/", "https://x.y/a b", "https://x y/", " https://x.y", "https://x.y\n", "https://x.y/%zz", "https://x.y:port/", "data:text/plain,x",
	} {
		is.Equal(verdict(t, content.CheckLink("url", &bad, content.NoHTTP)), "invalid_field_value url") // bad
	}
	plain, user := "http://127.0.0.1:8080/a", "http://u@x.y/"
	is.Equal(verdict(t, content.CheckLink("url", &plain, content.AnyHTTP)), "") // where insecure URLs are allowed
	is.Equal(verdict(t, content.CheckLink("url", new("http://x.y/a.png"), content.LocalHTTP)), "invalid_field_value url")
	is.Equal(verdict(t, content.CheckLink("url", new("http://127.0.0.1:9/a.png"), content.LocalHTTP)), "")
	is.Equal(verdict(t, content.CheckLink("url", new("http://localhost/a.png"), content.LocalHTTP)), "")
	is.Equal(verdict(t, content.CheckLink("url", &user, content.AnyHTTP)), "invalid_field_value url")
	is.Equal(verdict(t, content.CheckLink("url", nil, content.AnyHTTP)), "missing_required_field url")
}

func TestPlainHTTPIsTakenWhereItIsAllowed(t *testing.T) {
	for _, body := range fileOf {
		is := is.New(t)
		in := content.MessageBody{AllowHTTP: content.AnyHTTP}
		r := rest.Request{Body: []byte(body(`{"link":"http://x.y/a.png"}`))}
		is.NoErr(r.Decode(&in))
		wire, err := in.ProviderContent()
		is.NoErr(err)
		is.True(strings.Contains(string(wire), `"http://x.y/a.png"`))
	}
	is := is.New(t)
	in := content.MessageBody{AllowHTTP: content.AnyHTTP}
	r := rest.Request{Body: []byte(message("interactive", linkFrame+`"display_text":"d","url":"http://x.y"}}}`))}
	is.NoErr(r.Decode(&in))
}

func TestASendKnowsItsFile(t *testing.T) {
	tests := []struct{ kind, content, wire, id, body string }{
		{"image", `{"id":"med_1","caption":"c","voice":true}`, `{"id":"med_1","caption":"c"}`, "med_1", "c"},
		{"video", `{"link":"https://x.y","filename":"f"}`, `{"link":"https://x.y"}`, "", ""},
		{"document", `{"id":"med_1","caption":"c","filename":"f.pdf"}`, `{"id":"med_1","filename":"f.pdf","caption":"c"}`, "med_1", "c"},
		{"audio", `{"id":"med_1","voice":true,"caption":"no"}`, `{"id":"med_1","voice":true}`, "med_1", ""},
		{"audio", `{"id":"med_1","voice":false}`, `{"id":"med_1","voice":false}`, "med_1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.content, func(t *testing.T) {
			is := is.New(t)
			in := accept(t, message(tt.kind, tt.content))
			s := in.Outgoing()
			is.Equal(s.Type, tt.kind)
			var want []content.MediaRef
			if tt.id != "" {
				want = []content.MediaRef{{Param: tt.kind, Kind: tt.kind, MediaID: tt.id}}
			}
			is.Equal(s.Media, want)
			is.Equal(storage.OrEmpty(s.Body), tt.body)
			is.Equal(s.Body == nil, tt.body == "")

			wire, err := in.ProviderContent()
			is.NoErr(err)
			is.Equal(string(wire), tt.wire)
		})
	}
}

func TestEveryPlaceOfALibraryFileIsKnown(t *testing.T) {
	for param, body := range fileOf {
		t.Run(param, func(t *testing.T) {
			is := is.New(t)
			in := accept(t, body(`{"id":"med_1","filename":"f"}`))
			s := in.Outgoing()
			kind := param[strings.LastIndex(param, ".")+1:]
			is.Equal(len(s.Media), 1)
			is.Equal(s.Media[0].Param, param)
			is.Equal(s.Media[0].Kind, kind)
			is.Equal(s.Media[0].MediaID, "med_1")
			wire, err := in.ProviderContent()
			is.NoErr(err)
			is.Equal(strings.Contains(string(wire), `"filename":"f"`), kind == "document") // only documents show a name
		})
	}
}

func TestTextsAndReactionsHaveNoFile(t *testing.T) {
	is := is.New(t)
	s := accept(t, message("text", `{"body":"hello"}`)).Outgoing()
	is.Equal(len(s.Media), 0)
	is.Equal(*s.Body, "hello")
	s = accept(t, message("reaction", `{"message_id":"a","emoji":"👍"}`)).Outgoing()
	is.Equal(len(s.Media), 0)
	is.Equal(s.Body, nil)
}
