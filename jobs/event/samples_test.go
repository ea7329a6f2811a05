package event_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/jobs/event"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestThereIsASampleOfEveryEvent(t *testing.T) {
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	sub, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test", event.TypeMessageSent)
	storagetest.Subscribe(t, db, tenant, "https://other.test")
	for _, kind := range event.Types() {
		t.Run(kind, func(t *testing.T) {
			is := is.New(t)
			var d storage.Delivery
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				sample, err := event.Sample(kind, tenant.Organization.ID, instant, func(prefix string) string { return prefix + "01JQ0Z8M4T9V2X3W5Y6A7B8C9D" })
				if err != nil {
					return err
				}
				d, err = sample.EmitOnlyTo(tx, sub.ID)
				return err
			})
			is.Equal(d.EventType, kind)
			is.Equal(d.SubscriptionID, sub.ID)
			var e storage.Event
			storagetest.View(t, db, func(rx *storage.Rx) error {
				all, err := rx.Events(tenant.Organization.ID, 100)
				e = all[len(all)-1]
				return err
			})
			is.Equal(e.ID, d.Event)
			golden(t, "sample_"+strings.ReplaceAll(kind, ".", "_"), e.Payload)
			var envelope struct{ ID, Type, Object string }
			is.NoErr(json.Unmarshal(e.Payload, &envelope))
			if e.Source == "svc" {
				is.Equal(envelope.ID, e.EventID)
				is.Equal(envelope.Type, kind)
			} else {
				is.Equal(envelope.Object, "chat_business_account")
			}
		})
	}
	storagetest.View(t, db, func(rx *storage.Rx) error {
		counts, err := rx.JobCounts()
		is.New(t).Equal(counts[0].Count, int64(len(event.Types()))) // one delivery each, none for the other
		return err
	})
}

func TestSamplesDifferFromEachOther(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	sub, _ := storagetest.Subscribe(t, db, tenant, "https://hook.test")
	seen := make(map[string]bool)
	for _, kind := range append(event.Types(), event.Types()...) {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			sample, err := event.Sample(kind, tenant.Organization.ID, tx.Now, tx.NewID)
			if err != nil {
				return err
			}
			d, err := sample.EmitOnlyTo(tx, sub.ID)
			is.True(!seen[d.EventID]) // a receiver that dedupes must not swallow a test
			seen[d.EventID] = true
			return err
		})
	}
}

func TestTheCatalogueIsKnown(t *testing.T) {
	is := is.New(t)
	is.Equal(len(event.Types()), 24)
	for _, kind := range event.Types() {
		is.True(event.IsType(kind))
	}
	is.True(!event.IsType("message"))
	is.True(!event.IsType(event.AllTypes))
}
