package main

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"confab/app/tools/rig"
	"confab/jobs/guard"
	"confab/jobs/webhook"
	"confab/storage"
)

const backlog = 20_000

// drain measures how fast a backlog is delivered and recorded. It compares that with the
// same client without a database, which is as fast as the machine allows.
func (b *bench) drain(o *installation) {
	id := o.subscribe("/hook", "customer.created")
	receiver := process{name: "receiver", used: o.receiver.CPUTime}

	drained := &series{
		prepare: func() { o.makeBacklog(id) },
		measure: func() round {
			o.setStatus(id, "active")
			o.receiver.Await(backlog)
			o.awaitDeliveries("", 0)
			return round{count: backlog}
		},
		processes: []process{o.serverProcess(), receiver},
	}
	bare := &series{
		name: "the client without a database",
		measure: func() round {
			o.deliverWithoutDatabase()
			return round{count: backlog}
		},
		processes: []process{ownProcess("client"), receiver},
	}

	b.measureAll(drained, bare)
	b.table.addRatio("P10", fmt.Sprintf("a backlog of %d signed deliveries drained and recorded", backlog), drained, bare, 0.4)
}

// sampleEvent is a payload of the size of a message.sent.
var sampleEvent = []byte(`{"id":"evt_bench","type":"customer.created","data":{"text":"` + strings.Repeat("x", 600) + `"}}`)

// makeBacklog pauses a subscription and writes the backlog into the database. It returns
// when the server, which is another process, has noticed all of it.
func (o *installation) makeBacklog(subscription string) {
	o.setStatus(subscription, "paused")
	insertMany(o.db, backlog, 500, func(tx *storage.Tx, _ int) {
		id := tx.NewID(storage.PrefixEvent)
		rig.Check(tx.InsertEvent(storage.Event{
			ID:             id,
			OrganizationID: o.account.OrganizationID,
			Type:           "customer.created",
			Source:         "svc",
			EventID:        id,
			Payload:        sampleEvent,
		}, ""))
	})
	o.awaitDeliveries(storage.JobHeld, backlog)
}

// awaitDeliveries waits until the number of deliveries in a state of the queue, or with ""
// in all states, is want.
func (s *server) awaitDeliveries(state string, want int64) {
	pollDatabase(s.db, 10*time.Millisecond, func(rx *storage.Rx) (bool, error) {
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

func (o *installation) deliverWithoutDatabase() {
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
		Body:    sampleEvent,
		URL:     rig.Must(url.Parse(o.receiver.URL + "/hook")),
		Secrets: []string{"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
	}

	var left atomic.Int64
	left.Store(backlog)
	rig.RunParallel(16, func(int) {
		for left.Add(-1) >= 0 {
			rig.Require(client.Deliver(context.Background(), d).Succeeded(), "a bare delivery failed")
		}
	})
	o.receiver.Await(backlog)
}
