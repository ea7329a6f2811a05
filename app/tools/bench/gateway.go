package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

// waitingClients is how many clients wait at the gateway for their answers.
const waitingClients = 1000

// limitedPhone is a number that the simulator answers with a limit of the account (80007).
const limitedPhone = "+1999000080007"

// gateway measures what a send through the gateway costs beside one through the API, each until the
// provider's answer is recorded, and what clients take that wait for theirs.
func (b *bench) gateway(ctx context.Context, o *installation) error {
	direct := b.newSeries(load{address: o.Address, connections: 64, request: o.message}, o.awaitSent, o.serverProcess())
	direct.name = "those through the API"
	passed := b.newSeries(load{address: o.Address, connections: 64, request: func() []byte {
		return o.passedTo(o.number, personPhone(o.sent.Add(1)))
	}}, o.awaitSent, o.serverProcess())
	if err := b.measureAll(ctx, direct, passed); err != nil {
		return err
	}
	b.table.addLimited(passed.cost.sum()/direct.cost.sum(), 1.3, "×", row{
		id:        "P24",
		what:      "processor of a send through the gateway, 64 connections",
		callbacks: callbacksOff,
		detail: fmt.Sprintf("%.0f µs of %s's %.0f; %s, %s of %s", passed.cost.sum(), direct.name, direct.cost.sum(),
			latencyText(passed.waits), perSecond(passed.rate), perSecond(median(direct.whole))),
	})
	return b.measureWaitingClients(ctx, o)
}

// passedTo is a request to send a message of a number through the gateway.
func (s *server) passedTo(number, to string) []byte {
	return formatRequest(s.Address, "POST", "/graph/"+number+"/messages",
		`{"messaging_product":"whatsapp","to":"`+to+`","type":"text","text":{"body":"`+rig.TimestampedText()+`"}}`,
		"Authorization: Bearer "+s.api.Key, "Content-Type: application/json")
}

// measureWaitingClients measures how much memory clients take that wait, and what they cost those who
// send through the API.
func (b *bench) measureWaitingClients(ctx context.Context, o *installation) error {
	busy, err := b.startSibling(ctx, o, 0, nil)
	if err != nil {
		return err
	}
	defer busy.close()
	number, err := busy.addPaused(ctx, o.provider)
	if err != nil {
		return err
	}

	// It has worked before they come, as a server has: what its caches take is none of theirs.
	if _, err := (load{address: busy.Address, connections: 64, length: time.Second, request: busy.message}).run(ctx); err != nil {
		return err
	}
	before, err := busy.idleMemory(ctx)
	if err != nil {
		return err
	}
	for i := range waitingClients {
		conn, err := net.Dial("tcp", busy.Address)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.Write(busy.passedTo(number.id, personPhone(int64(i)))); err != nil {
			return err
		}
	}
	if err := busy.awaitQueued(ctx, number.account, waitingClients); err != nil {
		return err
	}
	after, err := busy.idleMemory(ctx)
	if err != nil {
		return err
	}
	b.table.addLimited(megabytes(after-before), 30, " MB", row{
		id: "P24", what: fmt.Sprintf("memory of %d clients that wait at the gateway", waitingClients), callbacks: callbacksOff,
	})

	with, without := b.newSends(busy), b.newSends(o.server)
	without.name = "that without"
	if err := b.measureAll(ctx, without, with); err != nil {
		return err
	}
	b.table.addRatio(with, without, 0.95, row{
		id:        "P24",
		what:      fmt.Sprintf("POST message accepted, 64 connections, while %d clients wait at the gateway", waitingClients),
		callbacks: callbacksOff,
	})
	return busy.awaitQueued(ctx, number.account, waitingClients) // they have waited all the time
}

// pausedNumber is a number whose messages wait.
type pausedNumber struct {
	id      string
	account int64
}

// addPaused connects another number, which the provider has limited: its messages wait.
func (s *server) addPaused(ctx context.Context, provider *rig.Simulator) (n pausedNumber, err error) {
	var made struct {
		PhoneNumberID string `json:"phone_number_id"`
		WABAID        string `json:"waba_id"`
	}
	if err := provider.Call("POST", "/_sim/numbers", `{}`, &made); err != nil {
		return n, err
	}
	if err := s.ConnectNumber(s.org, made.PhoneNumberID, made.WABAID, provider.AccessToken); err != nil {
		return n, err
	}
	n.id = made.PhoneNumberID
	err = s.db.View(ctx, func(rx *storage.Rx) error {
		a, err := rx.AccountByNumber(n.id)
		n.account = a.ID
		return err
	})
	if err != nil {
		return n, err
	}

	limited := load{address: s.Address, connections: 1, length: 1, status: http.StatusBadRequest,
		request: func() []byte { return s.passedTo(n.id, limitedPhone) }}
	_, err = limited.run(ctx)
	return n, err
}

// awaitQueued waits until so many messages of an account are queued.
func (s *server) awaitQueued(ctx context.Context, account int64, count int) error {
	return pollDatabase(ctx, s.db, idleDelay/100, func(rx *storage.Rx) (bool, error) {
		queued, _, err := rx.Messages(account, storage.MessageFilter{Status: storage.MessageQueued}, storage.First, count)
		return len(queued) >= count, err
	})
}
