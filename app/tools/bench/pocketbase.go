package main

import (
	"fmt"
	"os"
	"strings"

	"confab/app/tools/rig"
)

// pocketbase is PocketBase in a process of its own, with a collection like the table of messages.
type pocketbase struct {
	*rig.Process
	address string
	api     rig.Client
}

// The superuser by whom records are made.
const superuser, superuserPassword = "bench@example.com", "a horse that is hard to guess"

// startPocketBase starts PocketBase, signs in, and makes the collection unless the program has made it
// by itself.
func (b *bench) startPocketBase() *pocketbase {
	dir := rig.Must(os.MkdirTemp(b.dir, "pocketbase-*"))
	program := rig.Program{Path: b.pocketbasePath, Env: []string{"PB_SYNC=FULL", "PB_DIR=" + dir}}
	program.Run("superuser", "upsert", superuser, superuserPassword, "--dir", dir)

	p := &pocketbase{address: rig.Must(rig.FreeAddress())}
	p.api.Base = "http://" + p.address
	p.Process = program.Start(os.Stderr, "serve", "--http", p.address, "--dir", dir)
	p.WaitReady(p.api.Base + "/api/health")

	var session struct{ Token string }
	credentials := fmt.Sprintf(`{"identity":%q,"password":%q}`, superuser, superuserPassword)
	p.api.Call("POST", "/api/collections/_superusers/auth-with-password", credentials, &session)
	p.api.Key = session.Token
	if rig.Catch(func() { p.api.Call("GET", "/api/collections/messages", "", nil) }) == nil {
		return p
	}

	var fields []string
	for _, name := range strings.Fields("account_id conversation_id contact_id direction type status to_number body provider_id") {
		fields = append(fields, fmt.Sprintf(`{"name":%q,"type":"text","max":5000}`, name))
	}
	fields = append(fields, `{"name":"created","type":"autodate","onCreate":true}`,
		`{"name":"updated","type":"autodate","onCreate":true,"onUpdate":true}`)
	p.api.Call("POST", "/api/collections", `{"name":"messages","type":"base","fields":[`+strings.Join(fields, ",")+`],"indexes":[
		"CREATE INDEX m1 ON messages (account_id, created)","CREATE INDEX m2 ON messages (conversation_id, created)"]}`, nil)
	return p
}

func (p *pocketbase) record() []byte {
	body := `{"account_id":"1","conversation_id":"cnv_01ABCDEFGHJKMNPQRSTVWXYZ01","contact_id":"ctc_01ABCDEFGHJKMNPQRSTVWXYZ01",` +
		`"direction":"1","type":"text","status":"queued","to_number":"+15550000001","body":"` + rig.TimestampedText() + `"}`
	return formatRequest(p.address, "POST", "/api/collections/messages/records", body, "Authorization: Bearer "+p.api.Key)
}
