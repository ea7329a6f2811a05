package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
)

// shownCalls lists the paths of the calls that the console shows for a query.
func (f *fixture) shownCalls(who rest.Visitor, query string) (all []string) {
	f.t.Helper()
	got := f.visit(who, "GET", "/log"+query, "")
	if got.status != 200 {
		f.t.Fatal(got.body)
	}
	for _, one := range got.get("data").([]any) {
		call := one.(map[string]any)
		all = append(all, call["method"].(string)+" "+call["path"].(string))
	}
	return all
}

func TestTheConsoleShowsTheCallsOfItsOrganization(t *testing.T) {
	is := is.New(t)
	f, _, theirs := serveEverything(t)
	is.NoErr(f.api.Flush(t.Context()))
	f.exec(`DELETE FROM api_log`)
	who := f.signedIn(f.tenant, storage.RoleAdmin)
	f.call("GET", "/labels", "")
	refused := f.call("POST", "/labels", `{"name":""}`)
	made := f.visit(who, "POST", "/v1/labels", `{"name":"From the console"}`)
	f.callAs(theirs.Secret, "GET", "/labels", "")
	f.callAs("svc_live_none", "GET", "/labels", "")

	own := []string{"POST /console/api/v1/labels", "POST /v1/labels", "GET /v1/labels"}
	is.Equal(f.shownCalls(who, ""), own) // newest first, and at once
	for query, want := range map[string][]string{
		"?method=get":                             {own[2]},
		"?status=4xx":                             {own[1]},
		"?status=400&method=POST":                 {own[1]},
		"?path=%2Fconsole":                        {own[0]},
		"?error_code=invalid_field_value":         {own[1]},
		"?api_key_id=" + f.tenant.Key.ID:          {own[1], own[2]},
		"?user_id=" + who.User.ID:                 {own[0]},
		"?created_after=2099-01-01T00:00:00Z":     nil,
		"?created_before=2099-01-01T00:00:00Z":    own,
		"?created_after=2020-01-01T00:00:00Z":     own,
		"?api_key_id=" + theirs.Key.ID:            nil, // not theirs, for any caller
		"?status=5xx":                             nil,
		"?error_code=invalid_field_value&limit=1": {own[1]},
	} {
		is.Equal(f.shownCalls(who, query), want) // query
	}

	// One call, with who made it and what it made.
	one := f.visit(who, "GET", "/log/"+made.text("request_id"), "")
	is.Equal(one.get("data.user.name"), who.User.Name)
	is.Equal(one.get("data.made_id"), made.text("data.id"))
	one = f.visit(who, "GET", "/log/"+refused.header.Get("X-Request-Id"), "")
	is.Equal(one.get("data.error_code"), "invalid_field_value")
	is.Equal(one.get("data.api_key.id"), f.tenant.Key.ID)
	for _, gone := range []string{f.db.NewID(storage.PrefixRequest), "req_1", "x", strings.ToLower(made.text("request_id"))} {
		is.Equal(f.visit(who, "GET", "/log/"+gone, "").code(), "404 resource_not_found")
	}
}

func TestFiltersOfTheLogAreChecked(t *testing.T) {
	f := serve(t)
	who := f.signedIn(f.tenant, storage.RoleAdmin)
	for query, param := range map[string]string{
		"/log?status=6xx": "status", "/log?status=": "status", "/log?status=99": "status", "/log?method=": "method",
		"/log?method=" + strings.Repeat("X", 17): "method", "/log?path=" + strings.Repeat("x", 513): "path", "/log?api_key_id=x": "api_key_id",
		"/log?user_id=x": "user_id", "/log?error_code=" + strings.Repeat("x", 65): "error_code", "/log?created_after=yesterday": "created_after",
		"/log?created_before=1": "created_before", "/log?limit=0": "limit", "/log?cursor=x": "cursor",
		"/audit?created_after=x": "created_after", "/audit?action=": "action", "/audit?target_id=" + strings.Repeat("x", 513): "target_id",
	} {
		got := f.visit(who, "GET", query, "")
		if got.status != 400 || got.get("error.param") != param {
			t.Errorf("%s: %s", query, got.body)
		}
	}
}

func TestAuditEntriesAreFiltered(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	who := f.signedIn(f.tenant, storage.RoleAdmin)
	key := f.visit(who, "POST", "/keys", `{"label":"shop"}`)
	is.Equal(f.visit(who, "DELETE", "/keys/"+key.text("data.id"), "").status, 200)
	f.visit(who, "PATCH", "/profile", `{"name":"Ada"}`)
	for query, want := range map[string]int{
		"": 3, "?action=key.": 2, "?action=key.created": 1, "?target_id=" + key.text("data.id"): 2, "?actor_id=" + who.User.ID: 3, "?actor_id=nobody": 0,
		"?created_after=2099-01-01T00:00:00Z": 0, "?created_before=2099-01-01T00:00:00Z&action=user.": 1, "?action=%25": 0,
	} {
		got := f.visit(who, "GET", "/audit"+query, "")
		if n := len(got.get("data").([]any)); n != want {
			t.Errorf("%s: %d of %d: %s", query, n, want, got.body)
		}
	}
}

func TestATraceIsForItsOwnersAdmins(t *testing.T) {
	is := is.New(t)
	f, ours, theirs := serveEverything(t)
	admin, agent := f.signedIn(f.tenant, storage.RoleAdmin), f.signedIn(f.tenant, storage.RoleAgent)
	is.Equal(f.visit(admin, "GET", "/trace/"+ours.has["messages"], "").get("data.id"), ours.has["messages"])
	is.Equal(f.visit(agent, "GET", "/trace/"+ours.has["messages"], "").code(), "403 permission_denied")
	for _, id := range []string{
		theirs.has["messages"], theirs.has["events"], f.emit(f.tenant, "contact.created", ""), f.emit(f.tenant, "contact.created", ours.number),
		f.db.NewID(storage.PrefixMessage), f.db.NewID(storage.PrefixEvent), "msg_1", "x", ours.has["contacts"],
	} {
		is.Equal(f.visit(admin, "GET", "/trace/"+id, "").code(), "404 resource_not_found")
	}
}
