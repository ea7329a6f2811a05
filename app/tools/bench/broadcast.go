package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"strconv"
	"sync/atomic"
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
func (b *bench) broadcast(ctx context.Context) error {
	o, _, err := b.openInstallation(ctx, 0)
	if err != nil {
		return err
	}
	defer o.close()

	recipients := broadcastRecipients / b.rounds
	if b.quick {
		recipients = 1000
	}
	if err := o.storeRecipients(ctx, recipients); err != nil {
		return err
	}
	if err := o.createOffer(ctx); err != nil {
		return err
	}

	var waits []time.Duration
	var direct atomic.Int64
	broadcastCost, directCost := newMeter(o.processes()...), newMeter(o.processes()...)
	medians, err := b.interleave(ctx,
		func() (float64, error) {
			rate, meanwhile, err := o.runBroadcast(ctx, recipients, broadcastCost)
			waits = append(waits, meanwhile...)
			return rate, err
		},
		func() (float64, error) { return b.sendTemplates(ctx, o, recipients, &direct, directCost) })
	if err != nil {
		return err
	}

	ratio := medians[0] / medians[1]
	b.table.add(row{
		id:        "P19",
		what:      fmt.Sprintf("broadcast, %d times to %d people, sent and recorded", b.rounds, recipients),
		callbacks: callbacksOff,
		figure:    perSecond(medians[0]),
		detail:    fmt.Sprintf("%.2f of direct sends (%s); %s; direct: %s", ratio, perSecond(medians[1]), broadcastCost, directCost),
		goal:      atLeast(ratio, 0.9),
	})
	p99 := ms(percentile(waits, 99))
	b.table.add(row{
		id:        "P19",
		what:      "POST → sent of a direct message while a broadcast runs, p99",
		callbacks: callbacksOff,
		figure:    fmt.Sprintf("%.0f ms", p99),
		detail:    fmt.Sprintf("%s; %d messages", latencyText(waits), len(waits)),
		goal:      atMost(p99, 500, " ms"),
	})
	return nil
}

// storeRecipients stores the contacts and their conversations.
func (o *installation) storeRecipients(ctx context.Context, count int) error {
	for from := 0; from < count; from += 1000 {
		err := o.db.Update(ctx, func(tx *storage.Tx) error {
			account, err := tx.AccountByNumber(o.number)
			for i := from; i < min(count, from+1000) && err == nil; i++ {
				phone := recipientPhone(i)
				contact := storage.Contact{AccountID: account.ID, PhoneNumber: &phone}
				if err = tx.InsertContact(&contact); err == nil {
					_, err = tx.EnsureConversation(account.ID, contact.ID)
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// createOffer creates the template and waits until the provider has approved it.
func (o *installation) createOffer(ctx context.Context) error {
	if err := o.call("POST", "/"+o.number+"/templates", offer, nil); err != nil {
		return err
	}
	return pollQueue(ctx, 10*time.Millisecond, func() (isApproved bool, err error) {
		err = o.db.View(ctx, func(rx *storage.Rx) error {
			account, err := rx.AccountByNumber(o.number)
			if err != nil {
				return err
			}
			t, err := rx.Template(account.ID, "offer", "en_US")
			isApproved = t.Status == storage.TemplateApproved
			return storage.IgnoreNotFound(err)
		})
		return isApproved, err
	})
}

// runBroadcast makes a broadcast and waits until everybody was sent to. It returns messages
// per second, from when the broadcast was stored, and how long direct messages took.
func (o *installation) runBroadcast(ctx context.Context, recipients int, cost *meter) (rate float64, direct []time.Duration, err error) {
	id, err := o.createBroadcast(ctx, recipients)
	if err != nil {
		return 0, nil, err
	}
	if err := cost.begin(); err != nil {
		return 0, nil, err
	}
	began := time.Now()

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
			direct = append(direct, wait)
		}
		select {
		case <-running.Done():
		case <-time.After(directEvery - wait):
		}
	}
	err = errors.Join(err, <-ended)
	return float64(recipients) / time.Since(began).Seconds(), direct, errors.Join(err, cost.end(recipients))
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
	err = o.client().CallContext(ctx, rig.Request{
		Method: "POST", Path: "/" + o.number + "/broadcasts", Body: body.String(), ContentType: form.FormDataContentType(),
	}, &made)
	return made.Data.ID, err
}

// awaitBroadcast waits until all messages of a broadcast were sent.
func (o *installation) awaitBroadcast(ctx context.Context, id string) error {
	return pollQueue(ctx, 10*time.Millisecond, func() (bool, error) {
		var b storage.Broadcast
		err := o.db.View(ctx, func(rx *storage.Rx) error {
			account, err := rx.AccountByNumber(o.number)
			if err == nil {
				b, err = rx.Broadcast(account.ID, id)
			}
			return err
		})
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
	var made struct {
		Data struct{ ID string }
	}
	body := `{"messaging_product":"chat","to":"` + personPhone(1) + `","type":"text","text":{"body":"direct"}}`
	if err := o.call("POST", "/"+o.number+"/messages", body, &made); err != nil {
		return 0, err
	}

	err := pollQueue(ctx, time.Millisecond, func() (isSent bool, err error) {
		err = o.db.View(ctx, func(rx *storage.Rx) error {
			account, err := rx.AccountByNumber(o.number)
			if err != nil {
				return err
			}
			m, err := rx.Message(account.ID, made.Data.ID)
			isSent = m.Status != storage.MessageQueued
			return err
		})
		return isSent, err
	})
	return time.Since(began), err
}

// sendTemplates sends the template to the same people directly, and returns messages per
// second until all of them were sent and recorded.
func (b *bench) sendTemplates(ctx context.Context, o *installation, recipients int, n *atomic.Int64, cost *meter) (float64, error) {
	if err := cost.begin(); err != nil {
		return 0, err
	}

	began := time.Now()
	l, err := runLoad(ctx, o.Address, 64, b.length, 200, func() []byte {
		to := recipientPhone(int(n.Add(1)) % recipients)
		return o.request("POST", "/"+o.number+"/messages",
			`{"messaging_product":"chat","to":"`+to+`","type":"template","template":{"name":"offer","language":"en_US"}}`)
	})
	if err == nil {
		err = awaitSent(ctx, o.db)
	}
	return float64(len(l.waits)) / time.Since(began).Seconds(), errors.Join(err, cost.end(len(l.waits)))
}
