package api

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

// signedIn signs in a new user of a tenant.
func (f *fixture) signedIn(tenant storagetest.Tenant, role string) rest.Visitor {
	f.t.Helper()
	u := storage.User{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, TeamPublicID: tenant.Team.PublicID, Name: "Vi", Role: role}
	s := storage.UserSession{UserAgent: "Test/1", IP: "192.0.2.9"}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error {
		if err := tx.InsertUser(&u); err != nil {
			return err
		}
		s.UserID = u.ID
		_, err := tx.InsertUserSession(&s)
		return err
	})
	return rest.Visitor{SignedIn: storage.SignedIn{Session: s, User: u, Organization: tenant.Organization}}
}

// visit calls the API of the console as somebody who is signed in. The path is relative
// to /console/api.
func (f *fixture) visit(who rest.Visitor, method, path, body string, header ...string) answer {
	f.t.Helper()
	req := httptest.NewRequest(method, "http://confab.test"+rest.ConsolePath+path, strings.NewReader(body))
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	rec := httptest.NewRecorder()
	f.api.ServeConsole(rec, req, who)
	return answer{status: rec.Code, header: rec.Header(), body: rec.Body.String()}
}

// again reads what a visitor has become.
func (f *fixture) again(who rest.Visitor) rest.Visitor {
	f.t.Helper()
	storagetest.View(f.t, f.db, func(rx *storage.Rx) (err error) {
		who.User, err = rx.UserByID(who.User.ID)
		return err
	})
	return who
}

// jobOf is the number of a job of an organization.
func (f *fixture) jobOf(tenant storagetest.Tenant) (id string) {
	f.t.Helper()
	storagetest.View(f.t, f.db, func(rx *storage.Rx) error {
		all, _, err := rx.JobsOfOrganization(tenant.Organization.ID, storage.JobFilter{Limit: 1}, 0)
		id = strconv.FormatInt(all[0].ID, 10)
		return err
	})
	return id
}

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

	"GET /:phone_number_id/counts", "POST /:phone_number_id/conversations/:id/read", "POST /:phone_number_id/conversations/:id/unread",
	"GET /templates/:id", "GET /contacts/:id",
	"GET /quick_replies", "POST /quick_replies", "GET /quick_replies/:id", "PATCH /quick_replies/:id", "DELETE /quick_replies/:id",
	"GET /:phone_number_id/quality",
	"GET /profile", "PATCH /profile", "GET /sessions", "DELETE /sessions/:id", "GET /people", "GET /people/:id",
	"GET /stream", "POST /presence",
}

// consoleRoute is a route of either table, with the path in front of it.
type consoleRoute struct {
	rest.Route
	prefix string
}

func (s *Server) everyConsoleRoute() (all []consoleRoute) {
	for _, rt := range s.routes() {
		all = append(all, consoleRoute{rt, "/v1"})
	}
	for _, rt := range s.consoleRoutes() {
		all = append(all, consoleRoute{rt, ""})
	}
	return all
}

func TestEveryRouteKnowsWhoMayUseIt(t *testing.T) {
	f, ours, _ := serveEverything(t)
	admin, agent := f.signedIn(ours.Tenant, storage.RoleAdmin), f.signedIn(ours.Tenant, storage.RoleAgent)
	nobody := rest.Visitor{Refused: rest.Fail(rest.SessionRequired, "Sign in.")}
	ours.has["people"], ours.has["sessions"], ours.has["keys"] = agent.User.ID, "ses_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "key_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"
	ours.has["jobs"] = f.jobOf(ours.Tenant)
	known := 0
	for _, rt := range f.api.everyConsoleRoute() {
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
	theirs.has["jobs"] = f.jobOf(theirs.Tenant)
	for _, rt := range f.api.everyConsoleRoute() {
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

func TestMeInTheConsoleIsAPerson(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	who := f.signedIn(f.tenant, storage.RoleAgent)
	got := f.visit(who, "GET", "/v1/me", "")
	is.Equal(got.status, 200)
	is.True(strings.Contains(got.body, `"api_key":null`))
	is.Equal(got.get("data.user.id"), who.User.ID)
	is.Equal(got.get("data.user.role"), "agent")
	is.Equal(got.get("data.rate_limits.per_second"), 50.0)
	is.Equal(got.get("data.rate_limits.burst"), 200.0)
	is.True(!strings.Contains(f.call("GET", "/me", "").body, `"user":`)) // a key is none
}

func TestEachPersonHasABucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t)
		ada, bo := f.signedIn(f.tenant, storage.RoleAgent), f.signedIn(f.tenant, storage.RoleAgent)
		for range 200 {
			is.Equal(f.visit(ada, "GET", "/profile", "").status, 200)
		}
		got := f.visit(ada, "GET", "/profile", "")
		is.Equal(got.code(), "429 rate_limit_exceeded")
		is.Equal(got.header.Get("X-RateLimit-Limit"), "200")
		is.Equal(f.visit(bo, "GET", "/profile", "").status, 200) // another's is full
		time.Sleep(time.Second)
		for range 50 {
			is.Equal(f.visit(ada, "GET", "/profile", "").status, 200)
		}
		is.Equal(f.visit(ada, "GET", "/profile", "").status, 429)
	})
}

func TestOnlyChangesOfPeopleEnterTheAPILog(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	who := f.signedIn(f.tenant, storage.RoleAdmin)
	f.visit(who, "GET", "/v1/labels", "")
	made := f.visit(who, "POST", "/v1/labels", `{"name":"VIP"}`)
	f.visit(who, "POST", "/v1/labels", `{"name":""}`)
	f.visit(rest.Visitor{Refused: rest.Fail(rest.SessionRequired, "Sign in.")}, "POST", "/v1/labels", `{}`)
	is.NoErr(f.api.Flush(t.Context()))
	calls := f.stored()
	is.Equal(len(calls), 2)
	is.Equal(calls[0].UserID, &who.User.ID)
	is.Equal(calls[0].KeyID, nil)
	is.Equal(calls[0].Path, "/console/api/v1/labels")
	is.Equal(*calls[0].MadeID, made.text("data.id"))
	is.Equal(*calls[1].ErrorCode, "invalid_field_value")
	is.Equal(calls[1].MadeID, nil)
}

func TestAPersonsMessageSaysWhoSentIt(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.connect(f.tenant, number)
	who := f.signedIn(f.tenant, storage.RoleAgent)
	const body = `{"messaging_product":"chat","to":"+15550001111","type":"text","text":{"body":"hi"}}`
	got := f.visit(who, "POST", "/v1/"+number+"/messages", body, "Idempotency-Key: k")
	is.Equal(got.status, 200)
	is.Equal(got.get("data.source"), "console")
	is.Equal(got.get("data.sent_by"), who.User.ID)
	is.Equal(f.visit(who, "POST", "/v1/"+number+"/messages", body, "Idempotency-Key: k").header.Get("Idempotent-Replayed"), "true")
	is.Equal(storagetest.Select[string](t, f.dir, `SELECT request_id FROM messages WHERE id = ?`, got.text("data.id")), []string{got.header.Get("X-Request-Id")})

	byKey := f.call("POST", "/"+number+"/messages", body)
	is.Equal(byKey.get("data.source"), "api")
	is.Equal(byKey.get("data.sent_by"), nil)

	conversation := got.text("data.conversation_id")
	is.Equal(f.visit(who, "PATCH", "/v1/"+number+"/conversations/"+conversation, `{"status":"resolved"}`).status, 200)
	closed := storagetest.Select[string](t, f.dir, `SELECT payload ->> '$.data.conversation.closed_by_user_id' FROM events WHERE type = 'conversation.closed'`)
	is.Equal(closed, []string{who.User.ID})
}

func TestCORSDoesNotApplyToTheConsole(t *testing.T) {
	is := is.New(t)
	f := serve(t, func(o *testOptions) { o.CORSOrigins = []string{"*"} })
	who := f.signedIn(f.tenant, storage.RoleAgent)
	got := f.visit(who, "GET", "/v1/me", "", "Origin: https://evil.test")
	is.Equal(got.header.Get("Access-Control-Allow-Origin"), "")
	is.Equal(f.visit(who, http.MethodOptions, "/v1/me", "", "Origin: https://evil.test", "Access-Control-Request-Method: GET").status, 405)
}

// Whatever it asks for: a request that does not come from a page of ours reaches no route.
func TestWhatComesFromElsewhereReachesNoRoute(t *testing.T) {
	f, ours, _ := serveEverything(t)
	admin := f.signedIn(ours.Tenant, storage.RoleAdmin)
	admin.Refused = rest.Fail(rest.PermissionDenied, "This request does not come from a page of the console.")
	ours.has["people"], ours.has["sessions"], ours.has["keys"], ours.has["jobs"] = admin.User.ID, admin.Session.ID, ours.Key.ID, f.jobOf(ours.Tenant)
	for _, rt := range f.api.everyConsoleRoute() {
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
	queries := map[string]string{"/event_sample": "?type=message.sent", "/:phone_number_id/audience": "?label_id=" + ours.has["labels"]}
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
	for _, rt := range f.api.everyConsoleRoute() {
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
