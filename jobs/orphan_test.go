package jobs_test

import (
	"testing"
	"time"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

// waitingDeliveries makes n deliveries that wait for a paused subscription.
func (h *heap) waitingDeliveries(n int) storage.Subscription {
	h.t.Helper()
	s, _ := storagetest.Subscribe(h.t, h.db, h.ours.Tenant, "https://paused.test")
	storagetest.Update(h.t, h.db, func(tx *storage.Tx) error {
		if err := tx.PauseSubscription(s.ID); err != nil {
			return err
		}
		for range n {
			id := tx.NewID(storage.PrefixEvent)
			e := storage.Event{ID: id, OrganizationID: h.ours.Organization.ID, AccountID: &h.ours.account.ID, Type: "message.sent", Source: "svc", EventID: id, Payload: []byte("{}")}
			if _, err := tx.InsertEventFor(e, s.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

// deliverJobs counts the jobs of deliveries, and those of them whose delivery is gone.
func (h *heap) deliverJobs() (all, orphans int) {
	h.t.Helper()
	states := storagetest.Select[int](h.t, h.dir, `SELECT EXISTS (SELECT 1 FROM deliveries d WHERE d.id = j.args ->> '$.delivery') FROM jobs j WHERE j.kind = 'deliver'`)
	for _, there := range states {
		orphans += 1 - there
	}
	return len(states), orphans
}

func TestDeliveriesTakeTheirJobsAlong(t *testing.T) {
	for name, remove := range map[string]func(h *heap, s storage.Subscription){
		"retention": func(h *heap, _ storage.Subscription) {
			time.Sleep(5 * day)
			h.retain(jobs.Retention{Events: 2})
		},
		"a removed number": func(h *heap, _ storage.Subscription) {
			storagetest.Update(h.t, h.db, func(tx *storage.Tx) error {
				for n := 1; n > 0; {
					deleted, err := tx.PurgeEvents(h.ours.account.ID, 7)
					if err != nil {
						return err
					}
					n = int(deleted)
				}
				return nil
			})
		},
		"a deleted subscription": func(h *heap, s storage.Subscription) {
			storagetest.Update(h.t, h.db, func(tx *storage.Tx) error { return tx.DeleteSubscription(h.ours.Organization.ID, s.ID) })
		},
		"a disabled subscription": func(h *heap, s storage.Subscription) {
			storagetest.Update(h.t, h.db, func(tx *storage.Tx) error { return tx.DisableSubscription(s.ID, storage.ReasonGone) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inHeap(t, func(h *heap) {
				s := h.waitingDeliveries(20)
				all, _ := h.deliverJobs()
				h.is.Equal(all, 20)
				remove(h, s)
				all, orphans := h.deliverJobs()
				h.is.Equal(orphans, 0) // nothing would ever delete it
				h.is.Equal(all, 0)
			})
		})
	}
}

func TestAPurgeLeavesTheJobsOfWhatStays(t *testing.T) {
	inHeap(t, func(h *heap) {
		h.waitingDeliveries(5)
		time.Sleep(5 * day)
		h.purge(storage.PurgeScope{}, 2) // by hand: deliveries under way stay
		all, orphans := h.deliverJobs()
		h.is.Equal(all, 5)
		h.is.Equal(orphans, 0)
		h.waitingDeliveries(5)
		h.retain(jobs.Retention{Events: 2})
		all, orphans = h.deliverJobs()
		h.is.Equal(all, 5) // the young ones
		h.is.Equal(orphans, 0)
	})
}
