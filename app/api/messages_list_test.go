package api

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"confab/storage"
	"confab/storage/storagetest"
)

// inbox is a number with messages of two people, made at different instants.
type inbox struct {
	*fixture
	ada, bob storage.Contact
	all      []storage.Message // oldest first
}

func serveInbox(t testing.TB) inbox {
	f, account := serveNumber(t)
	in := inbox{fixture: f, ada: f.contact(account, "+15551234567"), bob: f.contact(account, "+15557654321")}
	in.all = append(in.all, f.say(in.ada, received("wamid.1"), written("text", "queued"), written("image", "failed"))...)
	in.all = append(in.all, f.say(in.bob, received("wamid.2"), written("text", "failed"), written("text", "sent"))...)
	in.all = append(in.all, f.say(in.ada, written("text", "failed"), written("template", "read"), written("text", "pending"))...)
	for i := range in.all {
		at := storage.At(time.Date(2026, 1, 2, 3, 4, 5, (i+1)*int(time.Millisecond), time.UTC))
		var id ulid.ULID // which carries the time
		if err := id.SetTime(uint64(at)); err != nil {
			t.Fatal(err)
		}
		f.exec(`UPDATE messages SET id = ?, created_at = ? WHERE id = ?`, storage.PrefixMessage+id.String(), at, in.all[i].ID)
		in.all[i].ID = storage.PrefixMessage + id.String()
	}
	return in
}

// find lists what a query finds, as places in all, newest first.
func (in inbox) find(query string) (places []int) {
	in.t.Helper()
	for _, id := range in.call("GET", messages+query, "").ids() {
		places = append(places, slices.IndexFunc(in.all, func(m storage.Message) bool { return m.ID == id }))
	}
	return places
}

func TestAListOfMessagesIsNarrowedByItsFilters(t *testing.T) {
	in := serveInbox(t)
	zone := "created_after=" + url.QueryEscape("2026-01-02T05:04:05.003+02:00")
	for query, want := range map[string][]int{
		"": {8, 7, 6, 5, 4, 3, 2, 1, 0},
		"conversation_id=" + in.all[0].ConversationID:                              {8, 7, 6, 2, 1, 0},
		"contact_id=" + in.ada.ID:                                                  {8, 7, 6, 2, 1, 0},
		"contact_id=" + in.bob.ID:                                                  {5, 4, 3},
		"contact_id=" + in.bob.ID + "&conversation_id=" + in.all[0].ConversationID: nil,
		"contact_id=" + in.ada.ID + "&conversation_id=" + in.all[0].ConversationID: {8, 7, 6, 2, 1, 0},
		"direction=inbound":                                                        {3, 0},
		"direction=outbound":                                                       {8, 7, 6, 5, 4, 2, 1},
		"status=queued":                                                            {1},
		"status=pending":                                                           {8},
		"status=sent":                                                              {5},
		"status=delivered":                                                         {3, 0},
		"status=read":                                                              {7},
		"status=failed":                                                            {6, 4, 2},
		"type=image":                                                               {2},
		"type=location":                                                            nil,
		"created_after=2026-01-02T03:04:05.003Z":                                   {8, 7, 6, 5, 4, 3},
		"created_after=2026-01-02T03:04:05.0025Z":                                  {8, 7, 6, 5, 4, 3, 2},
		"created_before=2026-01-02T03:04:05.003Z":                                  {1, 0},
		"created_before=2026-01-02T03:04:05.0031Z":                                 {2, 1, 0},
		"created_after=1970-01-01T00:00:00Z&status=sent":                           {5},
		"created_before=1970-01-01T00:00:00Z":                                      nil,
		"created_before=0001-01-01T00:00:00Z":                                      nil,
		"created_after=9999-12-31T23:59:59Z":                                       nil,
		zone:                                                                       {8, 7, 6, 5, 4, 3},
		"created_after=2026-01-02T03:04:05.003Z&created_before=2026-01-02T03:04:05.005Z": {3},
		"created_after=2026-01-02T03:04:05.003Z&created_before=2026-01-02T03:04:05.004Z": nil,
		"contact_id=" + in.ada.ID + "&status=failed&type=text&direction=outbound":        {6},
		"contact_id=" + in.ada.ID + "&status=failed&direction=inbound":                   nil,
		"unknown=1&Status=x": {8, 7, 6, 5, 4, 3, 2, 1, 0},
		"conversation_id=" + in.db.NewID(storage.PrefixConversation): nil,
		"contact_id=" + in.db.NewID(storage.PrefixContact):           nil,
	} {
		t.Run(query, func(t *testing.T) {
			is := is.New(t)
			is.Equal(in.find("?"+query), want)
			is.Equal(in.find("?limit=2&"+query), want[:min(2, len(want))])
		})
	}
}

func TestABadFilterIsNamed(t *testing.T) {
	f, _ := serveNumber(t)
	id := f.db.NewID("")
	for _, tt := range []struct{ name, values string }{
		{"conversation_id", "|x|cnv_|ctc_" + id + "|cnv_" + strings.ToLower(id) + "|cnv_" + id + "0"},
		{"contact_id", "|x|ctc_|cnv_" + id + "|*"},
		{"direction", "|in|INBOUND|inbound,outbound"},
		{"status", "|played|Sent|sent "},
		{"type", "|TEXT|system|text,image|failed"},
		{"created_after", "|now|1767323045|2026-01-02|2026-01-02T03:04:05|2026-01-02 03:04:05Z|2026-01-02T03:04:05+02:00|2026-01-02T3:04:05Z|" +
			"2026-01-02T03:04:05,5Z|2026-02-30T03:04:05Z|2026-01-02T25:04:05Z|2026-01-02T03:04:05Z |12026-01-02T03:04:05Z"}, // an unescaped + is a space
		{"created_before", "|yesterday|2026-13-02T03:04:05Z|%zz"},
	} {
		for value := range strings.SplitSeq(tt.values, "|") {
			t.Run(tt.name+"="+value, func(t *testing.T) {
				is := is.New(t)
				got := f.call("GET", messages+"?"+tt.name+"="+strings.ReplaceAll(value, " ", "%20"), "")
				is.Equal(got.code(), "400 invalid_field_value "+tt.name)
				is.Equal(got.get("error.type"), "invalid_request_error")
			})
		}
	}
	is := is.New(t)
	is.Equal(f.call("GET", messages+"?limit=101", "").code(), "400 invalid_limit limit")
	is.Equal(f.call("GET", messages+"?cursor=x", "").code(), "400 invalid_cursor cursor")
	is.Equal(f.call("GET", messages+"?status=x&direction=y", "").code(), "400 invalid_field_value direction") // the first in the list of filters
}

func TestAMessageCursorIsBoundToItsNumberAndFilters(t *testing.T) {
	in := serveInbox(t)
	in.connect(in.tenant, "206540352242922")
	plain := in.call("GET", messages+"?limit=1", "").text("next_cursor")
	narrow := in.call("GET", messages+"?limit=1&status=failed", "").text("next_cursor")
	is := is.New(t)
	is.Equal(in.find("?limit=100&cursor="+plain), []int{7, 6, 5, 4, 3, 2, 1, 0})
	is.Equal(in.find("?status=failed&cursor="+narrow), []int{4, 2})
	is.Equal(in.find("?cursor="+narrow+"&unknown=1&status=failed"), []int{4, 2})
	for _, path := range []string{
		messages + "?status=failed&cursor=" + plain,
		messages + "?cursor=" + narrow,
		messages + "?status=sent&cursor=" + narrow,
		messages + "?type=image&cursor=" + narrow,
		messages + "?status=failed&type=text&cursor=" + narrow,
		messages + "?status=failed&created_after=2020-01-01T00:00:00Z&cursor=" + narrow,
		"/206540352242922/messages?cursor=" + plain,
		"/labels?cursor=" + plain,
	} {
		is.Equal(in.call("GET", path, "").code(), "400 invalid_cursor cursor")
	}
}

func TestPagingVisitsEachMessageOnceWhileOthersAreMade(t *testing.T) {
	f, _ := serveNumber(t)
	numbers := 0
	rapid.Check(t, func(rt *rapid.T) {
		is := is.New(rt)
		numbers++
		id := fmt.Sprintf("3%014d", numbers)
		account := f.connect(f.tenant, id)
		people := []storage.Contact{f.contact(account, "+15551234567"), f.contact(account, "+15557654321")}
		filter := rapid.SampledFrom([]string{"", "&status=failed", "&contact_id=" + people[0].ID, "&type=text&direction=outbound", "&created_before=2999-01-01T00:00:00Z"}).Draw(rt, "filter")
		var want []string
		for range rapid.IntRange(0, 4).Draw(rt, "batches") {
			c := rapid.SampledFrom(people).Draw(rt, "contact")
			status := rapid.SampledFrom([]string{"failed", "sent"}).Draw(rt, "status")
			for _, m := range f.say(c, slices.Repeat([]storage.Message{written("text", status)}, rapid.IntRange(1, 5).Draw(rt, "messages"))...) {
				if filter != "&status=failed" && !strings.Contains(filter, "contact") || filter == "&status=failed" && status == "failed" || strings.Contains(filter, m.ContactID) {
					want = append(want, m.ID)
				}
			}
		}
		slices.Reverse(want)
		var got []string
		for cursor := ""; ; {
			limit := rapid.IntRange(1, 6).Draw(rt, "limit")
			page := f.call("GET", fmt.Sprintf("/%s/messages?limit=%d%s%s", id, limit, filter, cursor), "")
			got = append(got, page.ids()...)
			if page.get("has_more") != true {
				is.Equal(page.get("next_cursor"), nil)
				break
			}
			is.Equal(len(page.ids()), limit)
			cursor = "&cursor=" + page.text("next_cursor")
			f.say(people[0], written("text", "failed"))
		}
		is.Equal(got, want) // in order, each once, and none that came later
	})
}

func TestAListOfMessagesHas25Items(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	is.Equal(f.call("GET", messages, "").get("data"), []any{}) // not null
	all := f.say(f.contact(account, "+15551234567"), slices.Repeat([]storage.Message{written("text", "sent")}, 101)...)
	first := f.call("GET", messages, "")
	is.Equal(len(first.ids()), 25)
	is.Equal(first.ids()[0], all[100].ID) // by id where the instant is the same
	is.Equal(first.ids()[24], all[76].ID)
	is.Equal(len(f.call("GET", messages+"?limit=100", "").ids()), 100)
	is.Equal(f.call("GET", messages+"?limit=100", "").get("has_more"), true)

	other := storagetest.Seed(t, f.db, "Other")
	is.Equal(f.callAs(other.Secret, "GET", messages+"?cursor="+first.text("next_cursor"), "").code(), "404 resource_not_found")
}
