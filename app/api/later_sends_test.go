package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage/storagetest"
)

// laterText is the body of a text that is to be sent later.
func laterText(to, at string) string {
	return fmt.Sprintf(`{"messaging_product":"chat","to":%q,"type":"text","text":{"body":"As promised"},"scheduled_at":%q}`, to, at)
}

func TestAMessageCanBeSentLaterAndCancelled(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format("2006-01-02T15:04:05.000Z") }
	for at, want := range map[string]string{
		in(-time.Minute): "400 invalid_field_value scheduled_at", in(90*24*time.Hour + time.Minute): "400 invalid_field_value scheduled_at",
		"tomorrow": "400 invalid_field_value scheduled_at", "": "400 invalid_field_value scheduled_at", in(90*24*time.Hour - time.Minute): "200",
	} {
		is.Equal(f.call("POST", messages, laterText("+15551230000", at)).code(), want)
	}
	is.Equal(f.call("POST", messages, `{"messaging_product":"chat","status":"read","message_id":"wamid.x","scheduled_at":"`+in(time.Hour)+`"}`).code(),
		"400 invalid_field_value scheduled_at") // a receipt, too

	later, soon := in(2*time.Hour), in(time.Hour)
	second := f.call("POST", messages, laterText("+15551230001", later))
	first := f.call("POST", messages, laterText("+15551230002", soon))
	now := f.call("POST", messages, `{"messaging_product":"chat","to":"+15551230003","type":"text","text":{"body":"Now"}}`)
	is.Equal([]any{second.get("data.status"), second.get("data.scheduled_at")}, []any{"queued", later})
	is.Equal([]any{now.get("data.status"), now.get("data.scheduled_at")}, []any{"queued", nil})
	is.Equal(f.call("GET", messages+"?scheduled=true&limit=2", "").ids(), []string{first.text("data.id"), second.text("data.id")}) // the soonest first
	for search, want := range map[string]int{"promised": 2, "prom": 2, "now": 0, "!!": 0} {
		is.Equal(len(f.call("GET", messages+"?scheduled=true&limit=2&search="+search, "").ids()), want) // search
	}
	is.Equal(f.call("GET", messages+"?scheduled=maybe", "").code(), "400 invalid_field_value scheduled")

	cancelled := f.call("DELETE", messages+"/"+second.text("data.id"), "")
	is.Equal([]any{cancelled.status, cancelled.get("data.status"), cancelled.get("data.error.code")}, []any{200, "failed", "message_cancelled"})
	told := f.lastEvent()
	is.True(strings.Contains(told.body, `"code":-1`) && strings.Contains(told.body, `"failed"`)) // message.status says so
	is.Equal(f.call("DELETE", messages+"/"+second.text("data.id"), "").code(), "409 message_not_cancellable")
	is.Equal(f.call("DELETE", messages+"/"+now.text("data.id"), "").status, 200) // its call has not begun
	is.Equal(f.call("DELETE", messages+"/msg_01ARZ3NDEKTSV4RRFFQ69G5FAV", "").code(), "404 resource_not_found")
	is.Equal(f.call("GET", messages+"?scheduled=true&limit=1", "").ids(), []string{first.text("data.id")})
}

// For any import no answer is a fault of ours, each line is accounted for, and as many
// contacts are there as are said to have been created.
func FuzzContactImports(f *testing.F) {
	for _, seed := range []string{
		"phone_number,name\n+15551234567,Ann\n", "\ufeffphone_number;bsuid\r\n+15551234567;US.1\r\n", "phone_number,name\n\"+1555\n1234567\",\"a\"\"b\n",
		"phone_number,labels\n+15551234567,VIP;none\n", "bsuid,metadata.x\nUS.1,=1+1\n'US.2,\x00\n", "phone_number\n" + strings.Repeat("9", 70000) + "\n",
		"phone_number,phone_number\n1,2\n", "phone_number,opted_in,marketing_opted_out\n+15551234567,true,maybe\n\n\n+15551234567,,true", "\xff\xfep\x00h\x00",
	} {
		f.Add([]byte(seed), false)
	}
	api, _, run := serveImports(f)
	api.label("VIP")
	api.imported(run, "phone_number\n+15550000000\n") // the first import is slow where coverage is counted
	f.Fuzz(func(t *testing.T, file []byte, dry bool) {
		api := api.in(t)
		before := storagetest.Select[int](t, api.dir, `SELECT count(*) FROM contacts`)[0]
		got := api.imported(run, string(file), "dry_run="+fmt.Sprint(dry))
		switch got.status {
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
			return
		case http.StatusOK:
		default:
			t.Fatalf("%d %s", got.status, got.body)
		}

		number := func(name string) int { n, _ := got.get("data." + name).(float64); return int(n) }
		if sum := number("created") + number("updated") + number("unchanged") + number("failed"); sum != number("lines") {
			t.Errorf("%d lines, and %d are accounted for: %s", number("lines"), sum, got.body)
		}
		created := storagetest.Select[int](t, api.dir, `SELECT count(*) FROM contacts`)[0] - before
		if want := number("created"); !dry && created != want || dry && created != 0 {
			t.Errorf("%d contacts were created: %s", created, got.body)
		}
	})
}

// Any search is answered with a list, or refused because of its length.
func FuzzMessageSearches(f *testing.F) {
	for _, seed := range []string{"order", `"a phrase"`, "*", "a* OR b", "NEAR(x", "'", "\x00", "世界", "body:x ^y -z", `""""`, "e\u0301", strings.Repeat("x ", 100)} {
		f.Add(seed)
	}
	api, _ := serveNumber(f)
	if got := api.call("POST", messages, `{"messaging_product":"chat","to":"+15551234567","type":"text","text":{"body":"Un café, order it"}}`); got.status != 200 {
		f.Fatal(got.body)
	}
	f.Fuzz(func(t *testing.T, query string) {
		got := api.in(t).call("GET", messages+"?search="+url.QueryEscape(query), "")
		if got.status != 200 && got.code() != "400 invalid_field_value search" {
			t.Fatalf("%q: %d %s", query, got.status, got.body)
		}
	})
}
