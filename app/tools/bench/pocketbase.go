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
func (b *bench) pocketbase(ctx context.Context, o *installation) {
	if b.pocketbasePath == "" {
		b.table.add(row{
			id:     "P1",
			what:   "POST message accepted, beside PocketBase",
			figure: "not measured",
			detail: "give its binary by -pocketbase",
		})
		return
	}

	p := b.startPeer()
	defer p.Kill()
	slow := b.startSibling(ctx, o, fewMessages, func(s *server) { s.Env = append(s.Env, "CONFAB_PROVIDER__MESSAGES_PER_SECOND=1") })
	defer slow.close()

	for _, step := range []struct {
		connections     int
		accepted, whole float64 // goals
	}{{64, 5, 3}, {16, 4, 2.5}, {1, 2.5, 2}} {
		record := b.newSeries(load{address: p.address, connections: step.connections, request: p.record}, nil,
			process{"PocketBase", p.CPUTime})
		record.name = "records of PocketBase"
		held := b.newSeries(load{address: slow.Address, connections: step.connections, request: slow.message}, nil, slow.serverProcess())
		sent := b.newSends(o.server, step.connections, o.serverProcess())
		b.measureAll(ctx, record, held, sent)

		r := row{id: "P1"}
		what := "POST message accepted, " + connectionsText(step.connections)
		r.what = what + ", while sends wait for their turn"
		b.table.addRatio(held, record, step.accepted, r)
		r.what = what + ", while each is sent"
		b.table.addRatio(sent, record, step.whole, r)
	}
}

// The superuser by whom records are made.
const peerEmail, peerPassword = "bench@example.com", "a horse that is hard to guess"

// startPeer starts PocketBase and makes the collection.
func (b *bench) startPeer() *peer {
	dir := rig.Must(os.MkdirTemp(b.dir, "peer-*"))
	program := rig.Program{Path: b.pocketbasePath, Env: []string{"PB_SYNC=FULL", "PB_DIR=" + dir}}
	program.Run("superuser", "upsert", peerEmail, peerPassword, "--dir", dir)

	p := &peer{address: rig.Must(rig.FreeAddress())}
	p.api.Base = "http://" + p.address
	p.Process = program.Start(os.Stderr, nil, "serve", "--http", p.address, "--dir", dir)
	defer rig.OnFailure(p.Kill)
	p.WaitReady(p.api.Base + "/api/health")
	p.prepare()
	return p
}

// prepare signs in and makes the collection, unless the program has made it by itself.
func (p *peer) prepare() {
	var session struct{ Token string }
	credentials := fmt.Sprintf(`{"identity":%q,"password":%q}`, peerEmail, peerPassword)
	p.api.Call("POST", "/api/collections/_superusers/auth-with-password", credentials, &session)
	p.api.Key = session.Token
	if rig.Catch(func() { p.api.Call("GET", "/api/collections/messages", "", nil) }) == nil {
		return
	}

	var fields []string
	for _, name := range strings.Fields("account_id conversation_id contact_id direction type status to_number body provider_id") {
		fields = append(fields, fmt.Sprintf(`{"name":%q,"type":"text","max":5000}`, name))
	}
	fields = append(fields, `{"name":"created","type":"autodate","onCreate":true}`,
		`{"name":"updated","type":"autodate","onCreate":true,"onUpdate":true}`)
	p.api.Call("POST", "/api/collections", `{"name":"messages","type":"base","fields":[`+strings.Join(fields, ",")+`],"indexes":[
		"CREATE INDEX m1 ON messages (account_id, created)","CREATE INDEX m2 ON messages (conversation_id, created)"]}`, nil)
}

func (p *peer) record() []byte {
	body := `{"account_id":"1","conversation_id":"cnv_01ABCDEFGHJKMNPQRSTVWXYZ01","contact_id":"ctc_01ABCDEFGHJKMNPQRSTVWXYZ01",` +
		`"direction":"1","type":"text","status":"queued","to_number":"+15550000001","body":"` + rig.TimestampedText() + `"}`
	return formatRequest(p.address, "POST", "/api/collections/messages/records", body,
		"Authorization: Bearer "+p.api.Key, "Content-Type: application/json")
}
