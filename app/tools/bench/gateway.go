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
func (b *bench) gateway(ctx context.Context, o *installation) {
	direct := b.newSends(o.server, 64, o.serverProcess())
	direct.name = "those through the API"
	passed := b.newSeries(load{address: o.Address, connections: 64, request: func() []byte {
		return o.passedTo(o.number, personPhone(o.sent.Add(1)))
	}}, o.awaitSent, o.serverProcess())
	b.measureAll(ctx, direct, passed)
	b.table.addLimited(passed.cost.sum()/direct.cost.sum(), 1.3, "×", row{
		id:   "P24",
		what: "processor of a send through the gateway, 64 connections",
		detail: fmt.Sprintf("%.0f µs of %s's %.0f; %s, %s of %s", passed.cost.sum(), direct.name, direct.cost.sum(),
			latencyText(passed.waits), perSecond(passed.rate), perSecond(median(direct.whole))),
	})
	b.measureWaitingClients(ctx, o)
}

// passedTo is a request to send a message of a number through the gateway.
func (s *server) passedTo(number, to string) []byte {
	return formatRequest(s.Address, "POST", "/graph/"+number+"/messages",
		`{"messaging_product":"whatsapp","to":"`+to+`","type":"text","text":{"body":"`+rig.TimestampedText()+`"}}`,
		"Authorization: Bearer "+s.api.Key, "Content-Type: application/json")
}

// measureWaitingClients measures how much memory clients take that wait, and what they cost those who
// send through the API.
func (b *bench) measureWaitingClients(ctx context.Context, o *installation) {
	busy := b.startSibling(ctx, o, 0, nil)
	defer busy.close()
	number, account := busy.addPaused(ctx, o.provider)

	// It has worked before they come, as a server has: what its caches take is none of theirs.
	load{address: busy.Address, connections: 64, length: time.Second, request: busy.message}.run(ctx)
	before := busy.idleMemory(ctx)
	for i := range waitingClients {
		conn := rig.Must(net.Dial("tcp", busy.Address))
		defer conn.Close()
		rig.Must(conn.Write(busy.passedTo(number, personPhone(int64(i)))))
	}
	busy.awaitQueued(ctx, account, waitingClients)
	b.table.addLimited(megabytes(busy.idleMemory(ctx)-before), 30, " MB", row{
		id: "P24", what: fmt.Sprintf("memory of %d clients that wait at the gateway", waitingClients),
	})

	with, without := b.newDueSends(busy), b.newDueSends(o.server)
	without.name = "that without"
	b.measureAll(ctx, without, with)
	b.table.addRatio(with, without, 0.95, row{
		id:   "P24",
		what: fmt.Sprintf("POST message accepted, 64 connections, while %d clients wait at the gateway", waitingClients),
	})
	busy.awaitQueued(ctx, account, waitingClients) // they have waited all the time
}

// addPaused connects another number, which the provider has limited: its messages wait.
func (s *server) addPaused(ctx context.Context, provider *rig.Simulator) (number string, account int64) {
	number, waba := provider.AddNumber(`{}`)
	s.ConnectNumber(s.org, number, waba, provider.AccessToken)
	added := view(ctx, s.db, func(rx *storage.Rx) (storage.Account, error) { return rx.AccountByNumber(number) })

	load{address: s.Address, connections: 1, length: 1, status: http.StatusBadRequest,
		request: func() []byte { return s.passedTo(number, limitedPhone) }}.run(ctx)
	return number, added.ID
}

func (s *server) awaitQueued(ctx context.Context, account int64, count int) {
	pollDatabase(ctx, s.db, idleDelay/100, func(rx *storage.Rx) (bool, error) {
		queued, _, err := rx.Messages(account, storage.MessageFilter{Status: storage.MessageQueued}, storage.First, count)
		return len(queued) >= count, err
	})
}
