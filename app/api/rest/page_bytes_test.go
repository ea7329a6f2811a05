package rest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// createLarge makes labels whose names have so many characters.
func (f *fixture) createLarge(n, size int) {
	f.t.Helper()
	for i := range n {
		name := fmt.Sprint(i, strings.Repeat("a", size))
		if got := f.call("POST", "/labels", `{"name":"`+name+`"}`); got.status != 201 {
			f.t.Fatal(got.code())
		}
	}
}

// An item that alone is larger than a page is a page of its own.
func TestALargeItemIsAPageOfItsOwn(t *testing.T) {
	is := is.New(t)
	f := serve(t, func(o *Options) { o.PageBytes = 100 })
	f.createLarge(5, 10)
	page := f.call("GET", "/labels", "")
	is.Equal(len(page.ids()), 1)
	is.Equal(page.get("has_more"), true)
	is.Equal(len(f.walk()), 5)
}

// While many large pages are under way, further ones are short, so that they do not
// fill the memory together.
func TestManyLargePagesAtOnceAreShort(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.createLarge(20, 30_000)
	is.Equal(len(f.call("GET", "/labels", "").ids()), 20)

	for range cap(f.api.largePages) {
		f.api.largePages <- struct{}{}
	}
	is.Equal(len(f.call("GET", "/labels", "").ids()), 8)
	is.Equal(len(f.walk()), 20)
	<-f.api.largePages
	is.Equal(len(f.call("GET", "/labels", "").ids()), 20)
	is.Equal(len(f.call("GET", "/labels", "").ids()), 20) // its place is free again
}

// A rendered page is one JSON document, with and without items.
func TestAPageIsOneDocument(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	var page struct {
		Data      []json.RawMessage `json:"data"`
		HasMore   *bool             `json:"has_more"`
		RequestID string            `json:"request_id"`
	}
	is.NoErr(json.Unmarshal([]byte(f.call("GET", "/labels", "").body), &page))
	is.True(page.Data != nil && len(page.Data) == 0 && page.HasMore != nil && page.RequestID != "")
}
