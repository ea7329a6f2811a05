package storage_test

import (
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestWhatHappensIsHeardOnceAndReplaysAgain(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	ours, theirs := two(t, db)
	s, _ := storagetest.Subscribe(t, db, ours, "https://hook.test")
	happen(t, db, ours.Organization.ID, "message.sent", "") // before anybody listens
	mark := view(t, db, func(rx *storage.Rx) (storage.FeedPosition, error) { return rx.LastFeedPosition() })
	hear := func(organization int64, limit int) (heard []string) {
		t.Helper()
		storagetest.View(t, db, func(rx *storage.Rx) error {
			all, next, err := rx.FeedEvents(mark, organization, limit)
			for _, h := range all {
				word := h.Type
				if h.ReplayedFrom != nil {
					word += " again"
				}
				heard = append(heard, word)
			}
			mark = next
			return err
		})
		return heard
	}
	is.Equal(len(hear(0, 10)), 0)
	for _, kind := range []string{"a", "b", "c"} {
		happen(t, db, ours.Organization.ID, kind, "")
	}
	happen(t, db, theirs.Organization.ID, "theirs", "")
	is.Equal(hear(0, 2), []string{"a", "b"})
	is.Equal(hear(0, 2), []string{"c", "theirs"})
	is.Equal(len(hear(0, 2)), 0)

	first := view(t, db, func(rx *storage.Rx) ([]storage.Delivery, error) {
		rows, _, err := rx.Deliveries(ours.Organization.ID, storage.DeliveryFilter{SubscriptionID: s.ID}, storage.First, 1)
		return rows, err
	})[0]
	var again storage.Delivery
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) { again, err = tx.ReplayDelivery(first); return err })
	happen(t, db, theirs.Organization.ID, "theirs", "")
	before := mark
	is.Equal(hear(ours.Organization.ID, 10), []string{"c again"})
	storagetest.View(t, db, func(rx *storage.Rx) error {
		all, _, err := rx.FeedEvents(before, 0, 10)
		is.Equal(len(all), 2)
		is.Equal(*all[1].DeliveryID, again.ID)
		is.Equal(*all[1].ReplayedFrom, first.ID)
		is.Equal(string(all[1].Payload), `{"exact": "bytes"}`)
		is.Equal(all[1].OrganizationPublicID, ours.Organization.PublicID)
		return err
	})
}
