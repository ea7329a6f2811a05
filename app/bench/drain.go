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

// drain measures how fast a backlog goes out and is recorded, against the same
// client that has nothing to record.
func (b *bench) drain(o *postOffice) error {
	id, err := o.subscribe("/hook", "customer.created")
	if err != nil {
		return err
	}
	var costs, theirs []float64
	medians, err := b.interleave(
		func() (float64, error) {
			if err := o.pileUp(id); err != nil {
				return 0, err
			}
			began, spent, received := time.Now(), cpu(o.cmd), cpu(o.receiver.cmd)
			if err := o.patch(id, `{"status":"active"}`); err != nil {
				return 0, err
			}
			if _, err := o.receiver.await(backlog); err != nil {
				return 0, err
			}
			if err := o.await("", 0); err != nil {
				return 0, err
			}
			took := time.Since(began)
			costs, theirs = append(costs, micros(cpu(o.cmd)-spent)/backlog), append(theirs, micros(cpu(o.receiver.cmd)-received)/backlog)
			return backlog / took.Seconds(), nil
		},
		func() (float64, error) { return o.bare() })
	if err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	b.add(fmt.Sprintf("a backlog of %d signed deliveries drained and recorded", backlog), perSecond(medians[0]),
		fmt.Sprintf("%.2f of the same client without a database (%s); processor %.0f µs each, the receiver %.0f", medians[0]/medians[1], perSecond(medians[1]), median(costs), median(theirs)))
	return nil
}

// sampleEvent is of the size of a message.sent.
func sampleEvent() []byte {
	payload, _ := json.Marshal(map[string]any{"id": "evt_bench", "type": "customer.created", "data": map[string]string{"text": string(make([]byte, 100))}})
	return payload
}

// pileUp pauses a subscription and makes the backlog, which the server must have
// noticed: another process wrote it.
func (o *postOffice) pileUp(subscription string) error {
	if err := o.patch(subscription, `{"status":"paused"}`); err != nil {
		return err
	}
	payload := sampleEvent()
	for made := 0; made < backlog; made += 500 {
		err := o.db.Update(context.Background(), func(tx *storage.Tx) error {
			orgs, err := tx.Organizations()
			if err != nil {
				return err
			}
			for range 500 {
				id := tx.NewID(storage.PrefixEvent)
				e := storage.Event{ID: id, OrganizationID: orgs[0].ID, Type: "customer.created", Source: "svc", EventID: id, Payload: payload}
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
	return o.await(storage.JobHeld, backlog)
}

// await waits until so many deliveries are in a state of the queue, or with "" in
// any.
func (o *postOffice) await(state string, want int64) error {
	for range 6000 {
		var counts []storage.JobCount
		err := o.db.View(context.Background(), func(rx *storage.Rx) (err error) {
			counts, err = rx.JobCounts()
			return err
		})
		if err != nil {
			return err
		}
		var n int64
		for _, c := range counts {
			if c.Kind == storage.KindDeliver && (state == "" || c.State == state) {
				n += c.Count
			}
		}
		if n == want {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("the queue did not come to rest")
}

// bare posts as many deliveries as the backlog has, from memory.
func (o *postOffice) bare() (float64, error) {
	network := guard.New(guard.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AllowInsecure: true})
	defer network.Close()
	client := webhook.Client{Transport: network.Transport(), Timeout: 10 * time.Second}
	to, err := url.Parse(o.receiver.URL + "/hook")
	if err != nil {
		return 0, err
	}
	d := webhook.Delivery{
		ID: "wbd_bench", Attempt: 1, Event: "evt_bench", EventID: "evt_bench", Type: "customer.created", Source: "svc", Body: sampleEvent(), URL: to,
		Secrets: []string{"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
	}
	var group sync.WaitGroup
	var left, failed atomic.Int64
	left.Store(backlog)
	began := time.Now()
	for range 16 {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				if !client.Deliver(context.Background(), d).Succeeded() {
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
	_, err = o.receiver.await(backlog)
	return backlog / took.Seconds(), err
}
