package storage_test

import (
	"context"
	"errors"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func subscription(t *testing.T, db *storage.DB, s storage.Subscription) storage.Subscription {
	t.Helper()
	return view(t, db, func(rx *storage.Rx) (storage.Subscription, error) { return rx.Subscription(s.OrganizationID, s.ID) })
}

func TestASubscriptionIsPausedAndResumed(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	s, _ := storagetest.Subscribe(t, db, storagetest.Seed(t, db, "Acme"), "https://hook.test")
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		return tx.Run(`UPDATE subscriptions SET consecutive_failures = 3, failing_since = 5 WHERE id = ?`, s.ID)
	})
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.PauseSubscription(s.ID) })
	is.Equal(subscription(t, db, s).Status, "paused")
	is.True(db.LaneClosed("deliver:" + s.ID))
	err := db.Update(context.Background(), func(tx *storage.Tx) error { return tx.PauseSubscription(s.ID) })
	is.True(errors.Is(err, storage.ErrNotFound)) // only an active one can be paused
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.ResumeSubscription(s.ID) })
	s = subscription(t, db, s)
	is.Equal(s.Status, "active")
	is.Equal(s.ConsecutiveFailures, 3) // a pause is no success
	is.Equal(s.FailingSince, storage.Time(5))
	is.True(!db.LaneClosed("deliver:" + s.ID))
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DisableSubscription(s.ID, storage.ReasonFailures) })
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.ResumeSubscription(s.ID) })
	s = subscription(t, db, s)
	is.Equal(s.ConsecutiveFailures, 0) // and being enabled is a new beginning
	is.Equal(s.FailingSince, storage.Time(0))
	is.True(s.DisabledReason == nil)
}

func TestALaneIsOpenAgainWhenItsPauseIsUndone(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	s, _ := storagetest.Subscribe(t, db, storagetest.Seed(t, db, "Acme"), "https://hook.test")
	oops := errors.New("oops")
	err := db.Update(context.Background(), func(tx *storage.Tx) error { return errors.Join(tx.PauseSubscription(s.ID), oops) })
	is.True(errors.Is(err, oops))
	is.True(!db.LaneClosed("deliver:" + s.ID))
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.PauseSubscription(s.ID) })
	err = db.Update(context.Background(), func(tx *storage.Tx) error { return errors.Join(tx.ResumeSubscription(s.ID), oops) })
	is.True(errors.Is(err, oops))
	is.True(db.LaneClosed("deliver:" + s.ID)) // and closed when a resume is
	both := func(tx *storage.Tx) error {
		return errors.Join(tx.ResumeSubscription(s.ID), tx.PauseSubscription(s.ID), oops)
	}
	is.True(errors.Is(db.Update(context.Background(), both), oops))
	is.True(db.LaneClosed("deliver:" + s.ID)) // as it was before the first of them
}

func TestClosedLanesAreFoundInTheFile(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	organization := storagetest.Seed(t, db, "Acme").Organization.ID
	for _, status := range []string{"active", "paused", "disabled"} {
		subscribe(t, db, organization, "wbs_"+status, status, `["*"]`, `[]`)
	}
	storagetest.Update(t, db, (*storage.Tx).LoadClosedLanes)
	is.True(!db.LaneClosed("deliver:wbs_active"))
	is.True(db.LaneClosed("deliver:wbs_paused"))
	is.True(db.LaneClosed("deliver:wbs_disabled"))
}

// status counts deliveries by their state.
func statuses(t *testing.T, db *storage.DB) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	for _, d := range deliveries(t, db) {
		counts[d.Status]++
	}
	return counts
}

func TestDisablingMakesOutstandingDeliveriesDead(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	s, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test")
	other, _ := storagetest.Subscribe(t, db, tenant, "https://other.test")
	for range 4 {
		happen(t, db, tenant.Organization.ID, "message.sent", "")
	}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		return errors.Join(
			tx.Run(`UPDATE deliveries SET status = 'succeeded' WHERE rowid IN (SELECT rowid FROM deliveries WHERE subscription_id = ? LIMIT 1)`, s.ID),
			tx.Run(`UPDATE deliveries SET status = 'failed', error_code = 'timeout', next_attempt_at = 9 WHERE rowid IN (SELECT rowid FROM deliveries WHERE subscription_id = ? AND status = 'pending' LIMIT 1)`, s.ID))
	})
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DisableSubscription(s.ID, storage.ReasonGone) })
	is.Equal(statuses(t, db), map[string]int{"dead": 3, "succeeded": 1, "pending": 4}) // the other's stay
	for _, d := range deliveries(t, db) {
		if d.Status == "dead" {
			is.Equal(d.Subscription, s.ID)
			is.Equal(*d.Error, "subscription_disabled")
			is.Equal(d.Next, storage.Time(0))
		}
	}
	lanes := make(map[string]int)
	for _, j := range deliverJobs(t, db) {
		lanes[j.Lane]++
	}
	is.Equal(lanes, map[string]int{"deliver:" + other.ID: 4, "deliver:" + s.ID: 1}) // that of the success is its worker's to remove
	got := subscription(t, db, s)
	is.Equal(got.Status, "disabled")
	is.Equal(*got.DisabledReason, "endpoint_gone")

	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DisableSubscription(s.ID, storage.ReasonFailures) })
	is.Equal(*subscription(t, db, s).DisabledReason, "endpoint_gone") // the first reason stays
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.ResumeSubscription(s.ID) })
	got = subscription(t, db, s)
	is.Equal(got.Status, "active")
	is.True(got.DisabledReason == nil)
	is.Equal(statuses(t, db)["dead"], 3) // to be replayed
}

func TestManyDeliveriesAreBuriedAndRemovedInSteps(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	s, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test")
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		e := storage.Event{ID: tx.NewID(storage.PrefixEvent), OrganizationID: tenant.Organization.ID, Type: "message.sent", Source: "svc", Payload: []byte("{}")}
		err := tx.InsertEvent(e, "")
		for range storage.DeliveriesPerStep + 9 {
			err = errors.Join(err, tx.InsertDelivery(&storage.Delivery{ID: tx.NewID(storage.PrefixDelivery), OrganizationID: tenant.Organization.ID, SubscriptionID: s.ID, Event: e.ID, EventType: e.Type}, nil))
		}
		return err
	})
	jobs := func(kind string) []storage.Job {
		return view(t, db, func(rx *storage.Rx) ([]storage.Job, error) {
			return rx.Jobs(storage.JobFilter{Kind: kind, Limit: 1000})
		})
	}
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DisableSubscription(s.ID, storage.ReasonGone) })
	is.Equal(statuses(t, db), map[string]int{"dead": storage.DeliveriesPerStep, "pending": 10})
	is.Equal(len(jobs(storage.KindFailDeliveries)), 1)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		n, err := tx.FailOutstandingDeliveries(s.ID)
		is.Equal(n, 10)
		return err
	})
	is.Equal(statuses(t, db), map[string]int{"dead": storage.DeliveriesPerStep + 10})
	is.Equal(len(jobs(storage.KindDeliver)), 0)

	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DeleteSubscription(tenant.Organization.ID, s.ID) })
	is.Equal(len(jobs(storage.KindDeleteSubscription)), 1)
	is.Equal(len(deliveries(t, db)), 10)
	err := db.View(context.Background(), func(rx *storage.Rx) error { _, err := rx.Subscription(tenant.Organization.ID, s.ID); return err })
	is.True(errors.Is(err, storage.ErrNotFound)) // gone for its organization
	happen(t, db, tenant.Organization.ID, "message.sent", "")
	is.Equal(len(deliveries(t, db)), 10) // and for new events
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		gone, err := tx.DeleteSubscriptionStep(s.ID)
		is.True(gone)
		return err
	})
	is.Equal(len(deliveries(t, db)), 0)
	is.True(!db.LaneClosed("deliver:" + s.ID))
}

func TestBuryingStopsWhenTheSubscriptionIsEnabledAgain(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	s, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test")
	happen(t, db, tenant.Organization.ID, "message.sent", "")
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		n, err := tx.FailOutstandingDeliveries(s.ID)
		is.Equal(n, 0)
		return err
	})
	is.Equal(statuses(t, db), map[string]int{"pending": 1})
}
