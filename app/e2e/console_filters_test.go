package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

var filterRows = flag.Int("filter-rows", 3000, "how many deliveries and how many calls the lists are filtered out of; 1000000 to measure")

// What a filter may take until it answers, with a page or with how far it came.
const filterBar = 200 * time.Millisecond

// fillLists stores many deliveries of a webhook and many calls, over six days. One in a
// hundred is unlike the others, and the oldest three are like no other.
func (s *stage) fillLists(subscription string, rows int) {
	s.t.Helper()
	const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) `
	dir, organization := s.app.Config.DataDir, s.tenant.Organization.ID
	begin, step := storage.Now()-6*24*3600*1000, int64(6*24*3600*1000/rows)

	storagetest.Exec(s.t, dir, `INSERT INTO events (id, organization_id, type, source, event_id, created_at, payload)
		VALUES ('evt_filled', ?, 'message.sent', 'svc', 'evt_filled', ?, x'7b7d')`, organization, begin)
	storagetest.Exec(s.t, dir, numbers+`
		INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, status, attempt_count, response_status, duration_ms, created_at)
		SELECT printf('wbd_%026d', i), ?4, ?5, 'evt_filled', CASE WHEN i <= 3 THEN 'customer.archived' WHEN i % 2 THEN 'message.sent' ELSE 'message.status' END,
			printf('evt_%026d', i), CASE i % 100 WHEN 0 THEN 'dead' WHEN 1 THEN 'failed' ELSE 'succeeded' END, 1, 200, 12, ?2 + i * ?3
		FROM n`, rows, begin, step, organization, subscription)
	storagetest.Exec(s.t, dir, numbers+`
		INSERT INTO api_log (organization_id, key_id, method, path, status, latency_us, ip, request_id, created_at, error_code)
		SELECT ?4, ?5, CASE WHEN i <= 3 THEN 'DELETE' WHEN i % 3 THEN 'GET' ELSE 'POST' END, CASE WHEN i <= 3 THEN '/v1/labels/lbl_1' ELSE '/v1/1065403522/messages' END,
			CASE i % 100 WHEN 0 THEN 422 WHEN 1 THEN 500 ELSE 200 END, 900, '127.0.0.1', printf('req_%026d', i), ?2 + i * ?3,
			CASE i % 100 WHEN 0 THEN 'invalid_field_value' WHEN 1 THEN 'internal_error' END
		FROM n`, rows, begin, step, organization, s.tenant.Key.ID)
}

// filterTries is how often each filter is tried.
func filterTries() int {
	if *filterRows >= 1_000_000 {
		return 20
	}
	return 1
}

// filtered is an answer to a filter.
type filtered struct {
	Data    []map[string]any
	HasMore bool    `json:"has_more"`
	Cursor  *string `json:"next_cursor"`
}

// Every filter answers soon, however much there is to look through: with a full page, with all
// there is, or with how far it came, from where the console goes on by itself.
func TestEveryFilterOfDeliveriesAndLogAnswersSoon(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, reachable)
	r := newReceiver(t, nil)
	hook, _ := s.hook(r.URL)
	s.fillLists(hook, *filterRows)
	day := time.Now().Add(-24 * time.Hour).UTC().Format(time.RFC3339)
	past := time.Now().Add(-143 * time.Hour).UTC().Format(time.RFC3339)
	deliveries, log := "/console/api/v1/webhook_deliveries?limit=25&subscription_id="+hook, "/console/api/log?limit=50"
	var b *browser
	for i, query := range []struct {
		path string
		rare bool // three rows, at the end
	}{
		{path: deliveries}, {path: deliveries + "&status=succeeded"}, {path: deliveries + "&status=failed"}, {path: deliveries + "&status=dead"}, {path: deliveries + "&status=pending"},
		{path: deliveries + "&event_type=message.sent"}, {path: deliveries + "&event_type=customer.archived", rare: true}, {path: deliveries + "&event_id=evt_00000000000000000000000007"},
		{path: deliveries + "&created_after=" + day}, {path: deliveries + "&created_before=" + past},
		{path: deliveries + "&status=dead&event_type=message.status"}, {path: deliveries + "&event_type=customer.archived&created_after=" + day},
		{path: log}, {path: log + "&method=GET"}, {path: log + "&method=DELETE", rare: true}, {path: log + "&status=2xx"}, {path: log + "&status=4xx"}, {path: log + "&status=5xx"},
		{path: log + "&status=404"}, {path: log + "&path=/messages"}, {path: log + "&path=/labels", rare: true}, {path: log + "&api_key_id=" + s.tenant.Key.ID},
		{path: log + "&api_key_id=key_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}, {path: log + "&error_code=internal_error"}, {path: log + "&error_code=none"},
		{path: log + "&created_after=" + day}, {path: log + "&created_before=" + past}, {path: log + "&method=POST&status=5xx&path=/messages"},
	} {
		if i%8 == 0 {
			b, _ = s.joined(fmt.Sprintf("admin%d@example.com", i), storage.RoleAdmin) // no one may ask so much
		}
		ask := func(cursor string) (page filtered, took time.Duration) {
			began := time.Now()
			got := b.open("GET", query.path+cursor, nil)
			took = time.Since(began)
			is.Equal(got.status, 200)
			is.NoErr(json.Unmarshal([]byte(got.body), &page))
			return page, took
		}

		var times []time.Duration
		first, _ := ask("")
		for range filterTries() {
			_, took := ask("")
			times = append(times, took)
		}
		slices.Sort(times)
		p95 := times[len(times)*9/10]
		said := "a page"
		if first.HasMore && len(first.Data) < 25 {
			said = "goes on looking"
		}
		t.Logf("p95 %8v  %s  %s", p95.Round(10*time.Microsecond), query.path, said)
		if *filterRows >= 1_000_000 && p95 > filterBar && said == "a page" {
			t.Errorf("%s takes %v", query.path, p95)
		}

		// Following the pages leads to the rows at the end.
		for page, steps := first, 0; query.rare && len(page.Data) == 0; steps++ {
			is.True(page.HasMore && steps < 500)
			page, _ = ask("&cursor=" + *page.Cursor)
		}
	}
}
