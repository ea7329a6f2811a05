package api

import (
	"net/url"
	"testing"

	"github.com/matryer/is"
)

// What a search finds is tested where the index is; here it has none, and walks.
func TestMessagesAreSearched(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	send := func(text string) string {
		t.Helper()
		got := f.call("POST", messages, `{"messaging_product":"chat","to":"+15551234567","type":"text","text":{"body":"`+text+`"}}`)
		is.Equal(got.status, 200)
		return got.text("data.id")
	}
	first, second := send("Your order leaves next week"), send("Un café, por favor: order it next, not this week")
	find := func(query string, more ...string) (ids []any) {
		t.Helper()
		path := messages + "?search=" + url.QueryEscape(query)
		for _, m := range more {
			path += "&" + m
		}
		got := f.call("GET", path, "")
		is.Equal(got.status, 200)
		for _, m := range got.get("data").([]any) {
			ids = append(ids, m.(map[string]any)["id"])
		}
		return ids
	}
	is.Equal(find("order"), []any{second, first})
	is.Equal(find("ORDER wee"), []any{second, first})
	is.Equal(find("CAFE"), []any{second})
	is.Equal(find(`"next week"`), []any{first})
	is.Equal(find("order", "direction=inbound"), nil)
	for _, query := range []string{`"`, `'`, "*", "a* OR b", "NEAR(", "order AND", "-order", "\x00", "body:", "^", "{order}", "💥", `"" ""`} {
		f.call("GET", messages+"?search="+url.QueryEscape(query), "")
		find(query)
	}
	is.Equal(find("!?"), nil) // no word

	got := f.call("GET", messages+"?search=order&limit=1", "")
	is.Equal(got.get("has_more"), true)
	is.Equal(find("order", "limit=1", "cursor="+got.text("next_cursor")), []any{first})
	is.Equal(f.call("GET", messages+"?search=week&cursor="+got.text("next_cursor"), "").code(), "400 invalid_cursor cursor")
	is.Equal(f.call("GET", messages+"?search=", "").code(), "400 invalid_field_value search")
}
