package api

import (
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
)

func TestACallShowsItsBodies(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	who := f.signedIn(f.tenant, storage.RoleAdmin)
	show := func(id string) answer { return f.visit(who, "GET", "/log/"+id, "") }

	off := f.call("POST", "/labels", `{"name":"A"}`)
	got := show(off.text("request_id"))
	is.Equal(got.get("data.bodies"), "off")
	is.Equal(got.get("data.request_body"), nil)

	f.api.LogBodies = rest.BodiesAll
	made := f.call("POST", "/labels", `{"name":"B"}`)
	got = show(made.text("request_id"))
	is.Equal(got.get("data.bodies"), "all")
	is.Equal(got.get("data.request_body"), map[string]any{"text": `{"name":"B"}`, "bytes": 12.0, "is_cut": false})
	is.Equal(got.get("data.response_body.text"), made.body)

	// They are kept for a day, and the line for longer.
	f.exec(`UPDATE api_log_bodies SET created_at = created_at - ?`, storage.KeptBodies.Milliseconds())
	got = show(made.text("request_id"))
	is.Equal(got.get("data.made_id"), made.text("data.id"))
	is.Equal(got.get("data.request_body"), nil)
}

func TestTheCallsOfTheConsoleCanBeLeftOut(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	who := f.signedIn(f.tenant, storage.RoleAdmin)
	f.call("GET", "/labels", "")
	f.visit(who, "POST", "/v1/labels", `{"name":"From the console"}`)

	is.Equal(f.shownCalls(who, "?console=false"), []string{"GET /v1/labels"})
	is.Equal(len(f.shownCalls(who, "?console=true")), 2)
	is.Equal(f.visit(who, "GET", "/log?console=x", "").code(), "400 invalid_field_value console")
}

func TestJobsAndAuditNameWhatTheyAreAbout(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.connect(f.tenant, number)
	who := f.signedIn(f.tenant, storage.RoleAdmin)
	key := f.visit(who, "POST", "/keys", `{"label":"shop"}`)
	sent := f.call("POST", "/"+number+"/messages", `{"messaging_product":"chat","to":"+15550001111","type":"text","text":{"body":"hi"}}`)

	job := f.visit(who, "GET", "/jobs?kind=send", "").get("data").([]any)[0].(map[string]any)
	is.Equal(job["about"], map[string]any{"type": "message", "id": sent.text("data.id"), "name": "+15550001111"})
	entry := f.visit(who, "GET", "/audit?action=key.", "").get("data").([]any)[0].(map[string]any)
	is.Equal(entry["target"], map[string]any{"type": "key", "id": key.text("data.id"), "name": "shop"})
}
