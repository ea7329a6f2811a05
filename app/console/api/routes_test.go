package api

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
)

// agentsMay is what the contract lets agents do: all other routes are for admins.
var agentsMay = []string{
	"GET /me", "GET /labels", "GET /labels/:id", "GET /accounts",
	"GET /:phone_number_id/messages", "POST /:phone_number_id/messages", "GET /:phone_number_id/messages/:id", "DELETE /:phone_number_id/messages/:id", "GET /:phone_number_id/messages/:id/media",
	"GET /:phone_number_id/conversations", "GET /:phone_number_id/conversations/:id", "PATCH /:phone_number_id/conversations/:id",
	"POST /:phone_number_id/conversations/:id/labels", "DELETE /:phone_number_id/conversations/:id/labels/:label_id",
	"GET /:phone_number_id/contacts", "POST /:phone_number_id/contacts", "GET /:phone_number_id/contacts/:id", "PATCH /:phone_number_id/contacts/:id",
	"POST /:phone_number_id/contacts/bulk_label", "POST /:phone_number_id/contacts/:id/labels", "DELETE /:phone_number_id/contacts/:id/labels/:label_id",
	"GET /:phone_number_id/templates", "GET /:phone_number_id/templates/:name",
	"POST /:phone_number_id/media", "GET /:phone_number_id/media/:id",

	"GET /:phone_number_id/counts", "GET /waiting", "GET /:phone_number_id/sending", "POST /:phone_number_id/conversations/:id/read", "POST /:phone_number_id/conversations/:id/unread",
	"GET /:phone_number_id/conversations/:id/changes",
	"GET /templates/:id", "GET /contacts/:id", "GET /contacts/:id/history", "GET /:phone_number_id/search_hits",
	"GET /:phone_number_id/hours", "POST /:phone_number_id/conversations/:id/hand_over",
	"GET /views", "POST /views", "GET /views/:id", "PATCH /views/:id", "DELETE /views/:id",
	"GET /:phone_number_id/conversations/:id/notes", "POST /:phone_number_id/conversations/:id/notes", "GET /:phone_number_id/conversations/:id/notes/:note_id",
	"PATCH /:phone_number_id/conversations/:id/notes/:note_id", "DELETE /:phone_number_id/conversations/:id/notes/:note_id",
	"GET /quick_replies", "POST /quick_replies", "GET /quick_replies/:id", "PATCH /quick_replies/:id", "DELETE /quick_replies/:id",
	"GET /:phone_number_id/quality",
	"GET /factors", "POST /factors/codes/start", "POST /factors/codes", "DELETE /factors/codes", "POST /factors/recovery_codes",
	"POST /factors/passkeys/start", "POST /factors/passkeys", "PATCH /factors/passkeys/:id", "DELETE /factors/passkeys/:id",
	"GET /devices", "POST /devices", "DELETE /devices", "POST /devices/start", "POST /devices/test",
	"GET /profile", "PATCH /profile", "GET /sessions", "DELETE /sessions/:id", "GET /people", "GET /people/:id",
	"GET /stream", "POST /presence",
}

// consoleRoute is a route of either table, with the path in front of it.
type consoleRoute struct {
	rest.Route
	prefix string
}

// everyRoute are those of the API, and those of the console.
func (f *fixture) everyRoute() (all []consoleRoute) {
	for _, rt := range f.api.Routes() {
		all = append(all, consoleRoute{rt, "/v1"})
	}
	for _, rt := range f.console.Routes() {
		all = append(all, consoleRoute{rt, ""})
	}
	return all
}

func TestEveryRouteKnowsWhoMayUseIt(t *testing.T) {
	f, ours, _ := serveEverything(t)
	admin, agent := f.signedIn(ours.Tenant, storage.RoleAdmin), f.signedIn(ours.Tenant, storage.RoleAgent)
	nobody := rest.Visitor{Refused: rest.Fail(rest.SessionRequired, "Sign in.")}
	ours.has["people"], ours.has["sessions"], ours.has["keys"] = agent.User.ID, "ses_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "key_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"
	ours.has["jobs"], ours.has["passkeys"] = f.jobOf(ours.Tenant), "psk_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"
	ours.has["views"] = f.visit(agent, "POST", "/v1/views", `{"name":"Own"}`).text("data.id") // agents delete only what is their own
	ours.has["notes"] = f.visit(agent, "POST", "/v1/"+ours.number+"/conversations/"+ours.has["conversations"]+"/notes", `{"text":"Own"}`).text("data.id")
	known := 0
	for _, rt := range f.everyRoute() {
		name := rt.Method + " " + rt.Path
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			f := f.in(t)
			path := rt.prefix + ours.path(t, rt.Route, nil)
			if rt.Path == "/stream" {
				rt.Method = http.MethodHead // it would have no end
			}
			if rt.Has(rest.Public) {
				is.Equal(f.visit(nobody, rt.Method, path, "").status, 200)
				return
			}
			is.Equal(f.visit(nobody, rt.Method, path, "{").code(), "401 session_required")

			code := f.visit(agent, rt.Method, path, "{").code() // not a body that could do anything
			if slices.Contains(agentsMay, name) {
				known++
				is.True(!strings.HasPrefix(code, "401") && !strings.HasPrefix(code, "403"))
			} else {
				is.Equal(code, "403 permission_denied")
			}
			code = f.visit(admin, rt.Method, path, "{").code()
			is.True(!strings.HasPrefix(code, "401") && !strings.HasPrefix(code, "403"))
		})
	}
	is.New(t).Equal(known, len(agentsMay))
}

func TestNobodySeesAnotherOrganization(t *testing.T) {
	f, ours, theirs := serveEverything(t)
	admin, stranger := f.signedIn(ours.Tenant, storage.RoleAdmin), f.signedIn(theirs.Tenant, storage.RoleAdmin)
	theirs.has["people"], theirs.has["sessions"], theirs.has["keys"] = stranger.User.ID, stranger.Session.ID, theirs.Key.ID
	theirs.has["jobs"], theirs.has["passkeys"] = f.jobOf(theirs.Tenant), "psk_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"
	for _, rt := range f.everyRoute() {
		if len(places(&rt.Route)) == 0 {
			continue
		}
		got := f.visit(admin, rt.Method, rt.prefix+theirs.path(t, rt.Route, nil), `{}`)
		if got.status != 404 {
			t.Errorf("%s %s: %s", rt.Method, rt.Path, got.body)
		}
	}
	is := is.New(t)
	is.Equal(f.again(stranger).User.DisabledAt, storage.Time(0))
	body := f.visit(admin, "GET", "/people", "").body + f.visit(admin, "GET", "/keys", "").body + f.visit(admin, "GET", "/audit", "").body
	for _, secret := range []string{stranger.User.ID, theirs.Key.ID, theirs.Organization.PublicID} {
		is.True(!strings.Contains(body, secret))
	}
}

func TestASuspendedOrganizationIsShutOutOfTheConsoleButAPlanWithoutAPIIsNot(t *testing.T) {
	is := is.New(t)
	f := serve(t, func(o *testOptions) { o.Plans["no api"] = rest.Plan{} })
	who := f.signedIn(f.tenant, storage.RoleAdmin)
	who.Organization.Plan = "no api"
	is.Equal(f.visit(who, "GET", "/v1/labels", "").status, 200)
	is.Equal(f.visit(who, "GET", "/v1/customers", "").code(), "402 feature_not_entitled")
	who.Organization.SuspendedAt = 1
	is.Equal(f.visit(who, "GET", "/v1/labels", "").code(), "403 organization_suspended")
	is.Equal(f.visit(who, "GET", "/people", "").code(), "403 organization_suspended")
}

// A request of any kind that does not come from a page of ours reaches no route.
func TestWhatComesFromElsewhereReachesNoRoute(t *testing.T) {
	f, ours, _ := serveEverything(t)
	admin := f.signedIn(ours.Tenant, storage.RoleAdmin)
	admin.Refused = rest.Fail(rest.PermissionDenied, "This request did not come from the console.")
	ours.has["people"], ours.has["sessions"], ours.has["keys"], ours.has["jobs"] = admin.User.ID, admin.Session.ID, ours.Key.ID, f.jobOf(ours.Tenant)
	ours.has["passkeys"] = "psk_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"
	for _, rt := range f.everyRoute() {
		got := f.visit(admin, rt.Method, rt.prefix+ours.path(t, rt.Route, nil), "{}")
		if got.code() != "403 permission_denied" {
			t.Errorf("%s %s: %s", rt.Method, rt.Path, got.body)
		}
	}
}

func TestNoGETOfTheConsoleChangesAnything(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	admin := f.signedIn(ours.Tenant, storage.RoleAdmin)
	ours.has["people"], ours.has["sessions"], ours.has["keys"], ours.has["jobs"] = admin.User.ID, admin.Session.ID, ours.Key.ID, f.jobOf(ours.Tenant)
	template := f.callAs(ours.Secret, "GET", "/"+ours.number+"/templates", "").get("data").([]any)[0].(map[string]any)["id"].(string)
	queries := map[string]string{"/event_sample": "?type=message.sent", "/:phone_number_id/search_hits": "?ids=" + ours.has["messages"]}
	is.NoErr(f.api.Flush(t.Context()))
	var changed []string
	is.NoErr(f.db.ObserveStatements(t.Context(), func(query string) {
		if strings.Contains(query, "INSERT INTO audit") {
			return // of exports
		}
		if verb := strings.ToUpper(strings.Fields(query)[0]); slices.Contains([]string{"INSERT", "UPDATE", "DELETE", "REPLACE"}, verb) {
			changed = append(changed, query)
		}
	}))
	asked := 0
	for _, rt := range f.everyRoute() {
		if rt.Method != http.MethodGet {
			continue
		}
		method := rt.Method
		if rt.Path == "/stream" {
			method = http.MethodHead // it would have no end
		}
		var other map[string]string
		if rt.prefix == "" { // where templates go by their ids
			other = map[string]string{"templates": template}
		}
		got := f.visit(admin, method, rt.prefix+ours.path(t, rt.Route, other)+queries[rt.Path], "")
		if got.status >= 400 {
			t.Errorf("GET %s: %s", rt.Path, got.body)
		}
		asked++
	}
	is.NoErr(f.db.ObserveStatements(t.Context(), nil))
	is.True(asked > 30)
	is.Equal(changed, nil)
}

// Recorded actions can be chosen in the log, by what it is about.
func TestTheLogCanBeNarrowedToWhateverIsRecorded(t *testing.T) {
	source, err := os.ReadFile("../assets/texts/en/log.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, rt := range serve(t).everyRoute() {
		subject, _, audited := strings.Cut(rt.Audit.Action, ".")
		if audited && !regexp.MustCompile(`\b`+subject+`\b[^.]`).Match(source) {
			t.Errorf("%s: the log has no %s to choose", rt.Audit.Action, subject)
		}
	}
}

// A rule with a parameter that the path does not have would record nothing.
func TestEveryAuditRuleNamesAParameterOfItsPath(t *testing.T) {
	audited := 0
	for _, rt := range serve(t).everyRoute() {
		if rt.Audit.Action == "" {
			continue
		}
		audited++
		if rt.Audit.Param != "" && !strings.Contains(rt.Path+"/", ":"+rt.Audit.Param+"/") {
			t.Errorf("%s %s has no %s", rt.Method, rt.Path, rt.Audit.Param)
		}
	}
	is.New(t).True(audited >= 47)
}
