package jobs_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// backlog stores a subscription, paused, with so many deliveries that wait.
func backlog(t *testing.T, db *storage.DB, n int) storage.Subscription {
	t.Helper()
	tenant := storagetest.Seed(t, db, "Acme")
	s, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test")
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		err := tx.PauseSubscription(s.ID)
		for range n {
			id := tx.NewID(storage.PrefixEvent)
			_, insert := tx.InsertEventFor(storage.Event{ID: id, OrganizationID: s.OrganizationID, Type: "message.sent", Source: "svc", EventID: id, Payload: []byte("{}")}, s.ID)
			err = errors.Join(err, insert)
		}
		return err
	})
	return s
}

// deliveriesIn counts the deliveries of a subscription in a state.
func deliveriesIn(t *testing.T, db *storage.DB, s storage.Subscription, status string) (n int) {
	t.Helper()
	storagetest.View(t, db, func(rx *storage.Rx) error {
		some, _, err := rx.Deliveries(s.OrganizationID, storage.DeliveryFilter{SubscriptionID: s.ID, Status: status}, storage.First, 5000)
		n = len(some)
		return err
	})
	return n
}

func queued(t *testing.T, db *storage.DB, kind string) (n int) {
	t.Helper()
	storagetest.View(t, db, func(rx *storage.Rx) error {
		some, err := rx.Jobs(storage.JobFilter{Kind: kind, Limit: 5000})
		n = len(some)
		return err
	})
	return n
}

func TestAllThatIsOutstandingDiesWithItsSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := storagetest.Open(t)
		s := backlog(t, db, 2*storage.DeliveriesPerStep+1)
		work(t, db)
		time.Sleep(time.Second)
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DisableSubscription(s.ID, storage.ReasonFailures) })
		time.Sleep(time.Second)
		is.Equal(deliveriesIn(t, db, s, storage.DeliveryDead), 2*storage.DeliveriesPerStep+1)
		is.Equal(queued(t, db, storage.KindDeliver), 0)
		is.Equal(queued(t, db, storage.KindFailDeliveries), 0)
	})
}

func TestADeletedSubscriptionIsUprooted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := storagetest.Open(t)
		s := backlog(t, db, 2*storage.DeliveriesPerStep)
		work(t, db)
		time.Sleep(time.Second)
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.DeleteSubscription(s.OrganizationID, s.ID) })
		is.Equal(deliveriesIn(t, db, s, ""), 0) // at once, for its organization
		time.Sleep(time.Second)
		is.Equal(queued(t, db, storage.KindDeliver), 0)
		is.Equal(queued(t, db, storage.KindDeleteSubscription), 0)
		err := db.View(context.Background(), func(rx *storage.Rx) error {
			gone, err := rx.Subscriptions(s.OrganizationID, storage.First, 10)
			is.Equal(len(gone), 0)
			return err
		})
		is.NoErr(err)
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			gone, err := tx.DeleteSubscriptionStep(s.ID)
			is.True(gone) // nothing is left to do
			return err
		})
	})
}
