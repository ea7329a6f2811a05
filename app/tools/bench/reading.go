package main

import (
	"context"
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
	// readConnections is how many clients read at the same time.
	readConnections = 64
	// listReaders is how many clients read lists while others send.
	listReaders = 8
	// senders is how many connections send meanwhile.
	senders = 16
)

// reading compares GET message with the most that HTTP allows, and measures what lists
// cost and how much their reading delays sends.
func (b *bench) reading(ctx context.Context, o *installation) {
	b.measureGet(ctx, o.server)
	b.measureLists(ctx, o.server)
	b.measureSendsWhileListing(ctx, o.server)
}

func (s *server) get() []byte {
	return s.request("GET", s.messages()+"/"+s.past.id(s.read.Add(1)), "", "")
}

// list returns a request for a page of messages, somewhere in the history.
func (s *server) list() []byte {
	before := url.QueryEscape(s.past.at(s.read.Add(1)).UTC().Format(time.RFC3339))
	return s.request("GET", s.messages()+"?limit=20&created_before="+before, "", "")
}

// measureGet measures GET message interleaved with the ceiling, which has no database.
func (b *bench) measureGet(ctx context.Context, s *server) {
	ceiling := b.self.StartService("ceiling", s.api.Key)
	defer ceiling.Kill()

	ours := b.newSeries(load{address: s.Address, connections: readConnections, request: s.get}, nil, s.serverProcess(), loadGenerator)
	most := b.newSeries(load{address: ceiling.URL[len("http://"):], connections: readConnections, request: s.get}, nil,
		process{"server", ceiling.CPUTime}, loadGenerator)
	most.name = "that"
	b.measureAll(ctx, ours, most)

	b.table.addRate(most, row{what: "machine: router, key check and JSON of a message alone, " + connectionsText(readConnections)})
	b.table.addRatio(ours, most, 0.5, row{id: "P14", what: "GET message, " + connectionsText(readConnections)})
}

// measureLists measures what else clients read most. The figures only inform: what a
// page costs is to be compared with what it cost before.
func (b *bench) measureLists(ctx context.Context, s *server) {
	reads := []struct {
		what, path, header string
		status             int
	}{
		{"GET message that has not changed (304)", "/messages/" + s.past.id(1), "If-None-Match: *", http.StatusNotModified},
		{"GET 25 messages", "/messages?limit=25", "", http.StatusOK},
		{"GET 25 conversations", "/conversations?limit=25", "", http.StatusOK},
		{"GET 25 contacts", "/contacts?limit=25", "", http.StatusOK},
	}

	var all []*series
	for _, r := range reads {
		request := func() []byte { return s.request("GET", "/"+s.number+r.path, "", r.header) }
		l := load{address: s.Address, connections: readConnections, request: request, status: r.status}
		all = append(all, b.newSeries(l, nil, s.serverProcess(), loadGenerator))
	}
	b.measureAll(ctx, all...)
	for i, r := range reads {
		b.table.addRate(all[i], row{what: r.what + ", " + connectionsText(readConnections)})
	}
}

// measureSendsWhileListing measures how long sends take, alone and while lists are read.
func (b *bench) measureSendsWhileListing(ctx context.Context, s *server) {
	sends := load{address: s.Address, connections: senders, length: b.length, request: s.message}
	lists := load{address: s.Address, connections: listReaders, length: b.length, request: s.list}
	var read []float64

	p99 := func() float64 {
		r := sends.run(ctx)
		s.awaitSent(ctx)
		return ms(rig.Percentile(r.waits, 99))
	}
	disturbed := func() float64 {
		awaitLists := rig.Go(func() { read = append(read, lists.run(ctx).perSecond) })
		defer awaitLists()
		return p99()
	}

	medians := b.interleave(ctx, p99, disturbed)
	b.table.addSlowdown(medians[1], medians[0], 3, row{
		id:     "P12",
		what:   fmt.Sprintf("p99 of a send, %d connections, while %d clients read lists", senders, listReaders),
		detail: fmt.Sprintf("; %s lists of 20", perSecond(median(read))),
	})
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

func sampleMessage(id string) message {
	from, to, wamid, now := "+15550000000", "+15551000000", "wamid.bench", time.Now()
	return message{
		ID: id, Object: "message", Direction: "outbound", Type: "text", Status: "sent", Source: "api", ContactID: id, ConversationID: id,
		From: &from, To: &to, MessageID: &wamid,
		CreatedAt: now, UpdatedAt: now,
		Text: map[string]string{"body": "a message of the past"},
	}
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

		body, _ := json.Marshal(struct { // which cannot fail
			Data      message
			RequestID string
		}{sampleMessage(p.ByName("id")), "req_bench"})
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	})

	rig.Check(http.ListenAndServe(address, router))
}
