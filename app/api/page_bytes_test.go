package api

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// A page of a hundred messages of a mebibyte each once took a gibibyte.
func TestAPageHasAtMostFourMebibytes(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	large := written("text", "sent")
	large.Content = storage.JSON(`{"body":"` + strings.Repeat("a", 256<<10) + `"}`)
	var want []string
	for _, m := range f.say(f.contact(account, "+15551234567"), slices.Repeat([]storage.Message{large}, 40)...) {
		want = append(want, m.ID)
	}
	slices.Reverse(want)

	f = f.unchecked()
	first := f.call("GET", messages+"?limit=100", "")
	is.True(len(first.body) > 3<<20)  // much fits
	is.True(len(first.body) <= 4<<20) // but not everything
	is.Equal(first.get("has_more"), true)
	is.Equal(f.walk(messages+"?limit=100", nil), want)
}

// seedLists fills every list with items that are large, so that few of them fit into a
// page, and returns the paths of the lists.
func (f *fixture) seedLists(account storage.Account, n int) map[string]int {
	f.t.Helper()
	large := strings.Repeat("a", 1500)
	m := written("text", "sent")
	m.Content = storage.JSON(`{"body":"` + large + `"}`)
	person := f.contact(account, "+15559990000")
	f.say(person, slices.Repeat([]storage.Message{m}, n)...)
	f.insertContacts(account, 0, n-1, true)
	f.exec(`UPDATE contacts SET metadata = json_object('a', ?)`, large)
	f.exec(`UPDATE contacts SET name = ?`, large) // which conversations show
	for _, insert := range []string{
		`INSERT INTO templates (id, account_id, name, language, status, parameter_format, content, components, created_at, updated_at)
			SELECT 'tmpl_' || key, ?2, 't' || i, 'en', 'approved', 'POSITIONAL', ?1, '[]', 1, 1 FROM seq`,
		`INSERT INTO customers (id, organization_id, team_id, name, metadata, created_at, updated_at) SELECT 'cus_' || key, ?3, ?4, 'n', json_object('a', ?1), 1, 1 FROM seq`,
		`INSERT INTO setup_links (id, customer_id, token_hash, token_last4, success_redirect_url, expires_at, created_at)
			SELECT 'csl_' || key, 'cus_00000000000000000000000000', CAST(key AS BLOB), 'abcd', ?1, 1, 1 FROM seq`,
		`INSERT INTO labels (id, organization_id, team_id, name, name_folded, color, created_at, updated_at) SELECT 'lbl_' || key, ?3, ?4, i || ?1, i || ?1, 'red', 1, 1 FROM seq`,
		`INSERT INTO accounts (public_id, organization_id, team_id, phone_number_id, name, status, access_token, created_at, updated_at)
			SELECT 'acc_' || key, ?3, ?4, 7000000 + i, ?1, 'connected', x'00', 1, 1 FROM seq`,
		`INSERT INTO subscriptions (id, organization_id, url, events, status, created_at, updated_at) SELECT 'wbs_' || key, ?3, 'https://x.y/' || ?1, '["*"]', 'active', 1, 1 FROM seq`,
		`INSERT INTO events (id, organization_id, type, source, event_id, payload, created_at) SELECT 'evt_' || key, ?3, 'message.sent', 'svc', key, x'', 1 FROM seq`,
		`INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, status, response_body_snippet, created_at)
			SELECT 'wbd_' || key, ?3, 'wbs_' || key, 'evt_' || key, 'message.sent', key, 'dead', ?1, 1 FROM seq`,
	} {
		f.exec(`WITH RECURSIVE seq(i, key) AS (SELECT 0, printf('%026d', 0) UNION ALL SELECT i + 1, printf('%026d', i + 1) FROM seq WHERE i + 1 < ?5) `+insert,
			large, account.ID, account.OrganizationID, account.TeamID, n)
	}
	return map[string]int{
		messages: n, messages + "?type=text": n, messages + "?direction=outbound": n, contacts: n, contacts + "?search=a": n, conversations: n, conversations + "?status=open": n,
		"/" + number + "/templates": n + 2, "/customers": n, "/customers/cus_00000000000000000000000000/setup_links": n, "/labels": n,
		hooks: n, "/webhook_deliveries": n, "/webhook_deliveries?status=dead": n, "/webhook_deliveries?event_type=message.sent": n, "/accounts": n + 1,
	}
}

func TestEveryPageIsBoundedAndEveryItemComesOnce(t *testing.T) {
	const n, most = 12, 8 << 10
	f := serveHooks(t, func(o *testOptions) { o.PageBytes = most })
	paths := f.seedLists(f.connect(f.tenant, number), n)
	for path, items := range paths {
		t.Run(path, func(t *testing.T) {
			is := is.New(t)
			f := f.in(t).unchecked()
			pages, seen, cursor := 0, make(map[string]bool), ""
			for {
				query := map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")]
				page := f.call("GET", path+query+"limit=100"+cursor, "")
				is.Equal(page.status, 200)
				is.True(len(page.body) <= most)
				is.True(len(page.ids()) > 0) // never an empty page
				for _, id := range page.ids() {
					is.True(!seen[id]) // each once
					seen[id] = true
				}
				if pages++; page.get("has_more") != true {
					is.Equal(page.get("next_cursor"), nil)
					break
				}
				cursor = "&cursor=" + page.text("next_cursor")
			}
			is.Equal(len(seen), items)
			is.True(pages > 1)
		})
	}
	is := is.New(t)
	all := f.unchecked().call("GET", "/accounts", "") // which needs no limit
	is.True(len(all.body) <= most)
	is.Equal(all.get("has_more"), true)
}

// The rows after a full page are not read.
func TestRowsBehindTheBudgetAreNotRead(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	large := written("text", "sent")
	large.Content = storage.JSON(`{"body":"` + strings.Repeat("a", 1000) + `"}`)
	f.say(f.contact(account, "+15551234567"), slices.Repeat([]storage.Message{large}, 50)...)
	storagetest.View(t, f.db, func(rx *storage.Rx) error {
		budget := storage.NewBudget(5000)
		rows, _, err := rx.Within(budget).Messages(account.ID, storage.MessageFilter{}, storage.First, 50)
		is.True(len(rows) >= 3 && len(rows) <= 5)
		is.True(budget.Cut())

		budget = storage.NewBudget(1 << 20)
		rows, _, err2 := rx.Within(budget).Messages(account.ID, storage.MessageFilter{}, storage.First, 50)
		is.Equal(len(rows), 50)
		is.True(!budget.Cut())
		return errors.Join(err, err2)
	})
}
