package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"confab/app/tools/rig"
)

// peer is PocketBase in a process of its own, with a collection like the table of messages.
type peer struct {
	*rig.Process
	address string
	api     rig.Client
}

// pocketbase compares POST message with the creation of one record in PocketBase, once
// while each message is sent, and once while sends are held back.
func (b *bench) pocketbase(ctx context.Context, o *installation) error {
	if b.pocketbasePath == "" {
		b.table.add(row{
			id:     "P1",
			what:   "POST message accepted, beside PocketBase",
			figure: "not measured",
			detail: "give its binary by -pocketbase",
		})
		return nil
	}

	p, err := b.startPeer()
	if err != nil {
		return err
	}
	defer p.Kill()
	slow, err := b.startSibling(ctx, o, fewMessages, func(s *server) error {
		s.Env = append(s.Env, "CONFAB_PROVIDER__MESSAGES_PER_SECOND=1")
		return nil
	})
	if err != nil {
		return err
	}
	defer slow.close()

	for _, step := range []struct {
		connections     int
		accepted, whole float64 // goals
	}{{64, 5, 3}, {16, 4, 2.5}, {1, 2.5, 2}} {
		record := b.newSeries(load{address: p.address, connections: step.connections, request: p.record}, nil,
			process{"PocketBase", p.CPUTime})
		record.name = "records of PocketBase"
		held := b.newSeries(load{address: slow.Address, connections: step.connections, request: slow.message}, nil, slow.serverProcess())
		sent := b.newSeries(load{address: o.Address, connections: step.connections, request: o.message}, o.awaitSent, o.serverProcess())
		if err := b.measureAll(ctx, record, held, sent); err != nil {
			return err
		}

		r := row{id: "P1", callbacks: callbacksOff}
		what := "POST message accepted, " + connectionsText(step.connections)
		r.what = what + ", while sends wait for their turn"
		b.table.addRatio(held, record, step.accepted, r)
		r.what = what + ", while each is sent"
		b.table.addRatio(sent, record, step.whole, r)
	}
	return nil
}

// The superuser by whom records are made.
const peerEmail, peerPassword = "bench@example.com", "a horse that is hard to guess"

// startPeer starts PocketBase and makes the collection.
func (b *bench) startPeer() (*peer, error) {
	dir, err := os.MkdirTemp(b.dir, "peer-*")
	if err != nil {
		return nil, err
	}
	program := rig.Program{Path: b.pocketbasePath, Env: []string{"PB_SYNC=FULL", "PB_DIR=" + dir}}
	if _, err := program.Run("superuser", "upsert", peerEmail, peerPassword, "--dir", dir); err != nil {
		return nil, err
	}

	p := &peer{}
	if p.address, err = rig.FreeAddress(); err != nil {
		return nil, err
	}
	p.api.Base = "http://" + p.address
	if p.Process, err = program.Start(os.Stderr, nil, "serve", "--http", p.address, "--dir", dir); err != nil {
		return nil, err
	}
	if err = p.WaitReady(p.api.Base + "/api/health"); err == nil {
		err = p.prepare()
	}
	if err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// prepare signs in and makes the collection, unless the program has made it by itself.
func (p *peer) prepare() error {
	var session struct{ Token string }
	credentials := fmt.Sprintf(`{"identity":%q,"password":%q}`, peerEmail, peerPassword)
	if err := p.api.Call("POST", "/api/collections/_superusers/auth-with-password", credentials, &session); err != nil {
		return err
	}
	p.api.Key = session.Token
	if p.api.Call("GET", "/api/collections/messages", "", nil) == nil {
		return nil
	}

	var fields []string
	for _, name := range strings.Fields("account_id conversation_id contact_id direction type status to_number body provider_id") {
		fields = append(fields, fmt.Sprintf(`{"name":%q,"type":"text","max":5000}`, name))
	}
	fields = append(fields, `{"name":"created","type":"autodate","onCreate":true}`,
		`{"name":"updated","type":"autodate","onCreate":true,"onUpdate":true}`)
	return p.api.Call("POST", "/api/collections", `{"name":"messages","type":"base","fields":[`+strings.Join(fields, ",")+`],"indexes":[
		"CREATE INDEX m1 ON messages (account_id, created)","CREATE INDEX m2 ON messages (conversation_id, created)"]}`, nil)
}

// record returns a request that creates one record.
func (p *peer) record() []byte {
	body := `{"account_id":"1","conversation_id":"cnv_01ABCDEFGHJKMNPQRSTVWXYZ01","contact_id":"ctc_01ABCDEFGHJKMNPQRSTVWXYZ01",` +
		`"direction":"1","type":"text","status":"queued","to_number":"+15550000001","body":"` + rig.TimestampedText() + `"}`
	return formatRequest(p.address, "POST", "/api/collections/messages/records", body,
		"Authorization: Bearer "+p.api.Key, "Content-Type: application/json")
}
