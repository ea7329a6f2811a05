package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

// emit stores an event of a number, or with "" of none, and returns its id.
func (f *fixture) emit(tenant storagetest.Tenant, kind, number string, at ...storage.Time) (id string) {
	f.t.Helper()
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error {
		id = tx.NewID(storage.PrefixEvent)
		if len(at) > 0 {
			tx.Now, tx.Order = at[0], at[0]
		}
		e := storage.Event{ID: id, OrganizationID: tenant.Organization.ID, Type: kind, Source: "svc", EventID: id + ":x", Payload: []byte(`{"exact": "bytes"}`)}
		if number != "" {
			account, err := tx.AccountByNumber(number)
			if err != nil {
				return err
			}
			e.AccountID = &account.ID
		}
		return tx.InsertEvent(e, number)
	})
	return id
}

func TestEventsAreListedNewestFirst(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.connect(f.tenant, "106540352242922")
	f.connect(f.tenant, "106540352242923")
	other := storagetest.Seed(t, f.db, "Other")
	a := f.emit(f.tenant, "message.sent", "106540352242922", 1000)
	f.emit(other, "message.sent", "")
	b := f.emit(f.tenant, "message.status", "106540352242923", 3000)
	c := f.emit(f.tenant, "customer.created", "", 2000) // the clock was set back: commits count
	for query, want := range map[string][]string{
		"":                                         {c, b, a},
		"?type=message.sent":                       {a},
		"?type=message.sent,message.status":        {b, a},
		"?type=message.revoked":                    nil,
		"?phone_number_id=106540352242922":         {a},
		"?phone_number_id=999999999":               nil,
		"?created_after=1970-01-01T00:00:01.000Z":  {c, b},
		"?created_before=1970-01-01T00:00:03.000Z": {c, a},
		"?created_after=1970-01-01T00:00:01Z&created_before=1970-01-01T00:00:03Z&limit=1": {c},
	} {
		got := f.call("GET", "/events"+query, "")
		if !slices.Equal(got.ids(), want) {
			t.Errorf("%s: %s", query, got.body)
		}
	}
	req, _ := http.NewRequest("GET", f.url+"/events?type=message.sent&type=message.status", nil) // repeated, which the description's checker does not know
	req.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
	res, err := http.DefaultClient.Do(req)
	is.NoErr(err)
	text, err := io.ReadAll(res.Body)
	is.NoErr(err)
	is.Equal(answer{body: string(text)}.ids(), []string{b, a})

	for query, want := range map[string]string{
		"?type=bogus":                     "400 invalid_event_type type",
		"?type=":                          "400 invalid_event_type type",
		"?type=message.sent,bogus":        "400 invalid_event_type type",
		"?phone_number_id=x":              "400 invalid_field_value phone_number_id",
		"?created_after=yesterday":        "400 invalid_field_value created_after",
		"?created_before=2026-01-02":      "400 invalid_field_value created_before",
		"?cursor=x":                       "400 invalid_cursor cursor",
		"?limit=1000":                     "400 invalid_limit limit",
		"/stream?type=bogus":              "400 invalid_event_type type",
		"/stream?phone_number_id=x":       "400 invalid_field_value phone_number_id",
		"/stream?wait=soon":               "400 invalid_field_value wait",
		"/stream?after=x":                 "400 invalid_cursor after",
		"/stream?after=":                  "400 invalid_cursor after",
		"/stream?after=" + a + "x":        "400 invalid_cursor after",
		"/evt_01JQ0Z8M4T9V2X3W5Y6A7B8C9D": "404 resource_not_found",
		"/oldest":                         "404 resource_not_found",
	} {
		is.Equal(f.call("GET", "/events"+query, "").code(), want)
	}

	got := f.call("GET", "/events/"+a, "")
	is.Equal(got.status, 200)
	is.True(strings.HasPrefix(got.body, `{"data":{"id":"`+a+`","object":"event","type":"message.sent","source":"svc","event_id":"`+a+`:x",`+
		`"phone_number_id":"106540352242922","created_at":"1970-01-01T00:00:01.000Z","payload":{"exact": "bytes"}},"request_id":"`))
	is.Equal(f.callAs(other.Secret, "GET", "/events/"+a, "").code(), "404 resource_not_found")
}

func TestPagesOfEventsHoldEachOnce(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	var want []string
	for i := range 23 {
		want = append(want, f.emit(f.tenant, []string{"message.sent", "message.status"}[i%2], ""))
	}
	slices.Reverse(want)
	var got []string
	for query := "?limit=5"; ; {
		page := f.call("GET", "/events"+query, "")
		got = append(got, page.ids()...)
		f.emit(f.tenant, "message.sent", "") // newer than the page
		if page.get("has_more") == false {
			break
		}
		query = "?limit=5&cursor=" + page.text("next_cursor")
	}
	is.Equal(got, want)
	cursor := f.call("GET", "/events?limit=5", "").text("next_cursor")
	is.Equal(f.call("GET", "/events?limit=5&type=message.sent&cursor="+cursor, "").code(), "400 invalid_cursor cursor")
}

// A test event is one like any other; a replay is none.
func TestTestEventsAreEventsAndReplaysAreNot(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	hook := f.call("POST", hooks, `{"url":"https://93.184.216.34/hook","events":["*"]}`)
	tested := f.call("POST", hooks+"/"+hook.text("data.id")+"/test", "")
	is.Equal(len(f.call("GET", "/events", "").ids()), 1)
	is.Equal(f.call("POST", "/webhook_deliveries/"+tested.text("data.id")+"/replay", "").status, 202)
	is.Equal(len(f.call("GET", "/events", "").ids()), 1)
	is.Equal(len(f.open("/events/stream?after=oldest&wait=0").rest()), 1)
	item := f.call("GET", "/events", "").get("data").([]any)[0].(map[string]any)
	delivery := f.call("GET", "/webhook_deliveries/"+tested.text("data.id"), "").get("data").(map[string]any)
	is.Equal(item["payload"], delivery["payload"]) // exactly what webhooks carry
	is.Equal(item["event_id"], delivery["event_id"])
}

// streamReader reads a stream.
type streamReader struct {
	t     testing.TB
	res   *http.Response
	lines *bufio.Reader
}

// open opens a stream with the tenant's key.
func (f *fixture) open(path string, header ...string) *streamReader {
	f.t.Helper()
	return f.openAs(f.tenant.Secret, path, header...)
}

func (f *fixture) openAs(key, path string, header ...string) *streamReader {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", f.url+path, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { cancel(); res.Body.Close() })
	return &streamReader{f.t, res, bufio.NewReader(res.Body)}
}

// told is one block of server-sent events.
type told struct{ id, event, data string }

// next reads a block; false at the end.
func (r *streamReader) next() (b told, more bool) {
	r.t.Helper()
	for {
		line, err := r.lines.ReadString('\n')
		if err == io.EOF {
			return b, false
		}
		if err != nil {
			r.t.Fatal(err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "":
			return b, true
		case "id":
			b.id = value
		case "event":
			b.event = value
		case "data":
			b.data = value
		default:
			r.t.Fatalf("the stream has a line %q", line)
		}
	}
}

// event reads the next block that has data.
func (r *streamReader) event() told {
	r.t.Helper()
	for {
		b, more := r.next()
		if !more {
			r.t.Fatal("the stream has ended")
		}
		if b.data != "" {
			return b
		}
	}
}

// rest reads the events of a stream that ends.
func (r *streamReader) rest() (all []told) {
	r.t.Helper()
	for {
		b, more := r.next()
		if !more {
			return all
		}
		if b.data != "" {
			all = append(all, b)
		}
	}
}

func TestAStreamIsServerSentEvents(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.connect(f.tenant, "106540352242922")
	f.emit(f.tenant, "message.sent", "")
	r := f.open("/events/stream")
	is.Equal(r.res.StatusCode, 200)
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		is.Equal(r.res.Header.Get(name), want)
	}
	is.True(storage.ValidID("req_", r.res.Header.Get("X-Request-Id")))
	opening, _ := r.next()
	is.True(opening.id != "" && opening.data == "") // now: a position, and nothing of before

	id := f.emit(f.tenant, "message.status", "106540352242922")
	b := r.event()
	is.Equal(b.event, "message.status")
	item := f.call("GET", "/events/"+id, "")
	is.True(strings.HasPrefix(item.body, `{"data":`+b.data+`,"request_id":`)) // the same item as elsewhere
	is.Equal(len(f.open("/events/stream?wait=0", "Last-Event-ID: "+opening.id).rest()), 1)
	is.Equal(len(f.open("/events/stream?wait=0", "Last-Event-ID: "+b.id).rest()), 0)
	is.Equal(len(f.open("/events/stream?wait=0&after="+opening.id).rest()), 1)
	is.Equal(len(f.open("/events/stream?wait=0&after=oldest").rest()), 2)
	is.Equal(len(f.open("/events/stream?wait=0&after="+id).rest()), 0)
	is.Equal(len(f.open("/events/stream?wait=0").rest()), 0)
	is.Equal(len(f.open("/events/stream?wait=0&after=oldest&phone_number_id=106540352242922").rest()), 1) // what belongs to no number is left out
	is.Equal(len(f.open("/events/stream?wait=0&after=oldest&type=message.sent,contact.created").rest()), 1)
	is.Equal(len(f.open("/events/stream?wait=0&after=oldest&type=message.sent&type=message.status").rest()), 2)
	gap := f.open("/events/stream?wait=0&after=bad", "Last-Event-ID: malformed").rest() // the header wins
	is.Equal(len(gap), 3)
	is.Equal(gap[0].event, "gap")
	oldest := f.call("GET", "/events?type=message.sent", "").get("data").([]any)[0].(map[string]any)["created_at"]
	is.Equal(gap[0].data, fmt.Sprintf(`{"reason":"restored","oldest":"%s"}`, oldest))
	other := storagetest.Seed(t, f.db, "Other")
	is.Equal(len(f.openAs(other.Secret, "/events/stream?wait=0&after=oldest").rest()), 0)
	is.Equal(f.callAs(other.Secret, "GET", "/events/stream?wait=0&after="+id, "").code(), "400 invalid_cursor after")
	is.Equal(f.callAs("", "GET", "/events/stream?api_key="+f.tenant.Secret, "").code(), "401 missing_api_key") // never in the URL
}

func TestAStreamCanBeLinesOfJSON(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.emit(f.tenant, "message.sent", "")
	f.emit(f.tenant, "message.status", "")
	for accept, want := range map[string]string{
		"application/x-ndjson":                  "application/x-ndjson",
		"text/html, application/x-ndjson;q=0.5": "application/x-ndjson",
		"*/*":                                   "text/event-stream",
		"text/event-stream":                     "text/event-stream",
		"application/json, application/x-ndjson ; q=0": "text/event-stream",
	} {
		is.Equal(f.call("HEAD", "/events/stream?wait=0", "", "Accept: "+accept).header.Get("Content-Type"), want)
	}
	got := f.call("GET", "/events/stream?wait=0&after=oldest", "", "Accept: application/x-ndjson")
	lines := strings.Split(strings.TrimSuffix(got.body, "\n"), "\n")
	is.Equal(len(lines), 2)
	var item struct{ ID, Type, Position string }
	is.NoErr(json.Unmarshal([]byte(lines[0]), &item))
	is.Equal(item.Type, "message.sent")
	after := f.open("/events/stream?wait=0&after=" + item.Position).rest() // one position for both forms
	is.Equal(len(after), 1)
	is.Equal(after[0].event, "message.status")
	gap := f.call("GET", "/events/stream?wait=0", "", "Accept: application/x-ndjson", "Last-Event-ID: x")
	is.True(strings.HasPrefix(gap.body, `{"object":"gap","reason":"restored","oldest":"2`))
}

func TestAnOrganizationHasTwentyStreams(t *testing.T) {
	is := is.New(t)
	f := serve(t, func(o *testOptions) { o.MaxStreams = 21 })
	other := storagetest.Seed(t, f.db, "Other")
	for range 20 {
		is.Equal(f.open("/events/stream").res.StatusCode, 200)
	}
	full := f.call("GET", "/events/stream", "")
	is.Equal(full.code(), "429 rate_limit_exceeded")
	is.True(full.header.Get("Retry-After") != "")
	is.Equal(f.openAs(other.Secret, "/events/stream").res.StatusCode, 200)
	is.Equal(f.openAs(other.Secret, "/events/stream").res.StatusCode, 200) // 21 in all: the one with the most makes way
	is.Equal(f.call("GET", "/events/stream", "").code(), "429 rate_limit_exceeded")
	is.Equal(f.call("HEAD", "/events/stream", "").status, 429)
}

// What takes the right away ends the stream, and properly.
func TestAStreamEndsWithTheRightToIt(t *testing.T) {
	newKey := func(f *fixture, expires storage.Time) (k storage.Key, secret string) {
		k = storage.Key{OrganizationID: f.tenant.Organization.ID, ExpiresAt: expires}
		storagetest.Update(f.t, f.db, func(tx *storage.Tx) (err error) { secret, err = tx.InsertKey(&k); return err })
		return k, secret
	}
	for name, lose := range map[string]func(f *fixture, k storage.Key){
		"revoked": func(f *fixture, k storage.Key) {
			storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { _, err := tx.RevokeKey(k.OrganizationID, k.ID); return err })
		},
		"expired": nil,
		"suspended": func(f *fixture, _ storage.Key) {
			f.change(f.tenant, func(o *storage.Organization) { o.SuspendedAt = 1 })
		},
		"plan": func(f *fixture, _ storage.Key) { f.change(f.tenant, func(o *storage.Organization) { o.Plan = "none" }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := serve(t, func(o *testOptions) { o.Plans["none"] = rest.Plan{} })
			var expires storage.Time
			if lose == nil {
				expires = storage.Now().Add(1500 * 1e6)
			}
			k, secret := newKey(f, expires)
			r := f.openAs(secret, "/events/stream")
			if lose != nil {
				lose(f, k)
			}
			r.rest() // which returns when it ends
			is.New(t).True(f.callAs(secret, "GET", "/events/stream", "").status >= 401)
		})
	}
}

// The log has the opening of a stream, while that is still open.
func TestTheAPILogHasTheOpeningOfAStream(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	r := f.open("/events/stream")
	for len(f.log.lines("path=/v1/events/stream")) == 0 {
		f.emit(f.tenant, "message.sent", "")
		r.event()
	}
	is.NoErr(f.api.Flush(context.Background()))
	is.Equal(storagetest.Select[int](t, f.dir, `SELECT count(*) FROM api_log WHERE path = '/v1/events/stream' AND status = 200`), []int{1})
	r.res.Body.Close()
	f.stop()
	is.Equal(storagetest.Select[int](t, f.dir, `SELECT count(*) FROM api_log WHERE path = '/v1/events/stream'`), []int{1}) // once
}
