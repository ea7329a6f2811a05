package main

import "fmt"

// fewMessages is with how many stored messages growth is compared.
const fewMessages = 1000

var operations = []struct {
	what    string
	request func(*server) []byte
	goal    float64 // least ratio of the rate with many messages to that with few
}{
	{"POST message accepted", func(s *server) []byte { return s.messageTo(s.sent.Add(1) * 7919) }, 0.8},
	{"GET message", (*server).get, 0.5},
	{"GET messages, 20 somewhere in the past", (*server).list, 0.9},
}

// growth measures sends and reads on servers with few and with many messages, interleaved.
// Each server has a database of its own; only one at a time has something to do: a round ends
// when all messages are sent.
func (b *bench) growth(o *installation) {
	messages := max(b.messages, fewMessages)
	grown := b.startSibling(o, messages, nil)
	for _, op := range operations {
		on := func(s *server) *series {
			l := load{address: s.Address, connections: 64, request: func() []byte { return op.request(s) }}
			return b.newSeries(l, s.awaitSent, s.serverProcess())
		}
		few, many := on(o.server), on(grown)
		few.name = fmt.Sprintf("the rate with %d", fewMessages)
		b.measureAll(few, many)
		b.table.addRatio("P11", fmt.Sprintf("%s, 64 connections, %d messages there", op.what, messages), many, few, op.goal)
	}
}
