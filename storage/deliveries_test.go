package storage_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"confab/storage"
	"confab/storage/storagetest"
)

// mail is a history of deliveries: two subscriptions of one organization and one
// of another, three events each, in every state.
type mail struct {
	db           *storage.DB
	ours, theirs storagetest.Tenant
	subs         []storage.Subscription
	all          []storage.Delivery // ours, newest first
}

func newMail(t *testing.T) *mail {
	t.Helper()
	m := &mail{db: storagetest.Open(t)}
	m.ours, m.theirs = two(t, m.db)
	for _, tenant := range []storagetest.Tenant{m.ours, m.ours, m.theirs} {
		s, _ := storagetest.Subscribe(t, m.db, tenant, "https://hook.test")
		m.subs = append(m.subs, s)
	}
	for i, status := range []string{"pending", "succeeded", "failed", "dead", "dead", "succeeded", "dead"} {
		for _, tenant := range []storagetest.Tenant{m.ours, m.theirs} {
			kind := []string{"message.sent", "contact.created"}[i%2]
			e := happen(t, m.db, tenant.Organization.ID, kind, "")
			storagetest.Update(t, m.db, func(tx *storage.Tx) error {
				return errors.Join(
					tx.Run(`UPDATE events SET event_id = ? WHERE id = ?`, kind+"/1", e.ID),
					// Two by two they share their instant.
					tx.Run(`UPDATE deliveries SET event_id = ?, status = ?, created_at = ? WHERE event = ?`, kind+"/1", status, 1000+i/2, e.ID))
			})
		}
	}
	m.all = m.list(t, storage.DeliveryFilter{}, 100)
	return m
}

func (m *mail) list(t *testing.T, f storage.DeliveryFilter, step int) (all []storage.Delivery) {
	t.Helper()
	for after := storage.First; ; {
		page := view(t, m.db, func(rx *storage.Rx) ([]storage.Delivery, error) {
			rows, _, err := rx.Deliveries(m.ours.Organization.ID, f, after, step)
			return rows, err
		})
		all = append(all, page...)
		if len(page) < step {
			return all
		}
		last := page[len(page)-1]
		after = storage.After{Key: last.CreatedAt, ID: last.ID}
	}
}

// For any filter and step, paging gives what picking by hand gives.
func TestDeliveriesAreListedByEveryFilter(t *testing.T) {
	m := newMail(t)
	is := is.New(t)
	is.Equal(len(m.all), 14)
	is.True(slices.IsSortedFunc(m.all, func(a, b storage.Delivery) int { return -compare(a, b) }))
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(name string, values ...string) string {
			return rapid.SampledFrom(append(values, "")).Draw(rt, name)
		}
		instant := func(name string) storage.Time {
			return rapid.SampledFrom([]storage.Time{0, m.all[13].CreatedAt - 1, m.all[0].CreatedAt, m.all[5].CreatedAt, m.all[5].CreatedAt + 1}).Draw(rt, name)
		}
		f := storage.DeliveryFilter{
			SubscriptionID: pick("subscription", m.subs[0].ID, m.subs[1].ID, m.subs[2].ID),
			Status:         pick("status", "pending", "succeeded", "failed", "dead"),
			EventType:      pick("type", "message.sent", "contact.created"),
			EventID:        pick("event", "message.sent/1", "contact.created/1", "none"),
			CreatedAfter:   instant("after"), CreatedBefore: instant("before"),
		}
		var want []storage.Delivery
		for _, d := range m.all {
			if chosen(f, d) {
				want = append(want, d)
			}
		}
		got := m.list(t, f, rapid.IntRange(1, 5).Draw(rt, "step"))
		if !slices.EqualFunc(got, want, func(a, b storage.Delivery) bool { return a.ID == b.ID }) {
			rt.Fatalf("%+v: got %d, want %d", f, len(got), len(want))
		}
	})
}

func compare(a, b storage.Delivery) int {
	switch {
	case a.CreatedAt != b.CreatedAt:
		return int(a.CreatedAt - b.CreatedAt)
	case a.ID < b.ID:
		return -1
	default:
		return 1
	}
}

func chosen(f storage.DeliveryFilter, d storage.Delivery) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	return is(f.SubscriptionID, d.SubscriptionID) && is(f.Status, d.Status) && is(f.EventType, d.EventType) && is(f.EventID, d.EventID) &&
		(f.CreatedAfter == 0 || d.CreatedAt > f.CreatedAfter) && (f.CreatedBefore == 0 || d.CreatedAt < f.CreatedBefore)
}

func TestAReplayCarriesTheSameEventAndIsMadeOnceInBulk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		m := newMail(t)
		dead := storage.ReplayFilter{SubscriptionID: m.subs[0].ID, Status: storage.DeliveryDead}
		oldest := view(t, m.db, func(rx *storage.Rx) ([]storage.Delivery, error) { return rx.Replayable(dead, 1) })[0]
		var again storage.Delivery
		storagetest.Update(t, m.db, func(tx *storage.Tx) (err error) { again, err = tx.ReplayDelivery(oldest); return err })
		got := view(t, m.db, func(rx *storage.Rx) (storage.Delivery, error) { return rx.Delivery(m.ours.Organization.ID, again.ID) })
		is.Equal(got, again)
		is.Equal(*again.ReplayedFrom, oldest.ID)
		is.Equal([]string{again.Event, again.EventID, again.EventType, again.SubscriptionID, again.Status},
			[]string{oldest.Event, oldest.EventID, oldest.EventType, oldest.SubscriptionID, "pending"})
		is.Equal(again.AttemptCount, 0)
		count := func(f storage.ReplayFilter) int {
			return view(t, m.db, func(rx *storage.Rx) (int, error) { return rx.CountReplayable(f, -1) })
		}
		few := view(t, m.db, func(rx *storage.Rx) (int, error) { return rx.CountReplayable(dead, 1) })
		is.Equal(few, 1)
		is.Equal(count(dead), 2) // not the one that was replayed, not the other subscription's
		storagetest.Update(t, m.db, func(tx *storage.Tx) error {
			n, more, err := tx.ReplayDeliveries(dead, storage.MaxReplay)
			is.Equal(n, 2)
			is.True(!more)
			return err
		})
		is.Equal(count(dead), 0)
		replays := m.list(t, storage.DeliveryFilter{SubscriptionID: m.subs[0].ID, Status: "pending"}, 100)
		is.Equal(len(replays), 4)                                                                                    // one had been pending all along
		is.True(replays[0].CreatedAt == replays[1].CreatedAt && *replays[0].ReplayedFrom > *replays[1].ReplayedFrom) // oldest first
		is.Equal(count(storage.ReplayFilter{SubscriptionID: m.subs[0].ID, Status: "failed"}), 1)
		is.Equal(count(storage.ReplayFilter{SubscriptionID: m.subs[0].ID, Status: "succeeded"}), 0)
		is.Equal(count(storage.ReplayFilter{SubscriptionID: m.subs[1].ID, Status: "dead", EventType: "contact.created"}), 1)
		is.Equal(count(storage.ReplayFilter{SubscriptionID: m.subs[1].ID, Status: "dead", CreatedAfter: oldest.CreatedAt}), 2)
		is.Equal(count(storage.ReplayFilter{SubscriptionID: m.subs[1].ID, Status: "dead", CreatedBefore: oldest.CreatedAt}), 0)
		is.Equal(count(storage.ReplayFilter{SubscriptionID: m.subs[1].ID, Status: "dead", CreatedBefore: oldest.CreatedAt + 1}), 1)
	})
}

func TestBulkReplayIsCapped(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	s, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test")
	e := happen(t, db, tenant.Organization.ID, "message.sent", "")
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
		for range storage.MaxReplay {
			d := storage.Delivery{ID: tx.NewID(storage.PrefixDelivery), OrganizationID: tenant.Organization.ID, SubscriptionID: s.ID, Event: e.ID, EventType: e.Type}
			err = errors.Join(err, tx.InsertDelivery(&d, nil))
		}
		return errors.Join(err, tx.Run(`UPDATE deliveries SET status = 'dead'`))
	})
	f := storage.ReplayFilter{SubscriptionID: s.ID, Status: "dead"}
	step := func(limit int) (n int, more bool) {
		storagetest.Update(t, db, func(tx *storage.Tx) (err error) { n, more, err = tx.ReplayDeliveries(f, limit); return err })
		return n, more
	}
	n, more := step(7)
	is.Equal([]any{n, more}, []any{7, true})
	total := n
	for more { // in steps that hold the writer briefly
		n, more = step(storage.MaxReplay)
		is.True(n <= 150)
		total += n
	}
	is.Equal(total, storage.MaxReplay+1)
	n, more = step(storage.MaxReplay)
	is.Equal([]any{n, more}, []any{0, false})
}

// A bulk replay of several steps leaves its own deliveries alone, even if they fail
// meanwhile.
func TestABulkReplayDoesNotTakeItsOwnDeliveries(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	s, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test")
	for range 3 {
		happen(t, db, tenant.Organization.ID, "message.sent", "")
	}
	next := view(t, db, func(rx *storage.Rx) (int64, error) { return rx.NextJob() })
	f := storage.ReplayFilter{SubscriptionID: s.ID, Status: "failed", BeforeJob: next}
	var replayed []int
	for range 4 {
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.Run(`UPDATE deliveries SET status = 'failed'`) })
		var n int
		storagetest.Update(t, db, func(tx *storage.Tx) (err error) { n, _, err = tx.ReplayDeliveries(f, 2); return err })
		replayed = append(replayed, n)
	}
	is.Equal(replayed, []int{2, 1, 0, 0})
}

func TestStatsCountWhatWasMadeSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := storagetest.Open(t)
		tenant := storagetest.Seed(t, db, "Acme")
		s, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test")
		stats := func(since storage.Time) storage.DeliveryStats {
			return view(t, db, func(rx *storage.Rx) (storage.DeliveryStats, error) { return rx.DeliveryStats(s.ID, since) })
		}
		is.Equal(stats(0), storage.DeliveryStats{})
		happen(t, db, tenant.Organization.ID, "message.sent", "") // too old to count below
		time.Sleep(time.Hour)
		since := storage.Now()
		for i, status := range []string{"succeeded", "succeeded", "succeeded", "failed", "dead", "dead", "pending"} {
			e := endpoint{db: db, organization: tenant.Organization.ID, subscription: s.ID}
			e.make(t, status, i != 5, int64(10*(i+1))) // the sixth is dead and was never tried
		}
		is.Equal(stats(since), storage.DeliveryStats{Pending: 1, Succeeded: 3, Failed: 1, Dead: 2, Attempted: 5, P50: new(int64(30)), P95: new(int64(50))})
		is.Equal(stats(0).Total(), 8)
		is.Equal(stats(since+1).Total(), 0)
	})
}

func TestAttemptsAreListedOrToldByTheDelivery(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	storagetest.Seed(t, db, "Acme")
	list := func(d storage.Delivery) []storage.Attempt {
		return view(t, db, func(rx *storage.Rx) ([]storage.Attempt, error) { return rx.Attempts(d) })
	}
	is.Equal(len(list(storage.Delivery{ID: "wbd_1"})), 0)
	is.Equal(list(storage.Delivery{ID: "wbd_1", AttemptCount: 1, LastAttemptAt: 7, ResponseStatus: new(200), DurationMS: new(int64(3)), ResponseBodySnippet: new("ok")}),
		[]storage.Attempt{{Attempt: 1, AttemptedAt: 7, ResponseStatus: new(200), DurationMS: new(int64(3)), ResponseBodySnippet: new("ok")}})
}
