package main

import (
	"bytes"
	"context"
	"errors"
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

// recipientPhone returns the phone number of the nth recipient.
func recipientPhone(n int) string { return "+1666" + strconv.Itoa(1_000_000+n) }

// broadcast compares broadcasts with direct sends of the same template to people who are
// all known, and measures how long a direct send takes meanwhile.
func (b *bench) broadcast(ctx context.Context, o *installation) error {
	recipients := broadcastRecipients / b.rounds
	if b.quick {
		recipients = 1000
	}
	err := insertMany(ctx, o.db, recipients, 1000, func(tx *storage.Tx, n int) error {
		_, err := newThread(tx, o.account.ID, recipientPhone(n))
		return err
	})
	if err != nil {
		return err
	}
	if err := o.createOffer(ctx); err != nil {
		return err
	}

	var id string
	var waits []time.Duration
	sent := &series{cost: meter{processes: o.processes()}}
	sent.prepare = func(ctx context.Context) (err error) {
		id, err = o.createBroadcast(ctx, recipients)
		return err
	}
	sent.measure = func(ctx context.Context) (round, error) {
		direct, err := o.sendWhileBroadcasting(ctx, id)
		waits = append(waits, direct...)
		return round{count: recipients}, err
	}
	direct := b.newDirectSends(o, recipients)
	if err := b.measureAll(ctx, sent, direct); err != nil {
		return err
	}

	b.table.addRatio(sent, direct, 0.9, row{
		id:        "P19",
		what:      fmt.Sprintf("broadcast, %d times to %d people, sent and recorded", b.rounds, recipients),
		callbacks: callbacksOff,
	})
	b.table.addLimited(ms(percentile(waits, 99)), 500, " ms", row{
		id:        "P19",
		what:      "POST → sent of a direct message while a broadcast runs, p99",
		callbacks: callbacksOff,
		detail:    fmt.Sprintf("%s; %d messages", latencyText(waits), len(waits)),
	})
	return nil
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
		name: "direct sends",
		measure: func(ctx context.Context) (round, error) {
			r, err := direct.run(ctx)
			return round{count: r.count}, err
		},
		after: o.awaitSent,
		cost:  meter{processes: o.processes()},
	}
}

// createOffer creates the template and waits until the provider has approved it.
func (o *installation) createOffer(ctx context.Context) error {
	if err := o.api.Call("POST", "/"+o.number+"/templates", offer, nil); err != nil {
		return err
	}
	return pollDatabase(ctx, o.db, 10*time.Millisecond, func(rx *storage.Rx) (bool, error) {
		t, err := rx.Template(o.account.ID, "offer", "en_US")
		return t.Status == storage.TemplateApproved, storage.IgnoreNotFound(err)
	})
}

// sendWhileBroadcasting sends direct messages until everybody was sent to by a broadcast,
// and returns how long each took.
func (o *installation) sendWhileBroadcasting(ctx context.Context, id string) (waits []time.Duration, err error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		defer stop()
		ended <- o.awaitBroadcast(ctx, id)
	}()

	for err == nil && running.Err() == nil {
		var wait time.Duration
		if wait, err = o.sendDirect(ctx); err == nil {
			waits = append(waits, wait)
		}
		select {
		case <-running.Done():
		case <-time.After(directEvery - wait):
		}
	}
	return waits, errors.Join(err, <-ended)
}

// createBroadcast makes a broadcast to people in a file, and returns its id.
func (o *installation) createBroadcast(ctx context.Context, recipients int) (id string, err error) {
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
	err = o.api.CallContext(ctx, rig.Request{
		Method: "POST", Path: "/" + o.number + "/broadcasts", Body: body.String(), ContentType: form.FormDataContentType(),
	}, &made)
	return made.Data.ID, err
}

// awaitBroadcast waits until all messages of a broadcast were sent.
func (o *installation) awaitBroadcast(ctx context.Context, id string) error {
	return pollDatabase(ctx, o.db, 10*time.Millisecond, func(rx *storage.Rx) (bool, error) {
		b, err := rx.Broadcast(o.account.ID, id)
		if err == nil && (b.Failed > 0 || b.Skipped > 0 || b.Status == storage.BroadcastPaused) {
			err = fmt.Errorf("a broadcast is %s, %d failed and %d were skipped", b.Status, b.Failed, b.Skipped)
		}
		return b.Waiting == 0, err
	})
}

// sendDirect sends one message, and returns how long it took from the POST until the
// provider's answer was recorded.
func (o *installation) sendDirect(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	var made struct{ Data struct{ ID string } }
	body := `{"messaging_product":"chat","to":"` + personPhone(1) + `","type":"text","text":{"body":"direct"}}`
	if err := o.api.Call("POST", o.messages(), body, &made); err != nil {
		return 0, err
	}

	err := pollDatabase(ctx, o.db, time.Millisecond, func(rx *storage.Rx) (bool, error) {
		m, err := rx.Message(o.account.ID, made.Data.ID)
		return m.Status != storage.MessageQueued, err
	})
	return time.Since(began), err
}
