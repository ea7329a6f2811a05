package api

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"confab/app/api/rest"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

// owner is an organization that has one of everything, so that tests can walk
// the whole route table with it.
type owner struct {
	storagetest.Tenant
	number string
	user   string
	has    map[string]string // ids, by the path segment in front of them
}

// serveEverything starts an API and two organizations that each have one of
// everything.
func serveEverything(t testing.TB) (f *fixture, ours, theirs owner) {
	t.Helper()
	dir := t.TempDir()
	u := serveUpstream(t, simulator.Number{}, withNames(t), func(o *testOptions) {
		o.Files, o.Publisher.PublicURL = storagetest.Files(t, dir), "https://confab.test"
	})
	u.files = dir
	ours = u.possess(u.tenant, u.account)
	other := storagetest.Seed(t, u.db, "Other")
	theirs = u.possess(other, u.connect(other, "206540352242922"))
	return u.fixture, ours, theirs
}

// possess gives a tenant with a number one of everything.
func (f *fixture) possess(tenant storagetest.Tenant, a storage.Account) owner {
	f.t.Helper()
	o := owner{Tenant: tenant, number: *a.PhoneNumberID, user: f.user(tenant, "Ada").ID}
	must := func(method, path, body string) answer {
		f.t.Helper()
		got := f.callAs(tenant.Secret, method, path, body)
		if got.status >= 300 {
			f.t.Fatalf("%s %s: %s", method, path, got.body)
		}
		return got
	}
	person := f.contact(a, "+15559990000")
	said := f.say(person, received("wamid."+o.number), written("image", "sent"))
	f.exec(`UPDATE messages SET content = '{"link":"https://shop.test/a.png"}' WHERE id = ?`, said[1].ID)
	media := storage.Media{AccountID: a.ID, Origin: storage.OriginLibrary, SHA256: strings.Repeat("0", 64), MIMEType: "image/png", Size: 1}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.InsertMedia(&media) })
	label := f.labelOf(tenant, a.TeamID, "Belongs")
	hook := must("POST", hooks, `{"url":"https://93.184.216.34/hook","events":["*"]}`) // a name would be looked up outside of a bubble
	must("POST", hooks+"/"+hook.text("data.id")+"/secrets", "{}")
	secrets := must("GET", hooks+"/"+hook.text("data.id"), "").get("data.secrets").([]any)
	customer, link, platform := f.db.NewID("cus_"), f.db.NewID("csl_"), o.number+"7"
	f.exec(`INSERT INTO customers (id, organization_id, team_id, name, created_at, updated_at) VALUES (?, ?, ?, 'Bakery', 1, 1)`, customer, a.OrganizationID, a.TeamID)
	f.exec(`INSERT INTO setup_links (id, customer_id, token_hash, token_last4, expires_at, created_at) VALUES (?, ?, CAST(? AS BLOB), 'abcd', 1 << 42, 1)`, link, customer, link)
	f.exec(`UPDATE accounts SET customer_id = ? WHERE id = ?`, customer, f.connect(tenant, platform).ID)
	f.template(a, storage.Template{Name: "own_" + o.number, Category: "UTILITY", Components: storage.JSON(`[{"type":"BODY","text":"Hi"}]`)})
	f.template(a, storage.Template{Name: "spring_sale", Language: "en_US", Category: "MARKETING", Components: storage.JSON(`[{"type":"BODY","text":"Hi {{1}}, spring is here."}]`)})
	running := must("POST", "/"+o.number+"/broadcasts", `{"name":"Sale","template":{"name":"spring_sale","language":"en_US","components":[
		{"type":"body","parameters":[{"type":"text","text":"{{name}}"}]}]},"audience":{"contact_ids":["`+person.ID+`"]}}`)
	o.has = map[string]string{
		"broadcasts": running.text("data.id"),
		"customers":  customer, "setup_links": link, "whatsapp_accounts": platform, "templates": "own_" + o.number,
		"": o.number, "labels": label, "contacts": person.ID, "conversations": said[0].ConversationID, "messages": said[1].ID, "media": media.ID,
		"webhook_subscriptions": hook.text("data.id"), "secrets": secrets[0].(map[string]any)["id"].(string),
		"webhook_deliveries": must("POST", hooks+"/"+hook.text("data.id")+"/test", "").text("data.id"),
	}
	o.has["views"] = must("POST", "/views", `{"name":"Own","filter":{"label_id":"`+label+`"}}`).text("data.id")
	o.has["rules"] = must("POST", "/rules", `{"name":"Own","on":"message_received","then":[{"add_label":"`+label+`"}]}`).text("data.id")
	o.has["notes"] = must("POST", "/"+o.number+"/conversations/"+said[0].ConversationID+"/notes", `{"text":"Own"}`).text("data.id")
	o.has["quick_replies"] = must("POST", "/quick_replies", `{"shortcut":"own","text":"Hello {{name}}"}`).text("data.id")
	imported := storage.ContactImport{ID: f.db.NewID(storage.PrefixImport), AccountID: a.ID, Line: 1}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.InsertContactImport(&imported) })
	o.has["contact_imports"] = imported.ID
	o.has["events"] = must("GET", "/events?limit=1", "").get("data").([]any)[0].(map[string]any)["id"].(string)
	must("POST", "/"+o.number+"/contacts/"+person.ID+"/labels", attach(label))
	must("POST", "/"+o.number+"/conversations/"+said[0].ConversationID+"/labels", attach(label))
	return o
}

// places are where ids are in a route's path, as the segments in front of them.
func places(rt *rest.Route) (before []string) {
	parts := strings.Split(rt.Path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, ":") {
			before = append(before, parts[i-1])
		}
	}
	return before
}

// path fills an owner's ids into a route's path, but for those that are given by
// the segment in front of them.
func (o owner) path(t testing.TB, rt rest.Route, other map[string]string) string {
	t.Helper()
	parts := strings.Split(rt.Path, "/")
	before := slices.Clone(parts)
	for i, part := range parts {
		if !strings.HasPrefix(part, ":") {
			continue
		}
		id, ok := other[before[i-1]]
		if !ok {
			id, ok = o.has[before[i-1]]
		}
		if !ok {
			t.Fatalf("%s: possess must make something for %s/%s", rt.Path, before[i-1], part)
		}
		parts[i] = id
	}
	if rt.Path == "/events/stream" {
		return rt.Path + "?wait=0" // others have an end of their own
	}
	return strings.Join(parts, "/")
}

// exampleIDs are the ids that the description's examples use, and exampleSince is a time in
// them that must not be long past.
const exampleSince = "2026-01-01T00:00:00Z"

var exampleIDs = regexp.MustCompile(`"([a-z]+_)?01JQ0Z8M4T9V2X3W5Y6A7B8C9D"|"106540352242922"|"` + exampleSince + `"`)

// bodies are the examples of a route's body, with the owner's ids in them.
func (o owner) bodies(rt rest.Route) (all []string) {
	operation := describedOperation(rt)
	if operation.RequestBody == nil {
		return nil
	}
	body := operation.RequestBody.Value.Content["application/json"]
	if body == nil {
		return nil // it takes only a file
	}
	examples := body.Examples
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		all = append(all, exampleIDs.ReplaceAllStringFunc(toJSON(examples[name].Value.Value), func(id string) string { return `"` + o.own(strings.Trim(id, `"`)) + `"` }))
	}
	return all
}

// own is the owner's id in the place of an example's.
func (o owner) own(example string) string {
	prefix, _, found := strings.Cut(example, "_")
	switch {
	case example == "106540352242922":
		return o.number
	case example == exampleSince:
		return time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	case !found:
		return o.user
	case prefix+"_" == storage.PrefixTeam:
		return o.Team.PublicID
	}
	for _, id := range o.has {
		if strings.HasPrefix(id, prefix+"_") {
			return id
		}
	}
	return example
}

// describedOperation is a route as openapi.json has it.
func describedOperation(rt rest.Route) *openapi3.Operation {
	return described().doc.Paths.Find(braces(rt.Path)).GetOperation(rt.Method)
}

// everyRoute runs a test for each route that is not public.
func (f *fixture) everyRoute(t *testing.T, test func(t *testing.T, f *fixture, rt rest.Route)) {
	for _, rt := range f.api.Routes() {
		if !rt.Has(rest.Public) {
			t.Run(rt.Method+" "+rt.Path, func(t *testing.T) { test(t, f.in(t), rt) })
		}
	}
}

// shows is all that an owner sees: every list and every resource of its own.
func (o owner) shows(t testing.TB, f *fixture) map[string]any {
	all := make(map[string]any)
	for _, rt := range f.api.Routes() {
		if rt.Method == "GET" && !rt.Has(rest.Public) && !strings.HasSuffix(rt.Path, "/stats") { // which have the time
			path := o.path(t, rt, nil)
			all[path] = f.callAs(o.Secret, "GET", path, "").get("data")
		}
	}
	return all
}

// contents are those of every table but those that each request writes to.
func (f *fixture) contents() map[string]string {
	f.t.Helper()
	db := storagetest.Beside(f.dir)
	defer db.Close()
	read := func(query string, args ...any) (rows []string) {
		if err := db.Select(&rows, query, args...); err != nil {
			f.t.Fatalf("%s: %v", query, err)
		}
		return rows
	}
	all := make(map[string]string)
	for _, table := range read(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('api_log', 'api_keys', 'sqlite_sequence')`) {
		columns := read(`SELECT name FROM pragma_table_info(?)`, table)
		for i, c := range columns {
			columns[i] = `quote("` + c + `")`
		}
		rows := read(`SELECT ` + strings.Join(columns, " || ' ' || ") + ` FROM "` + table + `"`)
		slices.Sort(rows)
		all[table] = strings.Join(rows, "\n")
	}
	return all
}
