package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"confab/storage"
)

// postOffice is a server with a provider and somebody who wants its events.
type postOffice struct {
	*server
	provider *playedProvider
	receiver *receiver
	db       *storage.DB
}

// deliver measures events on their way to an endpoint.
func (b *bench) deliver() error {
	o, err := b.openPostOffice()
	if o != nil {
		defer o.close()
	}
	if err != nil {
		return err
	}
	sent, err := o.subscribe("/hook", "message.sent")
	if err != nil {
		return err
	}
	if err := b.deliverRates(o, "POST → message.sent delivered", o.posting); err != nil {
		return err
	}
	if err := o.patch(sent, `{"status":"paused"}`); err != nil {
		return err
	}
	received, err := o.subscribe("/hook", "message.received")
	if err != nil {
		return err
	}
	if err := b.deliverRates(o, "callback → message.received delivered", o.calling); err != nil {
		return err
	}
	if err := o.patch(received, `{"status":"paused"}`); err != nil {
		return err
	}
	if err := b.drain(o); err != nil {
		return err
	}
	return b.fairness(o, sent)
}

func (b *bench) openPostOffice() (*postOffice, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	o := &postOffice{}
	if o.provider, err = b.startProvider(address); err != nil {
		return o, err
	}
	if err := o.provider.settings(`{` + uncapped + `, "sent_ms": null, "delivered_ms": null}`); err != nil {
		return o, err
	}
	o.server, err = b.startServerAt(address,
		"CONFAB_PROVIDER__BASE_URL="+o.provider.URL, "CONFAB_PROVIDER__APP_SECRET="+o.provider.AppSecret, "CONFAB_PROVIDER__VERIFY_TOKEN="+o.provider.VerifyToken,
		"CONFAB_PROVIDER__MESSAGES_PER_SECOND=0", "CONFAB_PROVIDER__PAIR_LIMIT=false",
		"CONFAB_SECURITY__ALLOW_INSECURE_URLS=true", "CONFAB_SECURITY__ALLOW_CIDRS=127.0.0.0/8")
	if err != nil {
		return o, err
	}
	if o.receiver, err = startReceiver(); err != nil {
		return o, err
	}
	o.db, err = b.connectAccount(o.server, o.provider)
	return o, err
}

func (o *postOffice) close() {
	if o.db != nil {
		o.db.Close()
	}
	if o.receiver != nil {
		o.receiver.stop()
	}
	if o.server != nil {
		o.server.stop()
	}
	if o.provider != nil {
		o.provider.stop()
	}
}

// subscribe has events of a type posted to a path of the receiver.
func (o *postOffice) subscribe(path, event string) (id string, err error) {
	var made struct {
		Data struct{ ID string }
	}
	err = o.call("POST", "webhook_subscriptions", fmt.Sprintf(`{"url":%q,"events":[%q]}`, o.receiver.URL+path, event), &made)
	if err == nil && made.Data.ID == "" {
		err = fmt.Errorf("the subscription was refused")
	}
	return made.Data.ID, err
}

func (o *postOffice) patch(subscription, change string) error {
	var answer any
	return o.call("PATCH", "webhook_subscriptions/"+subscription, change, &answer)
}

// posting is the n-th request to send a message.
func (o *postOffice) posting(n int64) []byte {
	return o.request("POST", "/v1/"+o.provider.PhoneNumberID+"/messages",
		`{"messaging_product":"chat","to":"+1555`+strconv.FormatInt(1_000_000+n%5000, 10)+`","type":"text","text":{"body":"`+marked()+`"}}`)
}

// calling is the n-th callback about a message that somebody wrote, signed.
func (o *postOffice) calling(n int64) []byte {
	from := strconv.FormatInt(15_551_000_000+n%5000, 10)
	body := fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":%q,"changes":[{"field":"messages","value":{"messaging_product":"whatsapp",`+
		`"metadata":{"display_phone_number":%q,"phone_number_id":%q},"contacts":[{"profile":{"name":"Ann"},"wa_id":%q}],`+
		`"messages":[{"from":%q,"id":"wamid.in%d","timestamp":"%d","type":"text","text":{"body":%q}}]}}]}]}`,
		o.provider.WABAID, o.provider.PhoneNumber[1:], o.provider.PhoneNumberID, from, from, n, time.Now().Unix(), marked())
	mac := hmac.New(sha256.New, []byte(o.provider.AppSecret))
	mac.Write([]byte(body))
	return fmt.Appendf(nil, "POST /provider/webhook HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nX-Hub-Signature-256: sha256=%s\r\nContent-Length: %d\r\n\r\n%s",
		o.address, hex.EncodeToString(mac.Sum(nil)), len(body), body)
}

// deliverRates measures from the request that causes an event to the endpoint
// that hears of it. A round ends when all have come, each once.
func (b *bench) deliverRates(o *postOffice, name string, request func(int64) []byte) error {
	var n atomic.Int64
	for _, connections := range []int{1, 16, 64} {
		var rates, costs, theirs []float64
		var waits []time.Duration
		for range b.rounds {
			began, spent, received := time.Now(), cpu(o.cmd), cpu(o.receiver.cmd)
			l, err := drive(o.address, connections, b.length, 200, func() []byte { return request(n.Add(1)) })
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			t, err := o.receiver.await(len(l.waits))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			count := float64(t.Count)
			rates, waits = append(rates, count/time.Since(began).Seconds()), append(waits, t.Waits...)
			costs, theirs = append(costs, micros(cpu(o.cmd)-spent)/count), append(theirs, micros(cpu(o.receiver.cmd)-received)/count)
		}
		b.add(fmt.Sprintf("%s, %d connections", name, connections), perSecond(median(rates)),
			fmt.Sprintf("p50 %.2f ms, p99 %.2f ms; processor %.0f µs each, the receiver %.0f", ms(percentile(waits, 50)), ms(percentile(waits, 99)), median(costs), median(theirs)))
	}
	return nil
}

// paced is how many messages a second show how fair deliveries are: few enough
// that nothing but the other endpoint can hold them up.
const paced = 200

// fairness compares one endpoint's deliveries while another one hangs with the
// same while it does not.
func (b *bench) fairness(o *postOffice, subscription string) error {
	if err := o.patch(subscription, `{"status":"active"}`); err != nil {
		return err
	}
	hanging, err := o.subscribe("/hang", "message.sent")
	if err != nil {
		return err
	}
	var n atomic.Int64
	measure := func(status string) func() (float64, error) {
		return func() (float64, error) {
			if err := o.patch(hanging, `{"status":"`+status+`"}`); err != nil {
				return 0, err
			}
			posts := 0
			_, err := drive(o.address, 1, 3*b.length, 200, func() []byte {
				time.Sleep(time.Second / paced)
				posts++
				return o.posting(n.Add(1))
			})
			if err != nil {
				return 0, err
			}
			t, err := o.receiver.await(posts)
			return ms(percentile(t.Waits, 99)), err
		}
	}
	medians, err := b.interleave(measure("paused"), measure("active"))
	if err != nil {
		return fmt.Errorf("fairness: %w", err)
	}
	b.add(fmt.Sprintf("p99 of an endpoint at %d/s while another one hangs", paced), fmt.Sprintf("%.2f ms", medians[1]),
		fmt.Sprintf("%s its p99 without (%.2f ms)", times(medians[1], medians[0]), medians[0]))
	return o.patch(hanging, `{"status":"paused"}`)
}
