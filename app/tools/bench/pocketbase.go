package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"

	"confab/app/tools/rig"
)

// peer is PocketBase in a process of its own, with a collection like the table of messages.
type peer struct {
	*rig.Process
	address string
	token   string
}

// pocketbase compares POST message with the creation of one record in PocketBase, once
// while each message is sent, and once while sends wait for their turn.
func (b *bench) pocketbase(ctx context.Context) error {
	if b.peer.Path == "" {
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

	servers, err := b.openPair(ctx, func(s *server) error {
		s.Env = append(s.Env, "CONFAB_PROVIDER__MESSAGES_PER_SECOND=1")
		return nil
	})
	if err != nil {
		return err
	}
	defer servers.close()

	for _, step := range []struct {
		connections     int
		accepted, whole float64 // goals
	}{{64, 5, 3}, {16, 4, 2.5}, {1, 2.5, 2}} {
		if err := b.compareWithPeer(ctx, servers, p, step.connections, step.accepted, step.whole); err != nil {
			return err
		}
	}
	return nil
}

// compareWithPeer measures with so many connections.
func (b *bench) compareWithPeer(ctx context.Context, servers *serverPair, p *peer, connections int, accepted, whole float64) error {
	var n atomic.Int64
	measure := func(address string, used process, request func() []byte, await func() error) (func() (float64, error), *meter) {
		cost := newMeter(used)
		return func() (float64, error) {
			if err := cost.begin(); err != nil {
				return 0, err
			}
			l, err := runLoad(ctx, address, connections, b.length, http.StatusOK, request)
			if err == nil {
				err = await()
			}
			return l.perSecond, errors.Join(err, cost.end(len(l.waits)))
		}, cost
	}

	sending, waiting := servers.plain, servers.changed
	nothing := func() error { return nil }
	theirs, theirCost := measure(p.address, process{"PocketBase", p.CPUTime}, p.record, nothing)
	sent, sentCost := measure(sending.Address, process{"server", sending.CPUTime},
		func() []byte { return sending.message(n.Add(1)) }, func() error { return awaitSent(ctx, sending.db) })
	held, heldCost := measure(waiting.Address, process{"server", waiting.CPUTime},
		func() []byte { return waiting.message(n.Add(1)) }, nothing)

	medians, err := b.interleave(ctx, theirs, held, sent)
	if err != nil {
		return err
	}
	for i, r := range []struct {
		what string
		cost *meter
		goal float64
	}{{"while sends wait for their turn", heldCost, accepted}, {"while each is sent", sentCost, whole}} {
		ratio := medians[i+1] / medians[0]
		b.table.add(row{
			id:        "P1",
			what:      fmt.Sprintf("POST message accepted, %s, %s", connectionsText(connections), r.what),
			callbacks: callbacksOff,
			figure:    perSecond(medians[i+1]),
			detail:    fmt.Sprintf("%.1f× a record of PocketBase (%s); %s; %s", ratio, perSecond(medians[0]), r.cost, theirCost),
			goal:      atLeast(ratio, r.goal),
		})
	}
	return nil
}

// The superuser by whom records are made.
const peerEmail, peerPassword = "bench@example.com", "a horse that nobody guesses"

// startPeer starts PocketBase and makes the collection.
func (b *bench) startPeer() (*peer, error) {
	dir, err := os.MkdirTemp(b.dir, "peer-*")
	if err != nil {
		return nil, err
	}
	program := rig.Program{Path: b.peer.Path, Env: []string{"PB_SYNC=FULL", "PB_DIR=" + dir}}
	if _, err := program.Run("superuser", "upsert", peerEmail, peerPassword, "--dir", dir); err != nil {
		return nil, err
	}

	p := &peer{}
	if p.address, err = rig.FreeAddress(); err != nil {
		return nil, err
	}
	cmd := exec.Command(program.Path, "serve", "--http", p.address, "--dir", dir)
	cmd.Env = append(os.Environ(), program.Env...)
	if p.Process, err = rig.Start(cmd); err != nil {
		return nil, err
	}
	if err = p.WaitReady("http://" + p.address + "/api/health"); err == nil {
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
	if err := p.call("POST", "/api/collections/_superusers/auth-with-password", credentials, &session); err != nil {
		return err
	}
	p.token = session.Token
	if p.call("GET", "/api/collections/messages", "", nil) == nil {
		return nil
	}

	var fields []string
	for _, name := range strings.Fields("account_id conversation_id contact_id direction type status to_number body provider_id") {
		fields = append(fields, fmt.Sprintf(`{"name":%q,"type":"text","max":5000}`, name))
	}
	fields = append(fields, `{"name":"created","type":"autodate","onCreate":true}`,
		`{"name":"updated","type":"autodate","onCreate":true,"onUpdate":true}`)
	return p.call("POST", "/api/collections", `{"name":"messages","type":"base","fields":[`+strings.Join(fields, ",")+`],"indexes":[
		"CREATE INDEX m1 ON messages (account_id, created)","CREATE INDEX m2 ON messages (conversation_id, created)"]}`, nil)
}

// record returns a request that creates one record.
func (p *peer) record() []byte {
	body := `{"account_id":"1","conversation_id":"cnv_01ABCDEFGHJKMNPQRSTVWXYZ01","contact_id":"ctc_01ABCDEFGHJKMNPQRSTVWXYZ01",` +
		`"direction":"1","type":"text","status":"queued","to_number":"+15550000001","body":"` + rig.TimestampedText() + `"}`
	return fmt.Appendf(nil, "POST /api/collections/messages/records HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", p.address, p.token, len(body), body)
}

// call makes one request, which must succeed, and reads its answer unless into is nil.
func (p *peer) call(method, path, body string, into any) error {
	req, err := http.NewRequest(method, "http://"+p.address+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", p.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()

	var text bytes.Buffer
	if _, err := text.ReadFrom(res.Body); err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("PocketBase: %s %s: %s %.300s", method, path, res.Status, text.Bytes())
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text.Bytes(), into)
}
