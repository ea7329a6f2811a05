package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"

	"confab/app/tools/rig"
	"confab/storage"
)

const (
	// storedMessages is how many messages there are to read.
	storedMessages = 20_000
	// listReaders is how many clients read lists while others send.
	listReaders = 8
	// senders is how many connections send meanwhile.
	senders = 16
)

// reading compares GET message with the most that HTTP allows, and measures what lists
// cost and how much their reading delays sends.
func (b *bench) reading(o *installation) {
	b.measureReads(o.server)
	b.measureSendsWhileListing(o.server)
}

func (s *server) get() []byte {
	return s.request("GET", "/v1"+s.messages()+"/"+s.past.id(s.read.Add(1)), "")
}

// list returns a request for a page of messages, somewhere in the history.
func (s *server) list() []byte {
	before := url.QueryEscape(s.past.at(s.read.Add(1)).UTC().Format(time.RFC3339))
	return s.request("GET", "/v1"+s.messages()+"?limit=20&created_before="+before, "")
}

// measureReads measures GET message interleaved with the ceiling, which has no database, and with a list.
func (b *bench) measureReads(s *server) {
	ceiling := b.self.StartService("ceiling", s.api.Key)
	on := func(address string, used func() time.Duration, request func() []byte) *series {
		return b.newSeries(load{address: address, connections: 64, request: request}, nil,
			process{name: "server", used: used}, ownProcess(loadGenerator))
	}
	most, one := on(ceiling.URL[len("http://"):], ceiling.CPUTime, s.get), on(s.Address, s.CPUTime, s.get)
	page := on(s.Address, s.CPUTime, func() []byte { return s.request("GET", "/v1"+s.messages()+"?limit=25", "") })
	most.name = "router, key check and JSON alone"
	b.measureAll(most, one, page)

	b.table.addRatio("P14", "GET message, 64 connections", one, most, 0.5)
	b.table.addRate("", "GET 25 messages, 64 connections", page)
}

func (b *bench) measureSendsWhileListing(s *server) {
	sends := load{address: s.Address, connections: senders, length: b.length, request: s.message}
	lists := load{address: s.Address, connections: listReaders, length: b.length, request: s.list}
	p99 := func() float64 {
		r := sends.run()
		s.awaitSent()
		return ms(rig.Percentile(r.waits, 99))
	}
	disturbed := func() float64 {
		awaitLists := rig.Go(func() { lists.run() })
		defer awaitLists()
		return p99()
	}

	medians := b.interleave(p99, disturbed)
	b.table.addSlowdown("P12", fmt.Sprintf("p99 of a send, %d connections, while %d clients read lists", senders, listReaders),
		medians[1], medians[0], 3)
}

// message has the shape of a message in the API's answer: as many fields, of the same types.
type message struct {
	ID, Object, Direction, Type, Status, Source, ContactID, ConversationID string
	From, To, BSUID, ParentBSUID, Username, MessageID                      *string
	Context                                                                json.RawMessage
	IsRevoked                                                              bool
	EditedAt                                                               *time.Time
	CreatedAt, UpdatedAt                                                   time.Time
	Text                                                                   map[string]string
}

// ceiling serves GET message without a database: a router, the check of a key, and the
// JSON of a message. Its rate is the most that HTTP allows on this machine. The arguments
// are an address to listen on and the API key.
func ceiling(args []string) {
	address, key := args[0], args[1]
	keys := map[[32]byte]bool{storage.KeyHash(key): true}

	router := httprouter.New()
	router.GET("/", func(http.ResponseWriter, *http.Request, httprouter.Params) {})

	router.GET("/v1/:number/messages/:id", func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !keys[storage.KeyHash(token)] {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}

		id, now := p.ByName("id"), time.Now()
		body, _ := json.Marshal(map[string]any{"data": message{ // which cannot fail
			ID: id, Object: "message", Direction: "outbound", Type: "text", Status: "sent", Source: "api",
			ContactID: id, ConversationID: id, From: &id, To: &id, MessageID: &id,
			CreatedAt: now, UpdatedAt: now, Text: map[string]string{"body": "a message of the past"},
		}})
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	})

	rig.Check(http.ListenAndServe(address, router))
}
