package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"

	"confab/app/tools/rig"
	"confab/jobs/guard"
	"confab/jobs/webhook"
	"confab/storage"
)

// backlog is how many deliveries wait when a subscription is resumed.
const backlog = 20_000

// drain measures how fast a backlog is delivered and recorded. It compares that with the
// same client without a database, which is as fast as the machine allows.
func (b *bench) drain(ctx context.Context, o *installation) {
	id := o.subscribe("/hook", "customer.created")
	receiver := process{"receiver", o.receiver.CPUTime}
	drained := &series{
		prepare: func(ctx context.Context) { o.makeBacklog(ctx, id) },
		measure: func(ctx context.Context) round {
			o.drain(ctx, id)
			return round{count: backlog}
		},
		cost: meter{processes: []process{o.serverProcess(), receiver}},
	}
	bare := &series{
		name: "the client without a database",
		measure: func(ctx context.Context) round {
			o.deliverWithoutDatabase(ctx)
			return round{count: backlog}
		},
		cost: meter{processes: []process{{"client", loadGenerator.used}, receiver}},
	}
	b.measureAll(ctx, drained, bare)

	b.table.addRate(bare, row{what: "machine: the delivering client without a database"})
	b.table.addRatio(drained, bare, 0.4, row{
		id:   "P10",
		what: fmt.Sprintf("a backlog of %d signed deliveries drained and recorded", backlog),
	})
}

// drain resumes the subscription, and waits until the whole backlog is delivered and
// recorded.
func (o *installation) drain(ctx context.Context, subscription string) {
	o.setStatus(subscription, "active")
	o.receiver.Await(backlog)
	o.awaitDeliveries(ctx, "", 0)
}

// sampleEvent returns a payload of the size of a message.sent.
func sampleEvent() []byte {
	payload, _ := json.Marshal(map[string]any{
		"id":   "evt_bench",
		"type": "customer.created",
		"data": map[string]string{"text": string(make([]byte, 100))},
	})
	return payload
}

// makeBacklog pauses a subscription and writes the backlog into the database. It returns
// when the server, which is another process, has noticed all of it.
func (o *installation) makeBacklog(ctx context.Context, subscription string) {
	o.setStatus(subscription, "paused")
	payload := sampleEvent()
	insertMany(ctx, o.db, backlog, 500, func(tx *storage.Tx, _ int) error {
		id := tx.NewID(storage.PrefixEvent)
		return tx.InsertEvent(storage.Event{
			ID:             id,
			OrganizationID: o.account.OrganizationID,
			Type:           "customer.created",
			Source:         "svc",
			EventID:        id,
			Payload:        payload,
		}, "")
	})
	o.awaitDeliveries(ctx, storage.JobHeld, backlog)
}

// awaitDeliveries waits until the number of deliveries in a state of the queue, or with ""
// in all states, is want.
func (s *server) awaitDeliveries(ctx context.Context, state string, want int64) {
	pollDatabase(ctx, s.db, 10*time.Millisecond, func(rx *storage.Rx) (bool, error) {
		counts, err := rx.JobCounts()
		var n int64
		for _, c := range counts {
			if c.Kind == storage.KindDeliver && (state == "" || c.State == state) {
				n += c.Count
			}
		}
		return n == want, err
	})
}

// deliverWithoutDatabase posts as many deliveries as the backlog has, from memory.
func (o *installation) deliverWithoutDatabase(ctx context.Context) {
	network := guard.New(guard.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AllowInsecure: true})
	defer network.Close()

	client := webhook.Client{Transport: network.Transport(), Timeout: 10 * time.Second}
	d := webhook.Delivery{
		ID:      "wbd_bench",
		Attempt: 1,
		Event:   "evt_bench",
		EventID: "evt_bench",
		Type:    "customer.created",
		Source:  "svc",
		Body:    sampleEvent(),
		URL:     rig.Must(url.Parse(o.receiver.URL + "/hook")),
		Secrets: []string{"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
	}

	var left atomic.Int64
	left.Store(backlog)
	rig.RunParallel(16, func(int) {
		for left.Add(-1) >= 0 {
			if !client.Deliver(ctx, d).Succeeded() {
				rig.Check(errors.New("a bare delivery failed"))
			}
		}
	})
	o.receiver.Await(backlog)
}
