package storage_test

import (
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// outboxed makes a subscription and the deliveries of so many events to it.
func outboxed(t *testing.T, db *storage.DB, n int) (storagetest.Tenant, storage.Subscription, []storage.Delivery) {
	t.Helper()
	tenant := storagetest.Seed(t, db, "Acme")
	s, _ := storagetest.Subscribe(t, db, tenant, "https://hooks.test/")
	for range n {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			id := tx.NewID(storage.PrefixEvent)
			return tx.InsertEvent(storage.Event{ID: id, OrganizationID: tenant.Organization.ID, Type: "message.sent", Source: "svc", EventID: id + ":sent", Payload: []byte(`{"of":"` + id + `"}`)}, "")
		})
	}
	return tenant, s, view(t, db, func(rx *storage.Rx) ([]storage.Delivery, error) {
		rows, _, err := rx.Deliveries(tenant.Organization.ID, storage.DeliveryFilter{}, storage.First, 1000)
		return rows, err
	})
}

func TestAParcelIsADeliveryWithItsEvent(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	_, s, all := outboxed(t, db, 3)
	ids := []string{all[2].ID, "wbd_nobody", all[0].ID}
	parcels := view(t, db, func(rx *storage.Rx) ([]storage.OutgoingDelivery, error) { return rx.OutgoingDeliveries(ids) })
	is.Equal(len(parcels), 2) // a deleted one is left out
	for i, d := range []storage.Delivery{all[2], all[0]} {
		is.Equal(parcels[i], storage.OutgoingDelivery{
			Delivery: d.ID, Subscription: s.ID, Status: storage.DeliveryPending, Event: d.Event, EventID: d.Event + ":sent",
			Type: "message.sent", Source: "svc", Payload: []byte(`{"of":"` + d.Event + `"}`),
		})
		is.Equal(view(t, db, func(rx *storage.Rx) (storage.OutgoingDelivery, error) { return rx.OutgoingDelivery(d.ID) }), parcels[i])
	}
	storagetest.View(t, db, func(rx *storage.Rx) error {
		_, err := rx.OutgoingDelivery("wbd_nobody")
		is.True(errors.Is(err, storage.ErrNotFound))
		return nil
	})
}

func TestFailuresAreCountedUntilTheNextSuccess(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	_, s, all := outboxed(t, db, 2)
	p := view(t, db, func(rx *storage.Rx) (storage.OutgoingDelivery, error) { return rx.OutgoingDelivery(all[0].ID) })
	count := func() (failures int, since storage.Time) {
		storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
			failures, since, err = tx.CountFailure(s.ID)
			return err
		})
		return failures, since
	}
	first, began := count()
	second, since := count()
	is.Equal([]int{first, second}, []int{1, 2})
	is.Equal(since, began)
	took := int64(5)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		return tx.MarkDelivered(p, storage.Attempt{Attempt: 1, AttemptedAt: tx.Now, DurationMS: &took})
	})
	time.Sleep(2 * time.Millisecond) // another moment
	again, since := count()
	is.Equal(again, 1)
	is.True(since > began)
}

func TestADisabledSubscriptionCountsNoMore(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	_, s, _ := outboxed(t, db, 1)
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DisableSubscription(s.ID, storage.ReasonGone) })
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		_, _, err := tx.CountFailure(s.ID)
		is.True(errors.Is(err, storage.ErrNotFound))
		return nil
	})
}

func TestOnlyWhatIsOutstandingCanBeEnded(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant, _, all := outboxed(t, db, 2)
	took, status := int64(5), 200
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		p, err := tx.OutgoingDelivery(all[0].ID)
		if err != nil {
			return err
		}
		if err := tx.MarkDelivered(p, storage.Attempt{Attempt: 1, AttemptedAt: tx.Now, DurationMS: &took, ResponseStatus: &status}); err != nil {
			return err
		}
		return errors.Join(tx.MarkDeliveryDead(all[0].ID, "timeout", "too late"), tx.MarkDeliveryDisabled(all[1].ID))
	})
	for i, want := range []string{storage.DeliverySucceeded, storage.DeliveryDead} {
		d := view(t, db, func(rx *storage.Rx) (storage.Delivery, error) {
			return rx.Delivery(tenant.Organization.ID, all[i].ID)
		})
		is.Equal(d.Status, want)
		is.Equal(d.ErrorCode != nil && *d.ErrorCode == "subscription_disabled", i == 1)
	}
}
