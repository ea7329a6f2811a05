package main

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"strconv"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

const (
	// broadcastRecipients get a message in all rounds together.
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
func (b *bench) broadcast(o *installation) {
	recipients := min(broadcastRecipients, b.messages/100) / b.rounds
	insertMany(o.db, recipients, 1000, func(tx *storage.Tx, n int) { newThread(tx, o.account.ID, recipientPhone(n)) })
	o.createOffer()

	var id string
	var waits []time.Duration
	sent := &series{processes: o.processes()}
	sent.prepare = func() { id = o.createBroadcast(recipients) }
	sent.measure = func() round {
		var last time.Time
		poll(10*time.Millisecond, func() bool {
			if time.Since(last) > directEvery {
				last = time.Now()
				waits = append(waits, o.sendDirect())
			}
			return o.isBroadcastSent(id)
		})
		return round{count: recipients}
	}

	direct := &series{name: "direct sends", after: o.awaitSent, processes: o.processes()}
	sends := load{address: o.Address, connections: 64, length: b.length, request: func() []byte {
		to := recipientPhone(int(o.sent.Add(1)) % recipients)
		return o.request("POST", "/v1"+o.messages(),
			`{"messaging_product":"chat","to":"`+to+`","type":"template","template":{"name":"offer","language":"en_US"}}`)
	}}
	direct.measure = func() round { return round{count: sends.run().count} }
	b.measureAll(sent, direct)

	b.table.addRatio("P19", fmt.Sprintf("broadcast, %d times to %d people, sent and recorded", b.rounds, recipients), sent, direct, 0.9)
	b.table.addLimited("P19", "POST → sent of a direct message while a broadcast runs, p99",
		ms(rig.Percentile(waits, 99)), 500, " ms", fmt.Sprintf("%s; %d messages", latencyText(waits), len(waits)))
}

func (o *installation) createOffer() {
	o.api.Call("POST", "/"+o.number+"/templates", offer, nil)
	pollDatabase(o.db, 10*time.Millisecond, func(rx *storage.Rx) (bool, error) {
		t, err := rx.Template(o.account.ID, "offer", "en_US")
		return t.Status == storage.TemplateApproved, storage.IgnoreNotFound(err)
	})
}

func (o *installation) createBroadcast(recipients int) (id string) {
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
	o.api.Send(rig.Request{
		Method: "POST", Path: "/" + o.number + "/broadcasts", Body: body.String(), ContentType: form.FormDataContentType(),
	}, &made)
	return made.Data.ID
}

// isBroadcastSent reports whether everybody was sent to by a broadcast, which must fail for nobody.
func (o *installation) isBroadcastSent(id string) bool {
	b := view(o.db, func(rx *storage.Rx) (storage.Broadcast, error) { return rx.Broadcast(o.account.ID, id) })
	rig.Require(b.Failed == 0 && b.Skipped == 0 && b.Status != storage.BroadcastPaused,
		"a broadcast is %s, %d failed and %d were skipped", b.Status, b.Failed, b.Skipped)
	return b.Waiting == 0
}

// sendDirect sends one message, and returns how long it took from the POST until the
// provider's answer was recorded.
func (o *installation) sendDirect() time.Duration {
	began := time.Now()
	id := o.create(o.messages(), textTo(personPhone(1)))
	pollDatabase(o.db, time.Millisecond, func(rx *storage.Rx) (bool, error) {
		m, err := rx.Message(o.account.ID, id)
		return m.Status != storage.MessageQueued, err
	})
	return time.Since(began)
}
