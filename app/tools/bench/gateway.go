package main

import (
	"fmt"
	"net"
	"strings"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

const waitingClients = 1000

// limitedPhone is a number that the simulator answers with a limit of the account (80007).
const limitedPhone = "+1999000080007"

// gatewayText is textTo in the provider's dialect.
func gatewayText(phone string) string {
	return strings.Replace(textTo(phone), `"chat"`, `"whatsapp"`, 1)
}

// gateway measures what a send through the gateway costs beside one through the API, each until the
// provider's answer is recorded, and what clients take that wait for theirs.
func (b *bench) gateway(o *installation) {
	direct := b.newSends(o.server, 64, o.serverProcess())
	passed := b.newSeries(load{address: o.Address, connections: 64, request: func() []byte {
		return o.request("POST", "/graph"+o.messages(), gatewayText(personPhone(o.sent.Add(1))))
	}}, o.awaitSent, o.serverProcess())
	b.measureAll(direct, passed)
	b.table.addLimited("P24", "processor of a send through the gateway, 64 connections",
		passed.cost()/direct.cost(), 1.3, "×", fmt.Sprintf("%.0f µs, through the API %.0f; %s, %s", passed.cost(), direct.cost(),
			latencyText(passed.waits), perSecond(passed.rate)))
	b.measureWaitingClients(o)
}

// measureWaitingClients measures how much memory clients take that wait, and what they cost those who
// send through the API.
func (b *bench) measureWaitingClients(o *installation) {
	busy := b.startSibling(o, 0, nil)
	number := busy.addPaused(o.provider)

	// It has worked before they come, as a server has: what its caches take is none of theirs.
	load{address: busy.Address, connections: 64, length: time.Second, request: busy.message}.run()
	before := busy.idleMemory()
	for i := range waitingClients {
		conn := rig.Must(net.Dial("tcp", busy.Address))
		defer conn.Close()
		rig.Must(conn.Write(busy.request("POST", "/graph/"+number+"/messages", gatewayText(personPhone(int64(i))))))
	}
	busy.awaitQueued(number, waitingClients)
	b.table.addLimited("P24", fmt.Sprintf("memory of %d clients that wait at the gateway", waitingClients),
		megabytes(busy.idleMemory()-before), 30, " MB", "")

	with, without := b.newDueSends(busy), b.newDueSends(o.server)
	without.name = "that without"
	b.measureAll(without, with)
	b.table.addRatio("P24", fmt.Sprintf("POST message accepted, 64 connections, while %d clients wait at the gateway", waitingClients),
		with, without, 0.95)
	busy.awaitQueued(number, waitingClients) // they have waited all the time
}

// addPaused connects another number, which the provider has limited: its messages wait.
func (s *server) addPaused(provider *rig.Simulator) (number string) {
	number, waba := provider.AddNumber(`{}`)
	s.ConnectNumber(s.org, number, waba, provider.AccessToken)
	graph := rig.Client{Base: s.URL() + "/graph", Key: s.api.Key}
	refused := rig.Catch(func() { graph.Call("POST", "/"+number+"/messages", gatewayText(limitedPhone), nil) })
	rig.Require(strings.Contains(fmt.Sprint(refused), ": 400 "), "a send to a number that the provider limits was answered %v", refused)
	return number
}

func (s *server) awaitQueued(number string, count int) {
	pollDatabase(s.db, 20*time.Millisecond, func(rx *storage.Rx) (bool, error) {
		account := rig.Must(rx.AccountByNumber(number))
		queued, _, err := rx.Messages(account.ID, storage.MessageFilter{Status: storage.MessageQueued}, storage.First, count)
		return len(queued) >= count, err
	})
}
