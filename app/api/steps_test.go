package api

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

// perCommit counts how many rows of a table each commit adds, from now on until the
// returned function is called.
func (f *fixture) perCommit(table string) (end func() []int) {
	f.t.Helper()
	count := func() int { return storagetest.Select[int](f.t, f.dir, `SELECT count(*) FROM `+table)[0] }
	var added []int
	before := count()
	tell := func() {
		now := count()
		if now > before {
			added = append(added, now-before)
		}
		before = now
	}
	f.committed.Store(&tell)
	return func() []int {
		// A commit is reported after its callers were answered, and before the next one.
		nothing := func(*storage.Tx) error { return nil }
		f.update(nothing)
		f.committed.Store(nil)
		f.update(nothing)
		return added
	}
}

// update runs a transaction.
func (f *fixture) update(fn func(*storage.Tx) error) {
	f.t.Helper()
	if err := f.db.Update(context.Background(), fn); err != nil {
		f.t.Fatal(err)
	}
}

// subscribed gives the organization subscriptions to everything.
func (f *fixture) subscribed(n int) {
	f.t.Helper()
	f.exec(`WITH RECURSIVE seq(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM seq WHERE i < ?2)
		INSERT INTO subscriptions (id, organization_id, url, events, status, created_at, updated_at)
		SELECT 'wbs_' || printf('%026d', i), ?1, 'https://hooks.test', '["*"]', 'active', 1, 1 FROM seq WHERE i <= ?2`, f.tenant.Organization.ID, n)
}

// A bulk change makes an event for each contact, and each event a delivery for each
// subscription: together that once held the writer for seconds.
func TestABulkLabelLeavesTheWriterToOthers(t *testing.T) {
	for _, c := range []struct{ subscriptions, most int }{ // deliveries of one commit
		{0, 0}, {20, 260}, {100, 0}, // those of many are made by jobs
	} {
		is := is.New(t)
		f, account := serveNumber(t)
		f.subscribed(c.subscriptions)
		label := f.label("VIP")
		ids := f.insertContacts(account, 0, 300, false)
		gone := f.db.NewID(storage.PrefixContact)

		deliveries := f.perCommit("deliveries")
		got := f.call("POST", contacts+"/bulk_label", bulk("attach", label, append(ids, gone)...), "Idempotency-Key: bulk")
		made := deliveries()
		is.Equal(counts(got), "300 0 1 0")
		is.True(slices.Max(append(made, 0)) <= c.most)
		is.Equal(strings.Count(f.told(f.tenant), "contact.updated labels"), 300)
		is.Equal(len(f.walk(contacts+"?limit=100&label_id="+label, nil)), 300)

		// The whole answer is stored, and repeating it does nothing.
		again := f.call("POST", contacts+"/bulk_label", bulk("attach", label, append(ids, gone)...), "Idempotency-Key: bulk")
		is.Equal(again.body, got.body)
		is.Equal(f.told(f.tenant), "")

		events := f.perCommit("events")
		is.Equal(counts(f.call("POST", contacts+"/bulk_label", bulk("detach", label, ids[:150]...))), "150 0 0 0")
		is.True(slices.Max(events()) <= 170) // a label, a contact and an event for each
		is.Equal(counts(f.call("POST", contacts+"/bulk_label", bulk("attach", label, ids...))), "300 150 0 0")
	}
}

// Labels of another team and contacts of another number are counted, however many.
func TestABulkLabelCountsWhatItSkips(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	elsewhere := f.labelOf(f.tenant, f.team(f.tenant, "Support").ID, "VIP")
	ids := f.insertContacts(account, 0, 600, false)
	for range 100 {
		ids = append(ids, f.db.NewID(storage.PrefixContact))
	}
	is.Equal(counts(f.call("POST", contacts+"/bulk_label", bulk("attach", elsewhere, ids...))), "0 0 100 600")
}

func TestABulkReplayLeavesTheWriterToOthers(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	f.subscribed(1)
	id := "wbs_00000000000000000000000001"
	f.exec(`INSERT INTO events (id, organization_id, type, source, event_id, payload, created_at) VALUES ('evt_1', ?, 'message.sent', 'svc', 'e', x'7b7d', 1)`, f.tenant.Organization.ID)
	f.exec(`WITH RECURSIVE seq(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM seq WHERE i < 1100)
		INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, status, created_at)
		SELECT 'wbd_' || printf('%026d', i), ?, ?, 'evt_1', 'message.sent', 'e', 'dead', i FROM seq`, f.tenant.Organization.ID, id)
	replay := func(more string) answer {
		return f.call("POST", "/webhook_deliveries/bulk_replay", `{"subscription_id":"`+id+`"`+more+`}`, "Idempotency-Key: k"+more)
	}

	is.Equal(replay(`,"dry_run":true`).get("data"), map[string]any{"enqueued": 1000.0, "capped": true})
	made := f.perCommit("deliveries")
	first := replay("")
	is.Equal(first.get("data"), map[string]any{"enqueued": 1000.0, "capped": true})
	is.True(slices.Max(made()) <= 170)
	is.Equal(replay("").body, first.body) // remembered
	is.Equal(storagetest.Select[int](t, f.dir, `SELECT count(*) FROM deliveries`)[0], 2100)

	// In their old order.
	is.True(slices.IsSorted(storagetest.Select[string](t, f.dir, `SELECT replayed_from FROM deliveries WHERE replayed_from IS NOT NULL ORDER BY job_id`)))
	is.Equal(replay(`,"status":"dead"`).get("data"), map[string]any{"enqueued": 100.0, "capped": false})
	is.Equal(replay(`,"dry_run":true`).get("data"), map[string]any{"enqueued": 1000.0, "capped": true}) // remembered too
}

// An organization cannot have so many subscriptions that every event becomes a burden.
func TestThePlanLimitsSubscriptions(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t, func(o *testOptions) {
		o.Plans = map[string]rest.Plan{"self_hosted": {API: true, Customers: true, WebhookSubscriptions: 3}}
	})
	other := storagetest.Seed(t, f.db, "Other")
	var last string
	for range 3 {
		made := f.call("POST", hooks, hook)
		is.Equal(made.status, 201)
		last = made.text("data.id")
	}
	before := f.effects()
	refused := f.call("POST", hooks, hook)
	is.Equal(refused.code(), "402 quota_exceeded")
	is.Equal(f.effects(), before)
	is.Equal(f.callAs(other.Secret, "POST", hooks, hook).status, 201) // each organization has its own
	is.Equal(f.call("DELETE", hooks+"/"+last, "").status, 200)
	is.Equal(f.call("POST", hooks, hook).status, 201)
}
