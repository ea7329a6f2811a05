package main

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"strconv"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

const (
	// broadcastRecipients get a message in all rounds together, unless it is a quick look.
	broadcastRecipients = 100_000
	// directEvery is how often a direct message is sent while a broadcast runs.
	directEvery = 100 * time.Millisecond
)

// offer is a template, which is sent to people one by one and by broadcasts.
const offer = `{"name":"offer","language":"en_US","category":"UTILITY",` +
	`"components":[{"type":"BODY","text":"Your order is on its way."}]}`

func recipientPhone(n int) string { return "+1666" + strconv.Itoa(1_000_000+n) }

// broadcast compares broadcasts with direct sends of the same template to people who are
// all known, and measures how long a direct send takes meanwhile.
func (b *bench) broadcast(ctx context.Context, o *installation) {
	recipients := broadcastRecipients / b.rounds
	if b.quick {
		recipients = 1000
	}
	insertMany(ctx, o.db, recipients, 1000, func(tx *storage.Tx, n int) error {
		_, err := newThread(tx, o.account.ID, recipientPhone(n))
		return err
	})
	o.createOffer(ctx)

	var id string
	var waits []time.Duration
	sent := &series{cost: meter{processes: o.processes()}}
	sent.prepare = func(ctx context.Context) { id = o.createBroadcast(ctx, recipients) }
	sent.measure = func(ctx context.Context) round {
		waits = append(waits, o.sendWhileBroadcasting(ctx, id)...)
		return round{count: recipients}
	}
	direct := b.newDirectSends(o, recipients)
	b.measureAll(ctx, sent, direct)

	b.table.addRatio(sent, direct, 0.9, row{
		id:   "P19",
		what: fmt.Sprintf("broadcast, %d times to %d people, sent and recorded", b.rounds, recipients),
	})
	b.table.addLimited(ms(rig.Percentile(waits, 99)), 500, " ms", row{
		id:     "P19",
		what:   "POST → sent of a direct message while a broadcast runs, p99",
		detail: fmt.Sprintf("%s; %d messages", latencyText(waits), len(waits)),
	})
}

// newDirectSends measures sends of the template to the same people, until all of them were
// sent and recorded.
func (b *bench) newDirectSends(o *installation, recipients int) *series {
	direct := load{address: o.Address, connections: 64, length: b.length, request: func() []byte {
		to := recipientPhone(int(o.sent.Add(1)) % recipients)
		return o.request("POST", o.messages(),
			`{"messaging_product":"chat","to":"`+to+`","type":"template","template":{"name":"offer","language":"en_US"}}`, "")
	}}
	return &series{
		name:    "direct sends",
		measure: func(ctx context.Context) round { return round{count: direct.run(ctx).count} },
		after:   o.awaitSent,
		cost:    meter{processes: o.processes()},
	}
}

// createOffer creates the template and waits until the provider has approved it.
func (o *installation) createOffer(ctx context.Context) {
	o.api.Call("POST", "/"+o.number+"/templates", offer, nil)
	pollDatabase(ctx, o.db, 10*time.Millisecond, func(rx *storage.Rx) (bool, error) {
		t, err := rx.Template(o.account.ID, "offer", "en_US")
		return t.Status == storage.TemplateApproved, storage.IgnoreNotFound(err)
	})
}

// sendWhileBroadcasting sends direct messages until everybody was sent to by a broadcast,
// and returns how long each took.
func (o *installation) sendWhileBroadcasting(ctx context.Context, id string) (waits []time.Duration) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	awaitEnd := rig.Go(func() {
		defer stop()
		o.awaitBroadcast(running, id)
	})

	for running.Err() == nil {
		wait := o.sendDirect(ctx)
		waits = append(waits, wait)
		select {
		case <-running.Done():
		case <-time.After(directEvery - wait):
		}
	}
	awaitEnd()
	return waits
}

// createBroadcast makes a broadcast to people in a file, and returns its id.
func (o *installation) createBroadcast(ctx context.Context, recipients int) (id string) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("broadcast", `{"name":"Offer","template":{"name":"offer","language":"en_US"}}`)
	file, _ := form.CreateFormFile("recipients", "recipients.csv") // a buffer takes everything
	fmt.Fprintln(file, "phone_number")
	for i := range recipients {
		fmt.Fprintln(file, recipientPhone(i))
	}
	form.Close()

	var made struct{ Data struct{ ID string } }
	o.api.CallContext(ctx, rig.Request{
		Method: "POST", Path: "/" + o.number + "/broadcasts", Body: body.String(), ContentType: form.FormDataContentType(),
	}, &made)
	return made.Data.ID
}

func (o *installation) awaitBroadcast(ctx context.Context, id string) {
	pollDatabase(ctx, o.db, 10*time.Millisecond, func(rx *storage.Rx) (bool, error) {
		b, err := rx.Broadcast(o.account.ID, id)
		if err == nil && (b.Failed > 0 || b.Skipped > 0 || b.Status == storage.BroadcastPaused) {
			err = fmt.Errorf("a broadcast is %s, %d failed and %d were skipped", b.Status, b.Failed, b.Skipped)
		}
		return b.Waiting == 0, err
	})
}

// sendDirect sends one message, and returns how long it took from the POST until the
// provider's answer was recorded.
func (o *installation) sendDirect(ctx context.Context) time.Duration {
	began := time.Now()
	id := o.create(o.messages(), `{"messaging_product":"chat","to":"`+personPhone(1)+`","type":"text","text":{"body":"direct"}}`)
	pollDatabase(ctx, o.db, time.Millisecond, func(rx *storage.Rx) (bool, error) {
		m, err := rx.Message(o.account.ID, id)
		return m.Status != storage.MessageQueued, err
	})
	return time.Since(began)
}
