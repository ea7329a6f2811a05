package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"confab/storage"
)

const (
	inboundSecret = "bench secret"
	// inboundPeople write in turn; each is new once.
	inboundPeople = 5000
	// together is how many messages a callback holds in the second half.
	together = 50
)

// inbound measures messages from the provider's POST to their being stored with
// their events, which is when it is answered.
func (b *bench) inbound() error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	s, err := b.startServerAt(address, "CONFAB_PROVIDER__APP_SECRET="+inboundSecret, "CONFAB_PROVIDER__VERIFY_TOKEN=v")
	if s != nil {
		defer s.stop()
	}
	if err != nil {
		return err
	}
	p := &playedProvider{simulatorFile: simulatorFile{PhoneNumberID: "106540352242922", PhoneNumber: "+15550783881", WABAID: "102290129340398", AccessToken: "t"}}
	db, err := b.connectAccount(s, p)
	if err != nil {
		return err
	}
	defer db.Close()
	var n atomic.Int64
	for _, connections := range []int{1, 16, 64} {
		if err := b.heard(s, connections, 1, &n); err != nil {
			return err
		}
	}
	if err := b.heard(s, 4, together, &n); err != nil {
		return err
	}
	return allHeard(db, n.Load())
}

// heard measures callbacks with so many messages each.
func (b *bench) heard(s *server, connections, each int, n *atomic.Int64) error {
	var rates, costs []float64
	var waits []time.Duration
	for range b.rounds {
		spent := cpu(s.cmd)
		l, err := drive(s.address, connections, b.length, 200, func() []byte { return s.callback(n.Add(int64(each)), each) })
		if err != nil {
			return err
		}
		count := float64(len(l.waits) * each)
		rates, costs, waits = append(rates, l.perSecond*float64(each)), append(costs, micros(cpu(s.cmd)-spent)/count), append(waits, l.waits...)
	}
	b.add(fmt.Sprintf("inbound texts stored with their events, %d a callback, %d connections", each, connections), perSecond(median(rates)),
		fmt.Sprintf("processor %.0f µs each; p50 %.2f ms, p99 %.2f ms", median(costs), ms(percentile(waits, 50)), ms(percentile(waits, 99))))
	return nil
}

// callback is a signed request with the messages up to the nth, as the provider
// words it.
func (s *server) callback(n int64, each int) []byte {
	var b strings.Builder
	b.WriteString(`{"object":"whatsapp_business_account","entry":[{"id":"102290129340398","changes":[{"value":{"messaging_product":"whatsapp",` +
		`"metadata":{"display_phone_number":"15550783881","phone_number_id":"106540352242922"},"contacts":[`)
	for i := range each {
		who := strconv.FormatInt(1_000_000+(n-int64(i))%inboundPeople, 10)
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"profile":{"name":"Person ` + who + `"},"wa_id":"1555` + who + `","user_id":"US.77` + who + `"}`)
	}
	b.WriteString(`],"messages":[`)
	now := strconv.FormatInt(time.Now().Unix(), 10)
	for i := range each {
		id := strconv.FormatInt(n-int64(i), 10)
		who := strconv.FormatInt(1_000_000+(n-int64(i))%inboundPeople, 10)
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"from":"1555` + who + `","from_user_id":"US.77` + who + `","id":"wamid.HBgLMTU1NTAwMDExMTEVAgASGBQz` + id + `","timestamp":"` + now +
			`","text":{"body":"message ` + id + `"},"type":"text"}`)
	}
	b.WriteString(`]},"field":"messages"}]}]}`)
	body := b.String()
	mac := hmac.New(sha256.New, []byte(inboundSecret))
	mac.Write([]byte(body))
	return fmt.Appendf(nil, "POST /provider/webhook HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nX-Hub-Signature-256: sha256=%s\r\nContent-Length: %d\r\n\r\n%s",
		s.address, hex.EncodeToString(mac.Sum(nil)), len(body), body)
}

// allHeard makes sure that what was answered is there, once.
func allHeard(db *storage.DB, sent int64) error {
	return db.View(context.Background(), func(rx *storage.Rx) error {
		there, err := rx.PurgeCounts(storage.Purge{Before: storage.Now().Add(time.Hour)}) // which counts all
		if err == nil && (there.Messages != sent || there.Events < sent) {
			err = fmt.Errorf("%d messages were sent, %d are there, with %d events", sent, there.Messages, there.Events)
		}
		return err
	})
}
