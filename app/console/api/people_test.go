package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/app/limit"
	"confab/storage"
	"confab/storage/storagetest"
)

// withPassword gives a visitor an address and a password.
func (f *fixture) withPassword(who rest.Visitor, email, secret string) rest.Visitor {
	f.t.Helper()
	hash, err := f.console.Passwords.Hash(f.t.Context(), limit.Holder{}, secret)
	if err != nil {
		f.t.Fatal(err)
	}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error {
		u := who.User
		u.Email, u.SignInEmail = &email, &email
		if err := tx.UpdateUser(&u); err != nil {
			return err
		}
		return tx.SetPassword(u.ID, hash)
	})
	return f.again(who)
}

// audited are the newest entries of the audit log, as "actor action target".
func (f *fixture) audited(who rest.Visitor) (all []string) {
	f.t.Helper()
	for _, e := range f.visit(who, "GET", "/audit?limit=100", "").get("data").([]any) {
		entry := e.(map[string]any)
		actor, target := entry["actor"].(map[string]any), entry["target"].(map[string]any)
		id, _ := target["id"].(string)
		all = append(all, actor["type"].(string)+" "+entry["action"].(string)+" "+id)
	}
	return all
}

func TestAnAdminInvitesPeople(t *testing.T) {
	is := is.New(t)
	f := serve(t, func(o *testOptions) { o.Publisher.PublicURL = "https://confab.test" })
	admin := f.signedIn(f.tenant, storage.RoleAdmin)
	const body = `{"name":"Bo","email":"Bo@example.com","role":"admin"}`
	got := f.visit(admin, "POST", "/people", body, "Idempotency-Key: k")
	is.Equal(got.status, 201)
	is.Equal(got.get("data.status"), "invited")
	is.Equal(got.get("data.role"), "admin")
	is.Equal(got.get("data.team_id"), f.tenant.Team.PublicID)
	link := got.text("data.link")
	is.True(strings.HasPrefix(link, "https://confab.test/console/welcome/"))
	again := f.visit(admin, "POST", "/people", body, "Idempotency-Key: k")
	is.Equal(again.body, got.body) // shown again to who asks again
	is.Equal(storagetest.Select[bool](t, f.dir, `SELECT sealed FROM idempotency`), []bool{true})
	second := f.visit(admin, "POST", "/people", `{"name":"Bob","email":"bo@EXAMPLE.com"}`)
	is.Equal(second.get("data.id"), got.get("data.id"))
	is.True(second.text("data.link") != link)
	is.Equal(second.get("data.role"), "admin") // it stays unless given

	for body, code := range map[string]string{
		`{}`:                                     "400 missing_required_field name",
		`{"name":"Bo"}`:                          "400 missing_required_field email",
		`{"name":" ","email":"a@b.test"}`:        "400 invalid_field_value name",
		`{"name":"A\u0007","email":"a@b.test"}`:  "400 invalid_field_value name",
		`{"name":"Bo","email":"x"}`:              "400 invalid_field_value email",
		`{"name":"B","email":"b@c.d","role":1}`:  "400 invalid_field_value role",
		`{"name":"B","email":"b@c.d","role":""}`: "400 invalid_field_value role",
		`{"name":"B","email":"b@c.d","team_id":"team_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}`: "404 resource_not_found",
	} {
		is.Equal(f.visit(admin, "POST", "/people", body).code(), code)
	}
	other := storagetest.Seed(t, f.db, "Other")
	is.Equal(f.visit(f.signedIn(other, storage.RoleAdmin), "POST", "/people", body).code(), "400 invalid_field_value email")
	is.Equal(f.audited(admin), []string{"user user.invited " + got.text("data.id"), "user user.invited " + got.text("data.id")})
	is.Equal(len(f.visit(admin, "GET", "/people", "").get("data").([]any)), 2)
}

func TestTheLastAdminStaysOne(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	ada := f.withPassword(f.signedIn(f.tenant, storage.RoleAdmin), "ada@example.com", "correct horse")
	self := "/people/" + ada.User.ID
	is.Equal(f.visit(ada, "PATCH", self, `{"role":"agent"}`).code(), "403 permission_denied role")
	is.Equal(f.visit(ada, "POST", self+"/disable", "").code(), "403 permission_denied")

	bo := f.signedIn(f.tenant, storage.RoleAdmin) // who cannot sign in
	is.Equal(f.visit(bo, "PATCH", self, `{"role":"agent"}`).code(), "403 permission_denied role")
	is.Equal(f.visit(ada, "PATCH", "/people/"+bo.User.ID, `{"role":"agent"}`).status, 200)
	is.Equal(f.visit(ada, "PATCH", "/people/"+bo.User.ID, `{"role":"admin","name":"Bo"}`).get("data.name"), "Bo")
	bo = f.withPassword(bo, "bo@example.com", "correct horse")
	is.Equal(f.visit(bo, "POST", self+"/disable", "").get("data.status"), "disabled")
	is.Equal(f.visit(bo, "POST", self+"/enable", "").get("data.status"), "active")
	is.Equal(f.visit(bo, "PATCH", self, `{"email":"BO@example.com"}`).code(), "400 invalid_field_value email")
	is.Equal(f.visit(bo, "PATCH", self, `{}`).code(), "400 missing_required_field name")
	reset := f.visit(bo, "POST", self+"/reset", "")
	is.Equal(reset.status, 200)
	is.True(strings.Contains(reset.text("data.link"), "/console/welcome/"))
	is.True(f.again(ada).User.CanSignIn()) // the old password works until then
	is.Equal(len(f.visit(bo, "GET", self+"/sessions", "").get("data").([]any)), 0)
	is.Equal(f.visit(bo, "POST", self+"/signout", "").status, 200)
	is.Equal(f.audited(bo), []string{
		"user user.sessions_ended " + ada.User.ID, "user user.password_reset " + ada.User.ID, "user user.enabled " + ada.User.ID, "user user.disabled " + ada.User.ID,
		"user user.role_changed " + bo.User.ID, "user user.role_changed " + bo.User.ID,
	})
}

func TestAPersonChangesItsOwnPassword(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	ada := f.withPassword(f.signedIn(f.tenant, storage.RoleAgent), "ada@example.com", "correct horse")
	other := storage.UserSession{UserID: ada.User.ID}
	storagetest.Update(t, f.db, func(tx *storage.Tx) error { _, err := tx.InsertUserSession(&other); return err })
	sessions := f.visit(ada, "GET", "/sessions", "").get("data").([]any)
	is.Equal(len(sessions), 2)
	is.Equal(sessions[0].(map[string]any)["current"], true)
	is.Equal(sessions[0].(map[string]any)["user_agent"], "Test/1")

	for body, code := range map[string]string{
		`{"password":"battery staple"}`:                                            "400 missing_required_field current_password",
		`{"password":"short","current_password":"correct horse"}`:                  "400 invalid_field_value password",
		`{"password":"ADA@example.com","current_password":"correct horse"}`:        "400 invalid_field_value password",
		`{"password":"battery staple","current_password":"wrong"}`:                 "400 invalid_field_value current_password",
		`{"name":"Ada Lovelace","password":"ada lovelace","current_password":"x"}`: "400 invalid_field_value password",
		`{"name":""}`: "400 invalid_field_value name",
		`{}`:          "400 missing_required_field name",
	} {
		is.Equal(f.visit(ada, "PATCH", "/profile", body).code(), code)
	}
	got := f.visit(ada, "PATCH", "/profile", `{"name":"Ada L","password":"battery staple","current_password":"correct horse"}`)
	is.Equal(got.get("data.name"), "Ada L")
	same, err := f.console.Passwords.Matches(t.Context(), limit.Holder{}, "battery staple", f.again(ada).User.PasswordHash, func() error { return nil })
	is.NoErr(err)
	is.True(same)
	is.Equal(len(f.visit(ada, "GET", "/sessions", "").get("data").([]any)), 1) // the others have ended
	is.Equal(f.visit(ada, "DELETE", "/sessions/"+other.ID, "").code(), "404 resource_not_found")
	is.Equal(f.visit(ada, "DELETE", "/sessions/"+ada.Session.ID, "").get("data.deleted"), true)
	admin := f.signedIn(f.tenant, storage.RoleAdmin)
	is.Equal(f.audited(admin), []string{"user session.ended " + ada.Session.ID, "user user.password_changed " + ada.User.ID})
	is.Equal(f.visit(admin, "PATCH", "/profile", `{"password":"battery staple"}`).code(), "400 invalid_field_value password") // without an address
}

func TestWrongPasswordsOfOnesOwnHaveToWait(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	ada := f.withPassword(f.signedIn(f.tenant, storage.RoleAgent), "ada@example.com", "correct horse")
	for range 6 {
		is.Equal(f.visit(ada, "PATCH", "/profile", `{"password":"battery staple","current_password":"x"}`).status, 400)
	}
	got := f.visit(ada, "PATCH", "/profile", `{"password":"battery staple","current_password":"correct horse"}`)
	is.Equal(got.code(), "429 rate_limit_exceeded")
	is.Equal(got.header.Get("Retry-After"), "1")
}

func TestAnAdminIssuesAndRevokesKeys(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	admin := f.signedIn(f.tenant, storage.RoleAdmin)
	got := f.visit(admin, "POST", "/keys", `{"label":"ci","expires_in_hours":24}`, "Idempotency-Key: k")
	is.Equal(got.status, 201)
	secret, id := got.text("data.key"), got.text("data.id")
	is.Equal(f.callAs(secret, "GET", "/me", "").get("data.api_key.id"), id)
	is.Equal(storagetest.Select[bool](t, f.dir, `SELECT sealed FROM idempotency`), []bool{true})
	list := f.visit(admin, "GET", "/keys", "")
	is.True(!strings.Contains(list.body, secret))
	is.Equal(list.get("data").([]any)[0].(map[string]any)["status"], "active")
	is.True(list.get("data").([]any)[0].(map[string]any)["last_used_at"] != nil)
	first := f.visit(admin, "GET", "/keys?limit=1", "")
	is.Equal(first.get("has_more"), true)
	is.Equal(len(f.visit(admin, "GET", "/keys?limit=1&cursor="+first.text("next_cursor"), "").get("data").([]any)), 1)

	is.Equal(f.visit(admin, "DELETE", "/keys/"+id, "").get("data.status"), "revoked")
	is.Equal(f.callAs(secret, "GET", "/me", "").code(), "401 revoked_api_key")
	is.Equal(f.visit(admin, "DELETE", "/keys/key_x", "").code(), "404 resource_not_found")
	for body, code := range map[string]string{
		`{"label":""}`:            "400 invalid_field_value label",
		`{"expires_in_hours":0}`:  "400 invalid_field_value expires_in_hours",
		`{"expires_in_hours":.5}`: "400 invalid_json",
	} {
		is.Equal(f.visit(admin, "POST", "/keys", body).code(), code)
	}
	is.Equal(f.audited(admin), []string{"user key.revoked " + id, "user key.created " + id})
}

func TestWhatKeysDoIsAudited(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	admin := f.signedIn(f.tenant, storage.RoleAdmin)
	label := f.call("POST", "/labels", `{"name":"VIP"}`).text("data.id")
	f.call("DELETE", "/labels/"+label, "")
	f.call("DELETE", "/labels/"+label, "") // 404, which is not recorded
	customer := f.call("POST", "/customers", `{"name":"Bakery"}`).text("data.id")
	quick := f.call("POST", "/quick_replies", `{"shortcut":"hi","text":"Hello"}`).text("data.id")
	f.call("DELETE", "/quick_replies/"+quick, "")
	is.Equal(f.audited(admin), []string{"key quick_reply.deleted " + quick, "key customer.created " + customer, "key label.deleted " + label})
	entry := f.visit(admin, "GET", "/audit?limit=1", "").get("data").([]any)[0].(map[string]any)
	is.Equal(entry["actor"].(map[string]any)["id"], f.tenant.Key.ID)
	is.Equal(entry["organization_id"], f.tenant.Organization.PublicID)
	is.True(entry["ip"] != nil && entry["at"] != nil && storage.ValidID("aud_", entry["id"].(string)))
}

func TestAnAdminSeesTheJobsOfItsOrganization(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.connect(f.tenant, number)
	other := storagetest.Seed(t, f.db, "Other")
	admin, stranger := f.signedIn(f.tenant, storage.RoleAdmin), f.signedIn(other, storage.RoleAdmin)
	for range 3 {
		f.call("POST", "/"+number+"/messages", `{"messaging_product":"chat","to":"+15550001111","type":"text","text":{"body":"hi"}}`)
	}
	first := f.visit(admin, "GET", "/jobs?limit=2", "")
	is.Equal(len(first.get("data").([]any)), 2)
	is.Equal(first.get("has_more"), true)
	second := f.visit(admin, "GET", "/jobs?limit=2&cursor="+first.text("next_cursor"), "")
	is.Equal(len(second.get("data").([]any)), 1)
	is.Equal(second.get("has_more"), false)
	is.Equal(second.get("data").([]any)[0].(map[string]any)["kind"], "send")
	is.Equal(len(f.visit(admin, "GET", "/jobs?state=failed", "").get("data").([]any)), 0)
	is.Equal(f.visit(admin, "GET", "/jobs?state=x", "").code(), "400 invalid_field_value state")
	is.Equal(len(f.visit(stranger, "GET", "/jobs", "").get("data").([]any)), 0)
}
