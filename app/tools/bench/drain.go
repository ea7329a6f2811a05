package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"confab/jobs/guard"
	"confab/jobs/webhook"
	"confab/storage"
)

// backlog is how many deliveries wait when a subscription is resumed.
const backlog = 20_000

// drain measures how fast a backlog is delivered and recorded. It compares that with the
// same client without a database, which is as fast as the machine allows.
func (b *bench) drain(ctx context.Context) error {
	o, _, err := b.openInstallation(ctx, 0)
	if err != nil {
		return err
	}
	defer o.close()

	id, err := o.subscribe("/hook", "customer.created")
	if err != nil {
		return err
	}

	drained := newMeter(process{"server", o.CPUTime}, process{"receiver", o.receiver.CPUTime})
	bare := newMeter(process{"client", loadGenerator.used}, process{"receiver", o.receiver.CPUTime})

	medians, err := b.interleave(ctx,
		func() (float64, error) {
			if err := o.makeBacklog(ctx, id); err != nil {
				return 0, err
			}
			return o.drain(ctx, id, drained)
		},
		func() (float64, error) { return o.deliverWithoutDatabase(ctx, bare) })
	if err != nil {
		return err
	}

	b.table.add(row{
		what:   "machine: the delivering client without a database",
		figure: perSecond(medians[1]),
		detail: bare.String(),
	})
	b.table.add(row{
		id:     "P10",
		what:   fmt.Sprintf("a backlog of %d signed deliveries drained and recorded", backlog),
		figure: perSecond(medians[0]),
		detail: fmt.Sprintf("%.2f of the client without a database; %s", medians[0]/medians[1], drained),
		goal:   atLeast(medians[0]/medians[1], 0.4),
	})
	return nil
}

// drain resumes the subscription, waits until the whole backlog is delivered and
// recorded, and returns deliveries per second.
func (o *installation) drain(ctx context.Context, subscription string, cost *meter) (float64, error) {
	if err := cost.begin(); err != nil {
		return 0, err
	}

	began := time.Now()
	if err := o.setStatus(subscription, "active"); err != nil {
		return 0, err
	}
	if _, err := o.receiver.Await(backlog); err != nil {
		return 0, err
	}

	if err := o.await(ctx, "", 0); err != nil {
		return 0, err
	}

	return backlog / time.Since(began).Seconds(), cost.end(backlog)
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
func (o *installation) makeBacklog(ctx context.Context, subscription string) error {
	if err := o.setStatus(subscription, "paused"); err != nil {
		return err
	}
	payload := sampleEvent()

	for made := 0; made < backlog; made += 500 {
		err := o.db.Update(ctx, func(tx *storage.Tx) error {
			orgs, err := tx.Organizations()
			if err != nil {
				return err
			}
			for range 500 {
				id := tx.NewID(storage.PrefixEvent)
				e := storage.Event{
					ID:             id,
					OrganizationID: orgs[0].ID,
					Type:           "customer.created",
					Source:         "svc",
					EventID:        id,
					Payload:        payload,
				}
				if err := tx.InsertEvent(e, ""); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}

	return o.await(ctx, storage.JobHeld, backlog)
}

// await waits until the number of deliveries in a state of the queue, or with "" in all
// states, is want.
func (o *installation) await(ctx context.Context, state string, want int64) error {
	return pollQueue(ctx, 10*time.Millisecond, func() (bool, error) {
		var counts []storage.JobCount
		err := o.db.View(ctx, func(rx *storage.Rx) (err error) {
			counts, err = rx.JobCounts()
			return err
		})
		if err != nil {
			return false, err
		}

		var n int64
		for _, c := range counts {
			if c.Kind == storage.KindDeliver && (state == "" || c.State == state) {
				n += c.Count
			}
		}

		return n == want, nil
	})
}

// deliverWithoutDatabase posts as many deliveries as the backlog has, from memory, and
// returns deliveries per second.
func (o *installation) deliverWithoutDatabase(ctx context.Context, cost *meter) (float64, error) {
	network := guard.New(guard.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AllowInsecure: true})
	defer network.Close()

	client := webhook.Client{Transport: network.Transport(), Timeout: 10 * time.Second}
	to, err := url.Parse(o.receiver.URL + "/hook")
	if err != nil {
		return 0, err
	}

	d := webhook.Delivery{
		ID:      "wbd_bench",
		Attempt: 1,
		Event:   "evt_bench",
		EventID: "evt_bench",
		Type:    "customer.created",
		Source:  "svc",
		Body:    sampleEvent(),
		URL:     to,
		Secrets: []string{"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
	}

	var group sync.WaitGroup
	var left, failed atomic.Int64
	left.Store(backlog)

	if err := cost.begin(); err != nil {
		return 0, err
	}
	began := time.Now()
	for range 16 {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				if !client.Deliver(ctx, d).Succeeded() {
					failed.Add(1)
				}
			}
		})
	}
	group.Wait()

	took := time.Since(began)
	if n := failed.Load(); n > 0 {
		return 0, fmt.Errorf("%d bare deliveries failed", n)
	}
	if _, err := o.receiver.Await(backlog); err != nil {
		return 0, err
	}

	return backlog / took.Seconds(), cost.end(backlog)
}
