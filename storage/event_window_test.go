package storage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// reader follows the events of an organization, or with 0 of all, as a stream does.
type reader struct {
	t            *testing.T
	db           *storage.DB
	organization int64
	filter       storage.EventFilter
	after        int64
}

// window reads one window that looks at so many rows, and returns the types in it.
func (r *reader) window(rows int) (types []string, last bool) {
	r.t.Helper()
	storagetest.View(r.t, r.db, func(rx *storage.Rx) error {
		ends, err := rx.EventEnds(r.organization)
		if err != nil {
			return err
		}
		items, next, err := rx.Within(storage.NewBudget(1<<20)).EventWindow(r.organization, r.filter, r.after, ends.Last, rows)
		for _, e := range items {
			types = append(types, e.Type)
		}
		r.after, last = next, next == ends.Last
		return err
	})
	return types, last
}

// all reads to the end, in windows of so many rows.
func (r *reader) all(rows int) (types []string) {
	r.t.Helper()
	for {
		some, last := r.window(rows)
		types = append(types, some...)
		if last {
			return types
		}
	}
}

func TestEventsAreReadInTheOrderOfTheirCommits(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	ours, theirs := two(t, db)
	for i := range 7 {
		happen(t, db, ours.Organization.ID, fmt.Sprint("ours", i), "")
		happen(t, db, theirs.Organization.ID, fmt.Sprint("theirs", i), "")
	}
	want := []string{"ours0", "ours1", "ours2", "ours3", "ours4", "ours5", "ours6"}
	for rows := 1; rows < 9; rows++ {
		is.Equal((&reader{t: t, db: db, organization: ours.Organization.ID}).all(rows), want)
		some := &reader{t: t, db: db, organization: ours.Organization.ID, filter: storage.EventFilter{Types: []string{"ours1", "ours5", "theirs1"}}}
		is.Equal(some.all(rows), []string{"ours1", "ours5"})
		is.Equal(len((&reader{t: t, db: db}).all(rows)), 14)
	}
}

// A window is bounded by the rows that it looks at, not by those that it finds.
func TestAWindowLooksAtSoManyRowsAndNoMore(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	ours, _ := two(t, db)
	for range 10 {
		happen(t, db, ours.Organization.ID, "frequent", "")
	}
	happen(t, db, ours.Organization.ID, "rare", "")
	r := &reader{t: t, db: db, organization: ours.Organization.ID, filter: storage.EventFilter{Types: []string{"rare"}}}
	for range 2 {
		types, last := r.window(5)
		is.Equal(len(types), 0)
		is.True(!last)
	}
	types, last := r.window(5)
	is.Equal(types, []string{"rare"})
	is.True(last)
}

func TestANumberIsNeverUsedAgain(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	account := storagetest.Connect(t, db, tenant, "106540352242922")
	r := &reader{t: t, db: db, organization: tenant.Organization.ID}
	happenTo := func(kind string) {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			return tx.InsertEvent(storage.Event{
				ID: tx.NewID(storage.PrefixEvent), OrganizationID: tenant.Organization.ID, AccountID: &account.ID, Type: kind, Source: "svc", Payload: []byte("{}"),
			}, "106540352242922")
		})
	}
	happenTo("a")
	happenTo("b")
	is.Equal(r.all(10), []string{"a", "b"})
	storagetest.Update(t, db, func(tx *storage.Tx) error { _, err := tx.PurgeEvents(account.ID, 10); return err })
	happenTo("c")
	is.Equal(r.all(10), []string{"c"}) // with the rowid of old it would have the number of a
	storagetest.View(t, db, func(rx *storage.Rx) error {
		ends, err := rx.EventEnds(tenant.Organization.ID)
		is.Equal(ends, storage.EventEnds{Last: 3}) // what went with its number is no gap
		return err
	})
}

func TestEventsOfANumberAreItsOwnAlone(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	account := storagetest.Connect(t, db, tenant, "106540352242922")
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		e := storage.Event{ID: tx.NewID(storage.PrefixEvent), OrganizationID: tenant.Organization.ID, AccountID: &account.ID, Type: "of a number", Source: "svc", Payload: []byte("{}")}
		return tx.InsertEvent(e, "106540352242922")
	})
	happen(t, db, tenant.Organization.ID, "of none", "")
	for number, want := range map[string][]string{"106540352242922": {"of a number"}, "106540352242923": nil, "": {"of a number", "of none"}} {
		r := &reader{t: t, db: db, organization: tenant.Organization.ID, filter: storage.EventFilter{PhoneNumberID: number}}
		is.Equal(r.all(10), want)
	}
	page := view(t, db, func(rx *storage.Rx) ([]storage.EventItem, error) {
		rows, _, err := rx.EventItems(tenant.Organization.ID, storage.EventFilter{}, storage.First, 10)
		return rows, err
	})
	is.Equal(page[0].Type, "of none") // newest first
	is.Equal(page[0].PhoneNumberID, nil)
	is.Equal(*page[1].PhoneNumberID, "106540352242922")
	found := view(t, db, func(rx *storage.Rx) (storage.EventItem, error) {
		return rx.EventItem(tenant.Organization.ID, page[1].ID)
	})
	is.Equal(found, page[1])
	err := db.View(context.Background(), func(rx *storage.Rx) error {
		_, err := rx.EventItem(tenant.Organization.ID+1, page[1].ID)
		return err
	})
	is.True(errors.Is(err, storage.ErrNotFound))
}

func TestReplaysAreReadAgainUnderTheirOwnNumbers(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	ours, theirs := two(t, db)
	s, _ := storagetest.Subscribe(t, db, ours, "https://hook.test")
	happen(t, db, ours.Organization.ID, "a", "")
	first := view(t, db, func(rx *storage.Rx) ([]storage.Delivery, error) {
		rows, _, err := rx.Deliveries(ours.Organization.ID, storage.DeliveryFilter{SubscriptionID: s.ID}, storage.First, 1)
		return rows, err
	})[0]
	var mark int64
	replay := func() (again storage.Delivery) {
		storagetest.Update(t, db, func(tx *storage.Tx) (err error) { again, err = tx.ReplayDelivery(first); return err })
		return again
	}
	read := func(organization int64, limit int) (items []storage.EventItem) {
		storagetest.View(t, db, func(rx *storage.Rx) (err error) {
			items, mark, err = rx.ReplayWindow(organization, storage.EventFilter{}, mark, limit)
			return err
		})
		return items
	}
	is.Equal(len(read(0, 2)), 0)
	again := replay()
	replay()
	replay()
	got := read(0, 2)
	is.Equal(len(got), 2)
	is.Equal(*got[0].DeliveryID, again.ID)
	is.Equal(*got[0].ReplayedFrom, first.ID)
	is.Equal(string(got[0].Payload), `{"exact": "bytes"}`)
	is.Equal(got[0].Organization, ours.Organization.PublicID)
	is.Equal(len(read(0, 2)), 1)
	replay()
	is.Equal(len(read(theirs.Organization.ID, 2)), 0)
	is.Equal(len(read(0, 2)), 0) // and was passed over for good
}

func TestWhatWasRemovedByAgeIsRemembered(t *testing.T) {
	is := is.New(t)
	clock := storage.Time(1_000_000)
	o := storagetest.Options(t, t.TempDir())
	o.Now = func() storage.Time { return clock }
	db, err := storage.Open(o)
	is.NoErr(err)
	defer db.Close()
	ours, theirs := two(t, db)
	for i := range 5 {
		clock = storage.Time(1_000_000 + 1000*i)
		happen(t, db, ours.Organization.ID, fmt.Sprint(i), "")
		happen(t, db, theirs.Organization.ID, fmt.Sprint(i), "")
	}
	scope := storage.PurgeScope{Before: 1_003_000, Organization: ours.Organization.ID}
	rows := view(t, db, func(rx *storage.Rx) ([]storage.Row, error) { return rx.OldEvents(scope, storage.Row{}, 10) })
	is.Equal(len(rows), 3)
	is.Equal(view(t, db, func(rx *storage.Rx) ([]storage.Row, error) { return rx.OldEvents(scope, rows[0], 10) }), rows[1:])
	is.Equal(view(t, db, func(rx *storage.Rx) ([]storage.Row, error) { return rx.OldEvents(scope, storage.Row{}, 2) }), rows[:2])
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		n, _, err := tx.DeleteEvents(ours.Organization.ID, rows, scope.Before, true)
		if n != 3 {
			err = errors.Join(err, fmt.Errorf("%d were deleted", n))
		}
		return err
	})
	for organization, want := range map[int64]storage.EventEnds{
		ours.Organization.ID: {Last: 10, Removed: 5}, theirs.Organization.ID: {Last: 10}, 0: {Last: 10, Removed: 5},
	} {
		is.Equal(view(t, db, func(rx *storage.Rx) (storage.EventEnds, error) { return rx.EventEnds(organization) }), want)
	}
	storagetest.View(t, db, func(rx *storage.Rx) error {
		seq, at, err := rx.OldestEvent(ours.Organization.ID, 0)
		is.Equal(seq, int64(7))
		is.Equal(at, storage.Time(1_003_000))
		return err
	})
}

func TestACommitSignalsWhoHasNewEvents(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	ours, theirs := two(t, db)
	signal := db.EventSignal()
	signal.Take()
	drain := func() {
		select {
		case <-signal.C:
		default:
		}
	}
	drain()
	storagetest.Seed(t, db, "another") // no event
	is.Equal(len(signal.C), 0)
	happen(t, db, ours.Organization.ID, "a", "")
	happen(t, db, theirs.Organization.ID, "a", "")
	happen(t, db, ours.Organization.ID, "a", "")
	is.Equal(len(signal.C), 1) // the writer never waits
	organizations, all := signal.Take()
	slices.Sort(organizations)
	is.Equal(organizations, []int64{ours.Organization.ID, theirs.Organization.ID})
	is.True(!all)

	drain()
	failed := errors.New("no")
	is.Equal(db.Update(context.Background(), func(tx *storage.Tx) error {
		e := storage.Event{ID: "evt_x", OrganizationID: ours.Organization.ID, Type: "t", Source: "svc", Payload: []byte("{}")}
		if err := tx.InsertEvent(e, ""); err != nil {
			return err
		}
		return failed
	}), failed)
	is.Equal(len(signal.C), 0) // nothing happened
	for organization := range int64(100) {
		happen(t, db, 1000+organization, "a", "")
	}
	_, all = signal.Take()
	is.True(all) // too many to name
	db.DropCaches()
	_, all = signal.Take()
	is.True(all)
}

func TestAnEpochLastsUntilAnotherBegins(t *testing.T) {
	is := is.New(t)
	o := newFile(t)
	epoch := func() (e [8]byte) {
		db, err := storage.Open(o)
		is.NoErr(err)
		defer db.Close()
		return view(t, db, func(rx *storage.Rx) ([8]byte, error) { return rx.Epoch() })
	}
	first := epoch()
	is.True(first != [8]byte{})
	is.Equal(epoch(), first)
	is.NoErr(storage.BeginEpoch(o.Path))
	is.True(epoch() != first)
	is.True(epoch() != [8]byte{})
}

// A backup of an older release has no epoch yet, and gets one when it is restored.
func TestAnOldFileKeepsTheEpochThatRestoringGaveIt(t *testing.T) {
	is := is.New(t)
	o := frozenFile(t, 4)
	is.NoErr(storage.BeginEpoch(o.Path))
	before := column(t, o.Path, `SELECT hex(value) FROM meta WHERE name = 'event_epoch'`)
	is.Equal(len(before), 1)
	upgrade(t, o)
	is.Equal(column(t, o.Path, `SELECT hex(value) FROM meta WHERE name = 'event_epoch'`), before)
}

func TestEventsKeepTheirOrderInAnUpgrade(t *testing.T) {
	is := is.New(t)
	o := frozenFile(t, 4)
	alter(t, o.Path, `INSERT INTO events (rowid, id, organization_id, type, source, event_id, payload, created_at) VALUES
		(90, 'evt_b', 1, 't', 'svc', 'e', x'7b7d', 5), (91, 'evt_a', 1, 't', 'svc', 'e', x'7b7d', 4)`)
	upgrade(t, o)
	is.Equal(column(t, o.Path, `SELECT id FROM events ORDER BY seq`), []string{"evt_01KDYBMWFE00000000000000E1", "evt_b", "evt_a"})
	is.Equal(column(t, o.Path, `SELECT seq FROM sqlite_sequence WHERE name = 'events'`), []string{"91"})
	is.Equal(column(t, o.Path, `SELECT count(*) FROM deliveries d JOIN events e ON e.id = d.event`), []string{"1"})
}
