package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

// heap is a database of two tenants, filled with days of data. Its clock is virtual.
type heap struct {
	t            *testing.T
	is           *is.I
	dir          string
	clock        storagetest.Clock
	db           *storage.DB
	files        *storage.Files
	ours, theirs *owner
	days         int
}

// owner is one tenant's number, its one contact and its one subscription.
type owner struct {
	storagetest.Tenant
	account      storage.Account
	contact      storage.Contact
	conversation storage.Conversation
	subscription string
	library      string            // media that was uploaded to be sent
	received     map[int][2]string // by day: the media of the message that came then, and its file
}

// inHeap runs a test on a new heap.
func inHeap(t *testing.T, test func(h *heap)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		h := &heap{t: t, is: is.New(t), dir: dir, files: storagetest.Files(t, dir)}
		where := storagetest.Options(t, dir)
		where.Now = h.clock.Now
		h.db = storagetest.OpenWith(t, where)
		h.ours, h.theirs = h.owner("ours", "100200300"), h.owner("theirs", "100200301")
		test(h)
	})
}

func (h *heap) owner(name, number string) *owner {
	h.t.Helper()
	o := &owner{Tenant: storagetest.Seed(h.t, h.db, name), subscription: "wbs_" + name, received: make(map[int][2]string)}
	o.account = storagetest.Connect(h.t, h.db, o.Tenant, number)
	phone := "+15550001111"
	storagetest.Update(h.t, h.db, func(tx *storage.Tx) (err error) {
		o.contact = storage.Contact{AccountID: o.account.ID, PhoneNumber: &phone}
		if err := tx.InsertContact(&o.contact); err != nil {
			return err
		}
		o.conversation, err = tx.EnsureConversation(o.account.ID, o.contact.ID)
		return err
	})
	storagetest.Exec(h.t, h.dir, `INSERT INTO subscriptions (id, organization_id, url, events, created_at, updated_at) VALUES (?, ?, 'https://x.test', '["*"]', 1, 1)`,
		o.subscription, o.Organization.ID)
	o.library, _ = h.media(o, storage.OriginLibrary, "library of "+name)
	return o
}

// media stores a file and its row.
func (h *heap) media(o *owner, origin, content string) (id, sum string) {
	h.t.Helper()
	upload, err := h.files.Create()
	h.is.NoErr(err)
	_, err = upload.Write([]byte(content))
	h.is.NoErr(err)
	sum, err = upload.Keep(context.Background())
	h.is.NoErr(err)
	m := storage.Media{AccountID: o.account.ID, Origin: origin, SHA256: sum, MIMEType: "text/plain", Size: int64(len(content))}
	storagetest.Update(h.t, h.db, func(tx *storage.Tx) error { return tx.InsertMedia(&m) })
	return m.ID, sum
}

// day lets a day pass and adds to both tenants: a message in with a file of its
// own, one out with the library's, two events of which one was delivered and one
// is dead, a call and a raw callback.
func (h *heap) day() {
	h.t.Helper()
	time.Sleep(24 * time.Hour)
	for _, o := range []*owner{h.ours, h.theirs} {
		id, sum := h.media(o, storage.OriginMessage, fmt.Sprintf("day %d of %s", h.days, o.Organization.Name))
		o.received[h.days] = [2]string{id, sum}
		h.message(o, storage.Inbound, storage.MessageDelivered, id)
		h.message(o, storage.Outbound, storage.MessageRead, o.library)
		h.event(o, "succeeded")
		h.event(o, "dead")
		storagetest.Update(h.t, h.db, func(tx *storage.Tx) error {
			return errors.Join(tx.InsertAPICalls([]storage.APICall{{OrganizationID: &o.Organization.ID, Method: "GET", Path: "/v1/me", Status: 200, RequestID: "r", CreatedAt: tx.Now}}),
				tx.InsertRawCallback(storage.RawCallback{AccountID: &o.account.ID, Field: "history", Reason: "unused", Payload: []byte("{}")}))
		})
	}
	h.days++
}

func (h *heap) message(o *owner, direction, status, media string) {
	h.t.Helper()
	ready := storage.MediaReady
	m := storage.Message{AccountID: o.account.ID, ConversationID: o.conversation.ID, ContactID: o.contact.ID, Direction: direction, Type: "document",
		Status: status, Source: storage.SourceAPI, Content: storage.JSON(`{}`), MediaID: &media, MediaStatus: &ready}
	storagetest.Update(h.t, h.db, func(tx *storage.Tx) error { return tx.InsertMessage(&m) })
}

// event stores an event with a delivery in a state, and returns its id.
func (h *heap) event(o *owner, status string) string {
	h.t.Helper()
	id := h.db.NewID(storage.PrefixEvent)
	storagetest.Exec(h.t, h.dir, `INSERT INTO events (id, organization_id, account_id, type, source, event_id, payload, created_at) VALUES (?1, ?2, ?3, 'message.sent', 'svc', ?1, x'7b7d', ?4)`,
		id, o.Organization.ID, o.account.ID, h.db.Now())
	h.delivery(o, id, status)
	return id
}

func (h *heap) delivery(o *owner, event, status string) {
	h.t.Helper()
	storagetest.Exec(h.t, h.dir, `INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, status, created_at) VALUES (?1, ?2, ?3, ?4, 'message.sent', ?4, ?5, ?6)`,
		h.db.NewID(storage.PrefixDelivery), o.Organization.ID, o.subscription, event, status, h.db.Now())
}

// left counts the rows of a tenant by table.
func (h *heap) left(o *owner) (n storage.PurgeCounts) {
	h.t.Helper()
	count := func(query string, scope any) int64 {
		return storagetest.Select[int64](h.t, h.dir, query, scope)[0]
	}
	n.Messages = count(`SELECT count(*) FROM messages WHERE account_id = ?`, o.account.ID)
	n.Media = count(`SELECT count(*) FROM media WHERE account_id = ? AND origin = 'message'`, o.account.ID)
	n.Events = count(`SELECT count(*) FROM events WHERE organization_id = ?`, o.Organization.ID)
	n.Deliveries = count(`SELECT count(*) FROM deliveries WHERE organization_id = ?`, o.Organization.ID)
	n.Calls = count(`SELECT count(*) FROM api_log WHERE organization_id = ?`, o.Organization.ID)
	n.RawCallbacks = count(`SELECT count(*) FROM raw_callbacks WHERE account_id = ?`, o.account.ID)
	return n
}

// daysOf is what so many days make for a tenant.
func daysOf(n int64) storage.PurgeCounts {
	return storage.PurgeCounts{Messages: 2 * n, Media: n, Events: 2 * n, Deliveries: 2 * n, Calls: n, RawCallbacks: n}
}

// hasFile reports whether a file is there.
func (h *heap) hasFile(sum string) bool {
	f, err := h.files.Open(context.Background(), sum)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	h.is.NoErr(err)
	h.is.NoErr(f.Close())
	return true
}

func (h *heap) workers(r jobs.Retention) *jobs.Workers {
	return jobs.New(jobs.Options{DB: h.db, Files: h.files, Log: slog.New(slog.DiscardHandler), Retention: r})
}

// trustClock says that days went by although no server ran.
func (h *heap) trustClock() {
	h.t.Helper()
	storagetest.Update(h.t, h.db, (*storage.Tx).ConfirmClock)
}

// purge deletes what is older than so many days, and returns what it reported last.
func (h *heap) purge(what storage.PurgeScope, days int) (reported storage.PurgeCounts) {
	h.t.Helper()
	h.trustClock()
	what.Before = storage.Now().Add(-time.Duration(days)*24*time.Hour + time.Hour)
	counted := storage.PurgeCounts{}
	storagetest.View(h.t, h.db, func(rx *storage.Rx) (err error) {
		counted, err = rx.CountPurge(what)
		return err
	})
	h.is.NoErr(h.workers(jobs.Retention{}).Purge(context.Background(), what, func(n storage.PurgeCounts) { reported = n }))
	h.is.Equal(counted, reported) // a dry run reported the same
	return reported
}

func TestPurgeDeletesWhatIsOldAndWhoseItIs(t *testing.T) {
	for name, c := range map[string]struct {
		what         func(h *heap) storage.PurgeScope
		ours, theirs storage.PurgeCounts // the rows left of five days
	}{
		"everybody's": {func(h *heap) storage.PurgeScope { return storage.PurgeScope{} }, daysOf(2), daysOf(2)},
		"an organization's": {func(h *heap) storage.PurgeScope { return storage.PurgeScope{Organization: h.ours.Organization.ID} },
			daysOf(2), daysOf(5)},
		"an account's": {func(h *heap) storage.PurgeScope {
			return storage.PurgeScope{Organization: h.ours.Organization.ID, Account: h.ours.account.ID}
		}, storage.PurgeCounts{Messages: 4, Media: 2, Events: 4, Deliveries: 4, Calls: 5, RawCallbacks: 2}, daysOf(5)},
		"an account's that has nothing": {func(h *heap) storage.PurgeScope { return storage.PurgeScope{Organization: 1, Account: 99} }, daysOf(5), daysOf(5)},
	} {
		t.Run(name, func(t *testing.T) {
			inHeap(t, func(h *heap) {
				for range 5 {
					h.day()
				}
				h.purge(c.what(h), 2)
				h.is.Equal(h.left(h.ours), c.ours)
				h.is.Equal(h.left(h.theirs), c.theirs)
			})
		})
	}
}

func TestPurgeTakesTheFilesOfMessagesAndLeavesTheLibrary(t *testing.T) {
	inHeap(t, func(h *heap) {
		h.day()
		// The same file came again since.
		id, sum := h.media(h.ours, storage.OriginMessage, "day 0 of theirs")
		h.is.Equal(sum, h.theirs.received[0][1])
		time.Sleep(48 * time.Hour)
		h.message(h.ours, storage.Inbound, storage.MessageDelivered, id)
		h.purge(storage.PurgeScope{}, 2)
		h.is.True(!h.hasFile(h.ours.received[0][1]))  // no one's any more
		h.is.True(h.hasFile(h.theirs.received[0][1])) // somebody else has it
		storagetest.View(t, h.db, func(rx *storage.Rx) error {
			_, err := rx.Media(h.ours.account.ID, h.ours.received[0][0])
			h.is.True(errors.Is(err, storage.ErrNotFound))
			library, err := rx.Media(h.ours.account.ID, h.ours.library)
			h.is.NoErr(err)
			h.is.True(h.hasFile(library.SHA256))
			_, err = rx.Contact(h.ours.account.ID, h.ours.contact.ID)
			h.is.NoErr(err) // contacts and conversations stay
			return nil
		})
	})
}

func TestPurgeLeavesWhatIsUnderWayAndReplays(t *testing.T) {
	inHeap(t, func(h *heap) {
		h.message(h.ours, storage.Outbound, storage.MessageQueued, h.ours.library)
		waiting, replayed, done := h.event(h.ours, "pending"), h.event(h.ours, "dead"), h.event(h.ours, "succeeded")
		h.delivery(h.ours, done, "failed")
		time.Sleep(48 * time.Hour)
		h.delivery(h.ours, replayed, "succeeded")
		h.purge(storage.PurgeScope{}, 2)
		events := storagetest.Select[string](t, h.dir, `SELECT id FROM events ORDER BY id`)
		h.is.Equal(events, []string{waiting, replayed, done})
		statuses := storagetest.Select[string](t, h.dir, `SELECT status FROM deliveries ORDER BY status`)
		h.is.Equal(statuses, []string{"failed", "pending", "succeeded"}) // of replayed only the young one
		h.is.Equal(h.left(h.ours).Messages, int64(1))

		// Retention does not wait for jobs that wait for ever, as for a paused subscription.
		time.Sleep(time.Hour)
		h.retain(jobs.Retention{Events: 2, Calls: 2})
		h.is.Equal(storagetest.Select[string](t, h.dir, `SELECT id FROM events`), []string{replayed})
	})
}

// retain runs the periodic job once.
func (h *heap) retain(r jobs.Retention) {
	h.t.Helper()
	h.trustClock()
	for _, k := range h.workers(r).Kinds() {
		if k.Name == "retention" {
			_, err := k.Handle(context.Background(), storage.Job{})
			h.is.NoErr(err)
			return
		}
	}
	h.t.Fatal("there is no job of retention")
}

func TestRetentionIsThePlansAndTheSettings(t *testing.T) {
	inHeap(t, func(h *heap) {
		h.theirs.Organization.Plan = "starter"
		storagetest.Update(t, h.db, func(tx *storage.Tx) error { return tx.UpdateOrganization(&h.theirs.Organization) })
		for range 6 {
			h.day()
		}
		time.Sleep(time.Hour)
		h.retain(jobs.Retention{Plans: map[string]int{"self_hosted": 0, "starter": 2}, Events: 4, Calls: 3})
		ours, theirs := daysOf(6), daysOf(2)
		for _, n := range []*storage.PurgeCounts{&ours, &theirs} {
			n.Events, n.Deliveries, n.Calls, n.RawCallbacks = 8, 8, 3, 3
		}
		h.is.Equal(h.left(h.ours), ours)
		h.is.Equal(h.left(h.theirs), theirs)

		// A plan that the settings have lost deletes nothing.
		h.retain(jobs.Retention{Plans: map[string]int{"self_hosted": 0}, Events: 4, Calls: 3})
		h.is.Equal(h.left(h.theirs), theirs)
	})
}

func TestPurgeStopsWhenToldAndGoesOnLater(t *testing.T) {
	inHeap(t, func(h *heap) {
		for range 200 {
			h.message(h.ours, storage.Outbound, storage.MessageRead, h.ours.library)
		}
		time.Sleep(48 * time.Hour)
		h.trustClock()
		ctx, cancel := context.WithCancel(context.Background())
		what := storage.PurgeScope{Before: storage.Now()}
		err := h.workers(jobs.Retention{}).Purge(ctx, what, func(storage.PurgeCounts) { cancel() })
		h.is.True(errors.Is(err, context.Canceled))
		left := h.left(h.ours).Messages
		h.is.True(0 < left && left < 200) // one step was done
		h.is.Equal(h.purge(storage.PurgeScope{}, 1).Messages, left)
		h.is.Equal(h.left(h.ours).Messages, int64(0))
	})
}

func TestBodiesOfCallsAreKeptForADay(t *testing.T) {
	inHeap(t, func(h *heap) {
		keep := func(id string) {
			storagetest.Update(h.t, h.db, func(tx *storage.Tx) error {
				return tx.InsertAPICalls([]storage.APICall{{OrganizationID: &h.ours.Organization.ID, Method: "GET", Path: "/v1/me", Status: 200,
					RequestID: id, CreatedAt: tx.Now, Bodies: &storage.CallBodies{Response: "{}", ResponseBytes: 2}}})
			})
		}
		keep("old")
		time.Sleep(25 * time.Hour)
		keep("young")
		h.retain(jobs.Retention{Calls: 30})

		h.is.Equal(storagetest.Select[string](t, h.dir, `SELECT id FROM api_log_bodies`), []string{"young"})
		h.is.Equal(h.left(h.ours).Calls, int64(2)) // the lines stay
	})
}

// What is purged of a number goes from the bodies of its calls too, and from those that may be
// about any number.
func TestBodiesOfCallsAreInThePurgeOfANumber(t *testing.T) {
	inHeap(t, func(h *heap) {
		keep := func(of storagetest.Tenant, id string, account *int64) {
			storagetest.Update(h.t, h.db, func(tx *storage.Tx) error {
				return tx.InsertAPICalls([]storage.APICall{{OrganizationID: &of.Organization.ID, Method: "GET", Path: "/v1/me", Status: 200,
					RequestID: id, CreatedAt: tx.Now, Bodies: &storage.CallBodies{AccountID: account, Response: "{}", ResponseBytes: 2}}})
			})
		}
		keep(h.ours.Tenant, "number", &h.ours.account.ID)
		keep(h.ours.Tenant, "organization", nil)
		keep(h.theirs.Tenant, "theirs", nil)
		time.Sleep(time.Hour)
		h.purge(storage.PurgeScope{Account: h.ours.account.ID}, 0)

		h.is.Equal(storagetest.Select[string](t, h.dir, `SELECT id FROM api_log_bodies`), []string{"theirs"})
	})
}
