package api

import (
	"cmp"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

// target is an API without a socket that makes no calls outside, with one of each
// thing that a path can name.
type target struct {
	*fixture
	known map[string]string // ids, by the path segment before them
	db    *sqlx.DB
	rows  int // what the last request left
}

func newTarget(f *testing.F) *target {
	f.Helper()
	files := func(o *testOptions) {
		o.Files, o.Publisher.PublicURL, o.Log = storagetest.Files(f, f.TempDir()), "https://confab.test", slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	served := serveDirectly(f, withNames(f), files)
	account := served.connect(served.tenant, number)
	contact := served.contact(account, "+15551234567")
	said := served.say(contact, received("wamid.known"), written("text", "sent"))
	id := func(path, body string) string { return served.call("POST", path, body).text("data.id") }
	t := &target{fixture: served, db: storagetest.Beside(served.dir), known: map[string]string{
		"contacts": contact.ID, "messages": said[1].ID, "conversations": said[1].ConversationID, "templates": "promo",
		"labels": id("/labels", `{"name":"known"}`), "customers": id("/customers", `{"name":"known"}`), "webhook_subscriptions": id(hooks, hook), "whatsapp_accounts": number,
	}}
	t.known["rules"] = id("/rules", `{"name":"known","on":"message_received","then":[{"resolve":true}]}`)
	t.known["setup_links"] = id("/customers/"+t.known["customers"]+"/setup_links", "")
	served.template(account, storage.Template{Name: "known", Language: "en", Category: "UTILITY", Components: storage.JSON(`[{"type":"BODY","text":"Hi"}]`)})
	t.known["broadcasts"] = id("/"+number+"/broadcasts", `{"name":"known","template":{"name":"known","language":"en"},"audience":{"contact_ids":["`+contact.ID+`"]}}`)
	t.known["webhook_deliveries"] = id(hooks+"/"+t.known["webhook_subscriptions"]+"/test", "")
	f.Cleanup(func() { t.db.Close() })
	t.rows = t.count(f)
	return t
}

// everything are the rows that a request can leave, but for the API log, which
// each one is in, and templates, which may be read from the provider before one
// is not found.
const everything = `
	SELECT (SELECT count(*) FROM labels) + (SELECT count(*) FROM contact_labels) + (SELECT count(*) FROM conversation_labels) + (SELECT count(*) FROM contacts) +
		(SELECT count(*) FROM conversations) + (SELECT count(*) FROM messages) + (SELECT count(*) FROM events) + (SELECT count(*) FROM jobs) +
		(SELECT count(*) FROM media) + (SELECT count(*) FROM customers) + (SELECT count(*) FROM setup_links) + (SELECT count(*) FROM subscriptions) +
		(SELECT count(*) FROM signing_secrets) + (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM idempotency) + (SELECT coalesce(sum(messages), 0) FROM usage)`

func (s *target) count(t testing.TB) (rows int) {
	t.Helper()
	if err := s.db.Get(&rows, everything); err != nil {
		t.Fatal(err)
	}
	return rows
}

// path fills a route's path: with the id, or with known ones if there is none.
func (s *target) path(rt rest.Route, id string) string {
	parts := strings.Split(rt.Path, "/")
	for i, part := range parts {
		switch {
		case i == 1 && part == ":phone_number_id":
			parts[i] = number
		case strings.HasPrefix(part, ":"):
			parts[i] = cmp.Or(id, s.known[parts[i-1]], strings.Repeat("0", 26))
		}
	}
	return strings.Join(parts, "/")
}

// try sends a request to a route. For any request the answer is as the
// description says, which the client sees to; it is no fault of ours; and where
// it is a refusal nothing was written.
func (s *target) try(t *testing.T, rt rest.Route, id, query, kind, body string) answer {
	t.Helper()
	if rt.Path == "/events/stream" {
		query = "wait=0&" + query // so that it has an end
	}
	req, err := http.NewRequest(rt.Method, s.url+s.path(rt, id)+"?"+query, strings.NewReader(body))
	if err != nil || slices.ContainsFunc([]byte(req.URL.RequestURI()), func(c byte) bool { return c <= ' ' || c >= 0x7f }) {
		t.Skip("no request that a client could make")
	}
	req.Header.Set("Authorization", "Bearer "+s.tenant.Secret)
	req.Header.Set("Content-Type", kind)
	got := s.in(t).do(req)
	if got.status >= 500 && got.text("error.code") != "whatsapp_upstream_error" {
		t.Errorf("%s %s %.300q -> %s", rt.Method, req.URL, body, got.body)
	}
	before := s.rows
	if s.rows = s.count(t); got.status >= 400 && s.rows != before {
		t.Errorf("%s %s %.300q -> %s, but wrote %d rows", rt.Method, req.URL, body, got.body, s.rows-before)
	}
	return got
}

// FuzzRoutes sends any body to any route.
func FuzzRoutes(f *testing.F) {
	routes, doc := (&Server{}).Routes(), described().doc
	for i, rt := range routes {
		g := generator{operation: doc.Paths.Find(braces(rt.Path)).GetOperation(rt.Method)}
		for _, body := range append(g.examples(), map[string]any{}) {
			f.Add(uint(i), "", "", toJSON(body))
		}
		f.Add(uint(i), "01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "limit=1&cursor=x&status=all", g.example())
	}
	served := newTarget(f)
	f.Fuzz(func(t *testing.T, at uint, id, query, body string) {
		rt := routes[at%uint(len(routes))]
		if rt.Method == "DELETE" && id == "" {
			t.Skip("the others still need it")
		}
		served.try(t, rt, id, query, "application/json", body)
	})
}

// FuzzLists reads any list with any query: it is a page that is no longer than
// was asked for and whose cursor leads on, or the parameter is named that is bad.
// To read twice is to read the same.
func FuzzLists(f *testing.F) {
	var lists []rest.Route
	for _, rt := range (&Server{}).Routes() {
		operation := described().doc.Paths.Find(braces(rt.Path)).GetOperation(rt.Method)
		if rt.Method != "GET" || operation.Parameters.GetByInAndName("query", "limit") == nil {
			continue
		}
		for _, p := range operation.Parameters {
			if p.Value.In == "query" {
				f.Add(uint(len(lists)), p.Value.Name+"=x&limit=1")
			}
		}
		lists = append(lists, rt)
	}
	for i := range lists {
		f.Add(uint(i), "")
		f.Add(uint(i), "limit=100&status=all&search=%25_%5c%27&created_after=2026-01-02T03:04:05.678%2B02:00&created_before=9999-12-31T23:59:59Z")
		f.Add(uint(i), "phone=+15551234567&label_id=lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D&email=a%40b.c&%zz=%zz&limit=%zz")
		f.Add(uint(i), "limit=1&limit=2&updated_since=1970-01-01T00:00:00Z&type=text&direction=inbound&event_type=message.sent")
	}
	if len(lists) < 9 {
		f.Fatalf("only %d lists", len(lists))
	}
	served := newTarget(f)
	f.Fuzz(func(t *testing.T, at uint, query string) {
		rt := lists[at%uint(len(lists))]
		got := served.try(t, rt, "", query, "", "")
		if got.status >= 400 {
			if got.status != 400 || got.text("error.param") == "" {
				t.Errorf("%s?%s -> %s", rt.Path, query, got.body)
			}
			return
		}
		if again := served.try(t, rt, "", query, "", ""); withoutID(again.body) != withoutID(got.body) {
			t.Errorf("%s?%s -> %s, then %s", rt.Path, query, got.body, again.body)
		}
		cursor := got.text("next_cursor")
		if more, _ := got.get("has_more").(bool); more != (cursor != "") {
			t.Errorf("%s?%s -> %s", rt.Path, query, got.body)
		}
		if cursor != "" {
			if next := served.try(t, rt, "", strings.TrimSuffix("cursor="+cursor+"&"+query, "&"), "", ""); next.status != 200 {
				t.Errorf("%s?%s leads to %s", rt.Path, query, next.body)
			}
		}
	})
}

// withoutID is a body but for the request id, which is at its end.
func withoutID(body string) string { return body[:strings.LastIndex(body, `"request_id"`)] }

// FuzzUpload lets anything come as a form, under any boundary. A kept file is
// shown as it is; of a refused one no file is left.
func FuzzUpload(f *testing.F) {
	for _, parts := range [][]part{
		{{"file", "menu.png", "image/png", "\x89PNG\r\n\x1a\n"}}, {{"file", "../a\r\nb", "text/html", "<html>"}, {"type", "", "", "image/png"}},
		{{"file", "a", "", ""}}, {{"type", "", "", "image/png"}}, {{"file", "a", "", "x"}, {"file", "b", "", "y"}}, {{"other", "", "", "z"}},
		{{"file", "a.docx", "application/zip", "PK\x03\x04"}, {"type", "", "", "application/msword"}},
	} {
		body, kind := formOf(parts...)
		f.Add(kind, body)
		f.Add(kind, body[:len(body)/2])
		f.Add("multipart/form-data", body)
	}
	f.Add(`multipart/form-data; boundary="a b"`, "--a b\r\nContent-Disposition: form-data; name*=utf-8''file; filename=x\r\n\r\nx\r\n--a b--")
	f.Add("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=file; filename=x\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=zz\r\n--x--")
	served := newTarget(f)
	rt := rest.Route{Method: "POST", Path: "/:phone_number_id/media"}
	f.Fuzz(func(t *testing.T, kind, body string) {
		if strings.ContainsFunc(kind, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Skip("no header that a client could send")
		}
		got := served.try(t, rt, "", "", kind, body)
		if got.status != 201 {
			return
		}
		var m storage.Media
		storagetest.View(t, served.fixture.db, func(rx *storage.Rx) (err error) {
			account, err := rx.AccountByNumber(number)
			if err == nil {
				m, err = rx.Media(account.ID, got.text("data.id"))
			}
			return err
		})
		if _, sendable := rest.MediaKinds[m.MIMEType]; !sendable || got.text("data.sha256") != m.SHA256 || got.get("data.size") != float64(m.Size) || strings.Contains(m.URLToken, m.SHA256) {
			t.Errorf("%q %.300q -> %s", kind, body, got.body)
		}
	})
}
