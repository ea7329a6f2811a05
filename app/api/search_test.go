package api

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// many is more than any storage has connections.
const many = 60

// occupy takes all connections of a sort, db.List or db.Search, for an organization,
// until release.
func (f *fixture) occupy(
	read func(context.Context, int64, func(*storage.Rx) error) error, organization int64,
) (release func()) {
	end := make(chan struct{})
	for range many {
		go func() {
			err := read(context.Background(), organization, func(*storage.Rx) error { <-end; return nil })
			if err != nil {
				f.t.Error(err)
			}
		}()
	}
	synctest.Wait()
	release = sync.OnceFunc(func() { close(end) })
	f.t.Cleanup(release)
	return release
}

// begin sends a request. Its answer is there after synctest.Wait, unless it waits for
// something.
func (f *fixture) begin(method, path, body string) <-chan answer {
	got := make(chan answer, 1)
	go func() { got <- f.call(method, path, body) }()
	synctest.Wait()
	return got
}

// copies stores n copies of each row of a table that has an id with a prefix.
func (f *fixture) copies(table, prefix string, n int, change map[string]string) {
	f.t.Helper()
	var columns, values []string
	for _, name := range storagetest.Select[string](f.t, f.dir, `SELECT name FROM pragma_table_info(?)`, table) {
		columns = append(columns, name)
		switch value, ok := change[name]; {
		case ok:
			values = append(values, value)
		case name == "id":
			values = append(values, "'"+prefix+"01JQ0Z8M4T9V2X3W5Y6A7' || printf('%05d', i)")
		default:
			values = append(values, name)
		}
	}
	f.exec(`
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO `+table+` (`+strings.Join(columns, ", ")+`)
		SELECT `+strings.Join(values, ", ")+` FROM n, (SELECT * FROM `+table+` LIMIT 1)`, n)
}

// serveCrowd starts an API with so many rows of everything that a filter which finds
// nothing has to search.
func serveCrowd(t *testing.T) (f *fixture, o owner) {
	f = serveDirectly(t, withNames(t))
	o = f.possess(f.tenant, f.connect(f.tenant, number))
	const n = 300
	f.copies("contacts", "ctc_", n, map[string]string{"phone_number": "'+1666' || (1000000 + i)"})
	f.copies("conversations", "cnv_", n, map[string]string{"contact_id": "'ctc_01JQ0Z8M4T9V2X3W5Y6A7' || printf('%05d', i)"})
	f.exec(`INSERT INTO contact_labels SELECT id, ?, account_id, created_at FROM contacts WHERE phone_number LIKE '+1666%'`, o.has["labels"])
	f.copies("messages", "msg_", n, map[string]string{"number": "NULL", "provider_id": "NULL"})
	f.copies("customers", "cus_", n, map[string]string{"email": "'a@b.c'"})
	f.copies("deliveries", "wbd_", n, nil)
	f.copies("templates", "tmpl_", n, map[string]string{"name": "'t' || i"})
	f.exec(`UPDATE contacts SET email = 'a@b.c'`)
	return f, o
}

// Lists that may have to look at every row read on connections of their own:
// while those are busy they wait, and all others do not.
func TestSlowSearchesHoldUpNoOtherList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f, o := serveCrowd(t)
		release := f.occupy(f.db.Search, 77)
		since := "updated_since=2030-01-02T03:04:05Z"
		var waiting []<-chan answer
		for _, path := range []string{
			contacts + "?search=nobody", contacts + "?" + since, contacts + "?email=a@b.c&search=x", contacts + "?label_id=" + o.has["labels"] + "&search=nobody",
			messages + "?status=read", messages + "?type=sticker", messages + "?direction=outbound", "/webhook_deliveries?event_type=message.edited", "/customers?search=nobody",
			"/106540352242922/templates?language=fr",
		} {
			got := f.begin("GET", path, "")
			if len(got) > 0 {
				t.Errorf("%s did not wait: %+v", path, <-got)
			}
			waiting = append(waiting, got)
		}
		for _, path := range []string{
			contacts, contacts + "?phone_number=15559990000", contacts + "?email=a@b.c", contacts + "?search=1666", contacts + "?label_id=" + f.label("Other"),
			messages, messages + "?status=failed", messages + "?direction=inbound", messages + "?type=text",
			conversations, conversations + "?status=open", conversations + "?" + since, conversations + "?status=open&" + since,
			"/webhook_deliveries?status=dead", "/customers", "/customers?search=bakery", "/labels", "/accounts",
		} {
			if got := f.begin("GET", path, ""); len(got) == 0 || (<-got).status != 200 {
				t.Errorf("%s was not answered", path)
			}
		}
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		req, err := http.NewRequestWithContext(gone, "GET", f.url+contacts+"?search=x", strings.NewReader(""))
		is.NoErr(err)
		req.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
		is.Equal(f.do(req).code(), "503 service_unavailable") // nobody waits for it any more
		release()
		for _, got := range waiting {
			is.Equal((<-got).status, 200)
		}
	})
}

// Whatever lists and searches others make, what is read by its id is answered, and so
// is the question for health.
func TestReadsOfOneResourceNeverWaitForLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serveDirectly(t, withNames(t), func(o *Options) { o.Files = storagetest.Files(t, t.TempDir()) })
		o := f.possess(f.tenant, f.connect(f.tenant, number))
		isList := make(map[string]bool)
		for _, rt := range f.api.routes() {
			if rt.method == http.MethodGet {
				_, isList[rt.path] = f.call("GET", o.path(t, rt, nil), "").get("data").([]any)
			}
		}
		isList["/webhook_deliveries/:id/attempts"] = false // there are a few
		isList["/webhook_subscriptions/:id/stats"] = true  // which count
		isList["/events/stream"] = true                    // which reads page after page

		endLists, endSearches := f.occupy(f.db.List, 77), f.occupy(f.db.Search, 77)
		f.db.DropCaches() // so that keys and numbers have to be read too
		lists, waiting := 0, []<-chan answer(nil)
		for _, rt := range f.api.routes() {
			if rt.method != http.MethodGet {
				continue
			}
			got := f.begin("GET", o.path(t, rt, nil), "")
			if waits := len(got) == 0; waits != isList[rt.path] {
				t.Errorf("%s waits for lists: %v", rt.path, waits)
			}
			if isList[rt.path] {
				lists++
				waiting = append(waiting, got)
			}
		}
		endLists()
		endSearches()
		for _, got := range waiting {
			is.New(t).Equal((<-got).status, 200)
		}
		is.New(t).True(lists > 8)
	})
}

// A list that begins again as a search has all its bytes once more.
func TestAPageThatBecomesASearchIsNotShorter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t, func(o *Options) { o.PageBytes = 11_000 })
		a := f.connect(f.tenant, number)
		f.crowd(a, 0, 400, false)
		f.exec(`UPDATE contacts SET name = 'needle ' || id || hex(zeroblob(400)) WHERE phone_number LIKE '%00' OR phone_number LIKE '%50'`)
		found := f.call("GET", contacts+"?search=needle&limit=100", "")
		is.Equal(len(found.ids()), 8)
		is.Equal(found.get("has_more"), false)
		is.Equal(len(f.walk("/accounts", nil)), 1)
	})
}

// An organization that asks for more searches than may wait is told so. Others are
// not concerned.
func TestTooManySearchesAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f, _ := serveCrowd(t)
		release := f.occupy(f.db.Search, 77)
		var waiting []<-chan answer
		for {
			got := f.begin("GET", contacts+"?search=nobody", "")
			if len(got) > 0 {
				refused := <-got
				is.Equal(refused.code(), "429 rate_limit_exceeded")
				is.Equal(refused.header.Get("Retry-After"), "1")
				break
			}
			waiting = append(waiting, got)
		}
		is.True(len(waiting) >= 50)
		is.Equal((<-f.begin("GET", contacts, "")).status, 200)
		release()
		for _, got := range waiting {
			is.Equal((<-got).status, 200)
		}
	})
}

// Stats of many deliveries are counted on the connections for searches, once for all
// who ask at the same time.
func TestStatsOfManyDeliveriesWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t, withNames(t))
		o := f.possess(f.tenant, f.connect(f.tenant, number))
		f.copies("deliveries", "wbd_", 1100, nil)
		release := f.occupy(f.db.Search, 77)
		path := hooks + "/" + o.has["webhook_subscriptions"] + "/stats"
		var waiting []<-chan answer
		for range 100 { // more than searches may wait
			waiting = append(waiting, f.begin("GET", path, ""))
		}
		for _, got := range waiting {
			is.Equal(len(got), 0)
		}
		is.Equal((<-f.begin("GET", "/health", "")).status, 200)
		is.Equal((<-f.begin("GET", "/labels", "")).status, 200)
		release()
		for _, got := range waiting {
			is.Equal((<-got).get("data.total"), float64(storagetest.Effects(t, f.dir)["deliveries"]))
		}
	})
}

// A read receipt for an old message of a long conversation counts as a search, too.
func TestAReceiptCountsManyUnreadMessagesAsASearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t)
		person := f.contact(f.connect(f.tenant, number), "+15559990000")
		f.say(person, received("wamid.first"))
		f.copies("messages", "msg_", 400, map[string]string{"number": "NULL", "id": "'msg_7ZZZZZZZZZ' || printf('%016d', i)", "provider_id": "NULL"})
		receipt := `{"status":"read","message_id":"wamid.first"}`
		release := f.occupy(f.db.Search, 77)
		got := f.begin("POST", messages, receipt)
		is.Equal(len(got), 0)
		is.Equal((<-f.begin("GET", conversations, "")).status, 200)
		release()
		is.Equal((<-got).status, 200)
		list := f.call("GET", conversations, "").get("data").([]any)
		is.Equal(list[0].(map[string]any)["unread_count"], 400.0)
	})
}

// Without a limit all accounts come at once, although they are read page by page.
func TestVeryManyAccountsComeInOnePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t)
		f.connect(f.tenant, number)
		const n = 600
		f.exec(`
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO accounts (public_id, organization_id, team_id, phone_number_id, status, created_at, updated_at)
			SELECT 'acc_01JQ0Z8M4T9V2X3W5Y6A7' || printf('%05d', i), organization_id, team_id, 900000 + i, iif(i % 2, 'connected', 'degraded'), created_at, 0
			FROM n, (SELECT * FROM accounts LIMIT 1)`, n)
		release := f.occupy(f.db.Search, 77)
		is.Equal(len(f.call("GET", "/accounts?status=all", "").ids()), n+1)
		is.Equal(len((<-f.begin("GET", "/accounts?limit=100", "")).ids()), 100)
		got := f.begin("GET", "/accounts", "")
		is.Equal(len(got), 0) // it passes over every second one
		release()
		all := <-got
		is.Equal(len(all.ids()), n/2+1)
		is.Equal(all.get("has_more"), false)
		is.Equal(len(f.walk("/accounts?limit=100", nil)), n/2+1)
		is.Equal(len(f.walk("/accounts?limit=100&status=all", nil)), n+1)
	})
}
