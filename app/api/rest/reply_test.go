package rest

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestIfNoneMatchTakesListsAndTheStar(t *testing.T) {
	const tag = `W/"abc"`
	tests := []struct {
		headers []string
		want    bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{`W/"abc"`}, true},
		{[]string{`"abc"`}, true}, // weak comparison
		{[]string{"*"}, true},
		{[]string{" * "}, true},
		{[]string{`"x", W/"abc"`}, true},
		{[]string{`"x",W/"abc","y"`}, true},
		{[]string{`"x"`, `W/"abc"`}, true},
		{[]string{`"x"`, `"y"`}, false},
		{[]string{`abc`}, false},
		{[]string{`W/abc`}, false},
		{[]string{`w/"abc"`}, false},
		{[]string{`"abcd"`}, false},
		{[]string{`"ABC"`}, false},
		{[]string{`"**"`}, false},
		{[]string{`,,"abc",,`}, true},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.headers, " | "), func(t *testing.T) {
			is.New(t).Equal(matchesETag(tt.headers, tag), tt.want)
		})
	}
}

func TestACurrentCopyIsNotSentAgain(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	full := f.callAs("", "GET", "/document", "")
	tag := full.header.Get("ETag")
	for _, method := range []string{"GET", "HEAD"} {
		got := f.callAs("", method, "/document", "", `If-None-Match: "other", `+tag)
		is.Equal(got.status, 304)
		is.Equal(got.body, "")
		is.Equal(got.header.Get("ETag"), tag)
		is.Equal(got.header.Get("Content-Type"), "")
		is.True(got.header.Get("X-Request-Id") != "")
	}
	is.Equal(f.callAs("", "GET", "/document", "", `If-None-Match: "other"`).status, 200)
	is.Equal(f.call("GET", "/labels", "", "If-None-Match: *").status, 200) // a list of labels has no tag
}

func TestAWaitIsInWholeSecondsAndAtLeastOne(t *testing.T) {
	is := is.New(t)
	for wait, want := range map[time.Duration]string{
		0: "1", 1: "1", time.Second: "1", time.Second + 1: "2", 90 * time.Second: "90", -time.Second: "1",
	} {
		is.Equal(wholeSeconds(wait), want)
	}
}

func TestTextIsNotEscapedForHTML(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	got := f.call("POST", "/labels", `{"name":"<a href=\"x\">&ü</a>"}`)
	is.True(strings.Contains(got.body, `"name":"<a href=\"x\">&ü</a>"`))
	is.Equal(got.header.Get("Content-Type"), "application/json")
	is.Equal(got.header.Get("X-Content-Type-Options"), "nosniff") // or an old browser might run it
}

func TestWhatCannotBeRenderedHasNoBody(t *testing.T) {
	is := is.New(t)
	rep := OK(func() {})
	is.True(rep.Render("req_1") != nil)
	is.Equal(rep.Body, nil) // half an answer would be sent, or remembered
	_, err := WholeList([]any{func() {}}, func(v any) any { return v })
	is.True(err != nil)
}
