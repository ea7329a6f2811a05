package api

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// book is a number with contacts, made at different instants.
type book struct {
	*fixture
	all []string // ids, oldest first
	vip string   // a label of the second and the fourth
}

func serveBook(t testing.TB) book {
	f, _ := serveNumber(t)
	b := book{fixture: f, vip: f.label("VIP")}
	for i, body := range []string{
		`{"phone_number":"+15551234567","name":"Ana Ärger","email":"ana@example.com"}`,
		`{"phone_number":"+15551234568","bsuid":"US.2","username":"Bob.B","name":"Bob"}`,
		`{"bsuid":"US.3","username":"bob_b","email":"ANA@example.com"}`,
		`{"phone_number":"+4917012345678","username":"bob.b","name":"100% Ёлка"}`,
	} {
		id := f.call("POST", contacts, body).text("data.id")
		b.all = append(b.all, id)
		at := storage.At(time.Date(2026, 1, 2, 3, 4, 5, (i+1)*int(time.Millisecond), time.UTC))
		f.exec(`UPDATE contacts SET created_at = ?, updated_at = ? WHERE id = ?`, at, at.Add(time.Hour), id)
	}
	for _, i := range []int{1, 3} {
		f.call("POST", contacts+"/"+b.all[i]+"/labels", `{"label_id":"`+b.vip+`"}`)
		at := storage.At(time.Date(2026, 1, 2, 4, 4, 5, (i+1)*int(time.Millisecond), time.UTC))
		f.exec(`UPDATE contacts SET updated_at = ? WHERE id = ?`, at, b.all[i])
	}
	return b
}

// find lists what a query finds, as places in all, newest first.
func (b book) find(query string) (places []int) {
	b.t.Helper()
	for _, id := range b.call("GET", contacts+query, "").ids() {
		places = append(places, slices.Index(b.all, id))
	}
	return places
}

func TestAListOfContactsIsNarrowedByItsFilters(t *testing.T) {
	b := serveBook(t)
	for query, want := range map[string][]int{
		"":                              {3, 2, 1, 0},
		"phone_number=%2B15551234567":   {0},
		"phone_number=15551234567":      {0},
		"phone_number=+15551234567":     {0}, // an unescaped + is a space
		"phone=15551234568":             {1},
		"phone=%2B4917012345678":        {3},
		"phone_number=15559999999":      nil,
		"phone_number=1555123456":       nil, // exactly
		"bsuid=US.3":                    {2},
		"bsuid=US.ENT.3":                nil,
		"username=bob.b":                {3, 1},
		"username=BOB_B":                {2},
		"username=bob":                  nil,
		"email=ana@example.com":         {2, 0},
		"email=ana":                     nil,
		"label_id=" + b.vip:             {3, 1},
		"label_id=" + b.label("Unused"): nil,
		"label_id=" + b.db.NewID(storage.PrefixLabel): nil,
		"search=ana":                             {2, 0},
		"search=%C3%84RGER":                      {0},
		"search=%D1%91%D0%BB%D0%BA%D0%B0":        {3},
		"search=%25":                             {3},
		"search=_":                               {2},
		"search=555":                             {1, 0},
		"search=%2B49":                           {3},
		"search=bob.":                            {3, 1},
		"search=nobody":                          nil,
		"search=%00":                             nil,
		"search=ana%00zzz":                       nil,
		"updated_since=2026-01-02T04:04:05.002Z": {3, 2},
		"updated_since=2026-01-02T04:04:05.0019Z":                           {3, 2, 1},
		"updated_since=" + url.QueryEscape("2026-01-02T06:04:05.002+02:00"): {3, 2},
		"updated_since=2027-01-01T00:00:00Z":                                nil,
		"label_id=" + b.vip + "&search=bob":                                 {3, 1},
		"label_id=" + b.vip + "&search=100":                                 {3},
		"label_id=" + b.vip + "&updated_since=2026-01-02T04:04:05.002Z":     {3},
		"username=bob.b&label_id=" + b.vip + "&search=8&phone=15551234568":  {1},
		"email=ana@example.com&bsuid=US.3":                                  {2},
		"email=ana@example.com&bsuid=US.2":                                  nil,
		"unknown=1&Search=x":                                                {3, 2, 1, 0},
	} {
		t.Run(query, func(t *testing.T) {
			is := is.New(t)
			b := book{b.in(t), b.all, b.vip}
			is.Equal(b.find("?"+query), want)
			is.Equal(b.find("?limit=1&"+query), want[:min(1, len(want))])
		})
	}
}

func TestABadFilterOfContactsIsNamed(t *testing.T) {
	f, _ := serveNumber(t)
	id := f.db.NewID("")
	for _, tt := range []struct{ name, code, values string }{
		{"phone_number", "invalid_phone_number", "|x|123|+0551234567|555-1234567|1555123456789012345"},
		{"phone", "invalid_phone_number", "|x|++15551234567"},
		{"bsuid", "invalid_field_value", "|us.1|US|US.|US.1!"},
		{"username", "invalid_field_value", "|" + strings.Repeat("x", 101)},
		{"email", "invalid_field_value", "|" + strings.Repeat("x", 256)},
		{"label_id", "invalid_field_value", "|x|ctc_" + id + "|lbl_" + strings.ToLower(id)},
		{"search", "invalid_field_value", "|" + strings.Repeat("ä", 201)},
		{"updated_since", "invalid_field_value", "|yesterday|2026-01-02|1767323045"},
	} {
		for value := range strings.SplitSeq(tt.values, "|") {
			is := is.New(t)
			got := f.call("GET", contacts+"?"+tt.name+"="+url.QueryEscape(value), "")
			is.Equal(got.code(), "400 "+tt.code+" "+tt.name)
			is.Equal(got.get("error.type"), "invalid_request_error")
		}
	}
	is := is.New(t)
	is.Equal(f.call("GET", contacts+"?limit=101", "").code(), "400 invalid_limit limit")
	is.Equal(f.call("GET", contacts+"?cursor=x", "").code(), "400 invalid_cursor cursor")
	is.Equal(f.call("GET", contacts+"?search="+strings.Repeat("%C3%A4", 200), "").status, 200)
}

func TestAContactCursorIsBoundToItsNumberAndFilters(t *testing.T) {
	is := is.New(t)
	b := serveBook(t)
	b.connect(b.tenant, "206540352242922")
	plain := b.call("GET", contacts+"?limit=1", "").text("next_cursor")
	narrow := b.call("GET", contacts+"?limit=1&search=bob", "").text("next_cursor")
	is.Equal(b.find("?cursor="+plain), []int{2, 1, 0})
	is.Equal(b.find("?search=bob&cursor="+narrow), []int{2, 1})
	for _, path := range []string{
		contacts + "?search=bob&cursor=" + plain, contacts + "?cursor=" + narrow, contacts + "?search=Bob&cursor=" + narrow, contacts + "?username=bob&cursor=" + narrow,
		"/206540352242922/contacts?cursor=" + plain, conversations + "?cursor=" + plain, messages + "?cursor=" + plain, "/labels?cursor=" + plain,
	} {
		is.Equal(b.call("GET", path, "").code(), "400 invalid_cursor cursor")
	}
}

// A search that has to pass over many contacts ends its page where its time was
// up; a client that follows the cursor still comes to the end.
func TestASearchLeadsThroughEveryContact(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	all := f.insertContacts(account, 0, 2000, false)
	found := f.walk(contacts+"?search=0&limit=100", nil)
	slices.Reverse(all)
	is.Equal(found, all) // every number has a 0
	is.Equal(len(f.walk(contacts+"?search=%2B15550000999", nil)), 1)
	is.Equal(len(f.walk(contacts+"?search=nobody", nil)), 0)
}

// busy changes what lies around a walk, once for each page, while the next is read: it
// makes, changes, labels and deletes contacts, and writes to them. None of those that
// keep names is deleted or gets a message.
func (f *fixture) busy(keep []string, label string) (again, stop func()) {
	turns, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		i := 0
		for range turns {
			made := f.call("POST", contacts, fmt.Sprintf(`{"phone_number":"+49170%07d"}`, i)).text("data.id")
			f.call("PATCH", contacts+"/"+keep[i%len(keep)], fmt.Sprintf(`{"name":"Name %d"}`, i))
			f.call("POST", contacts+"/"+keep[(7*i)%len(keep)]+"/labels", `{"label_id":"`+label+`"}`)
			f.call("POST", messages, storagetest.Swap(f.t, hello, "+15551234567", fmt.Sprintf("+49170%07d", i)))
			if i%2 == 0 {
				f.call("DELETE", contacts+"/"+made, "")
			}
			i++
		}
	}()
	again = func() {
		select {
		case turns <- struct{}{}:
		case <-stopped: // a call failed, and the test with it
		}
	}
	return again, func() { close(turns); <-stopped }
}

func TestListsPageOnceThroughManyRowsUnderWrites(t *testing.T) {
	f, account := serveNumber(t)
	label := f.label("VIP")
	var ids []string
	for i := range 10 { // ten instants, many rows each
		ids = append(ids, f.insertContacts(account, crowded*i, crowded, true)...)
	}
	f.exec(`INSERT INTO contact_labels SELECT id, ?, account_id, created_at FROM contacts WHERE account_id = ? AND substr(id, -1) < '8'`, label, account.ID)
	labelled := storagetest.Select[string](t, f.dir, `SELECT contact_id FROM contact_labels`)
	threads := storagetest.Select[string](t, f.dir, `SELECT id FROM conversations ORDER BY last_message_at DESC, id DESC`)
	f.exec(`INSERT INTO messages (id, account_id, conversation_id, contact_id, direction, type, status, source, content, created_at, updated_at)
		SELECT 'msg_' || substr(id, 5), account_id, id, contact_id, 'inbound', 'text', 'delivered', 'app', '{}', created_at, created_at FROM conversations`)
	said := storagetest.Select[string](t, f.dir, `SELECT id FROM messages ORDER BY created_at DESC, id DESC`)
	slices.Reverse(ids)
	slices.Sort(labelled)
	slices.Reverse(labelled)
	f = f.unchecked()
	again, stop := f.busy(ids, f.label("Busy"))
	defer stop()
	for path, want := range map[string][]string{
		contacts + "?limit=100":                                    ids,
		contacts + "?limit=97&search=%2B1555":                      ids,
		contacts + "?limit=100&label_id=" + label:                  labelled,
		messages + "?limit=100":                                    said,
		messages + "?limit=100&direction=inbound":                  said,
		conversations + "?limit=100":                               threads,
		conversations + "?limit=100&status=open":                   threads,
		contacts + "?limit=100&updated_since=2000-01-01T00:00:00Z": ids,
	} {
		t.Run(path, func(t *testing.T) {
			is := is.New(t)
			known := make(map[string]bool, len(want))
			for _, id := range want {
				known[id] = true
			}
			got := slices.DeleteFunc(f.walk(path, again), func(id string) bool { return !known[id] }) // made meanwhile
			is.Equal(len(got), len(want))
			is.True(slices.Equal(got, want)) // each once, and in order
		})
	}
}
