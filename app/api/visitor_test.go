package api

import (
	"context"
	"net/http"
	"net/http/httptest"
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
	who := storage.SignedIn{Session: s, User: u, Organization: tenant.Organization}
	return rest.Visitor{SignedIn: who, Find: func(context.Context) (storage.SignedIn, error) { return who, nil }}
}

// visit calls the API as somebody who is signed in to the console. The path is relative to
// /console/api, and begins with /v1.
func (f *fixture) visit(who rest.Visitor, method, path, body string, header ...string) answer {
	f.t.Helper()
	req := httptest.NewRequest(method, "http://confab.test"+rest.ConsolePath+path, strings.NewReader(body))
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	rec := httptest.NewRecorder()
	f.api.ServeVisitor(rec, req, who)
	return answer{status: rec.Code, header: rec.Header(), body: rec.Body.String()}
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
			is.Equal(f.visit(ada, "GET", "/v1/me", "").status, 200)
		}
		got := f.visit(ada, "GET", "/v1/me", "")
		is.Equal(got.code(), "429 rate_limit_exceeded")
		is.Equal(got.header.Get("X-RateLimit-Limit"), "200")
		is.Equal(f.visit(bo, "GET", "/v1/me", "").status, 200) // another's is full
		time.Sleep(time.Second)
		for range 50 {
			is.Equal(f.visit(ada, "GET", "/v1/me", "").status, 200)
		}
		is.Equal(f.visit(ada, "GET", "/v1/me", "").status, 429)
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
	calls := f.logged()
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
