package api

import (
	"fmt"
	"slices"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestAnAdminLooksAfterTheJobsOfTheOrganization(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.connect(f.tenant, number)
	admin := f.signedIn(f.tenant, storage.RoleAdmin)
	other := storagetest.Seed(t, f.db, "Other")
	stranger := f.signedIn(other, storage.RoleAdmin)
	send := func() string {
		return f.call("POST", "/"+number+"/messages", `{"messaging_product":"chat","to":"+15550001111","type":"text","text":{"body":"hi"}}`).text("data.id")
	}
	first, second := send(), send()
	list := func(query string) (ids []string) {
		got := f.visit(admin, "GET", "/jobs"+query, "")
		is.Equal(got.status, 200)
		for _, one := range got.get("data").([]any) {
			ids = append(ids, fmt.Sprint(one.(map[string]any)["id"]))
		}
		return ids
	}
	jobs := list("?kind=send")
	is.Equal(len(jobs), 2)
	f.exec(`UPDATE jobs SET state = 'failed', failures = 5, last_error = 'boom' WHERE id = ?`, jobs[0])
	is.Equal(list("?status=failed"), jobs[:1])
	is.Equal(list("?state=failed&kind=send"), jobs[:1])
	is.Equal(list("?status=failed&kind=deliver"), nil)
	is.Equal(list("?kind=none"), nil)
	page := f.visit(admin, "GET", "/jobs?kind=send&limit=1", "")
	is.Equal(page.get("has_more"), true)
	is.Equal(list("?kind=send&limit=1&cursor="+page.text("next_cursor")), jobs[1:])
	is.Equal(f.visit(admin, "GET", "/jobs?limit=1&cursor="+page.text("next_cursor"), "").code(), "400 invalid_cursor cursor")
	for query, code := range map[string]string{"?status=lost": "status", "?state=x": "state", "?kind=": "kind"} {
		is.Equal(f.visit(admin, "GET", "/jobs"+query, "").code(), "400 invalid_field_value "+code)
	}

	path := "/jobs/" + jobs[0]
	is.Equal(f.visit(admin, "GET", path, "").get("data.last_error"), "boom")
	for _, id := range []string{"0", "x", "-1", "99999999", "9999999999999999999999"} {
		is.Equal(f.visit(admin, "POST", "/jobs/"+id+"/retry", "").code(), "404 resource_not_found")
	}
	is.Equal(f.visit(stranger, "POST", path+"/retry", "").code(), "404 resource_not_found")
	is.Equal(f.visit(stranger, "POST", path+"/cancel", "").code(), "404 resource_not_found")
	retried := f.visit(admin, "POST", path+"/retry", "")
	is.Equal(retried.get("data.state"), "due")
	is.Equal(retried.get("data.failures"), 0.0)
	f.exec(`UPDATE jobs SET state = 'running' WHERE id = ?`, jobs[1])
	is.Equal(f.visit(admin, "POST", "/jobs/"+jobs[1]+"/retry", "").code(), "400 invalid_field_value id")
	f.exec(`UPDATE jobs SET state = 'held' WHERE id = ?`, jobs[1])
	is.Equal(f.visit(admin, "POST", "/jobs/"+jobs[1]+"/retry", "").code(), "400 invalid_field_value id")

	is.Equal(f.visit(admin, "POST", path+"/cancel", "").get("data.deleted"), true)
	is.Equal(f.visit(admin, "POST", path+"/cancel", "").code(), "404 resource_not_found")
	statuses := []any{f.call("GET", "/"+number+"/messages/"+first, "").get("data.status"), f.call("GET", "/"+number+"/messages/"+second, "").get("data.status")}
	is.Equal(statuses, []any{"failed", "queued"}) // what waited for it has ended
	is.True(slices.Equal(f.audited(admin), []string{"user job.cancelled " + jobs[0], "user job.retried " + jobs[0]}))
}

func TestAgentsKnowTheNamesOfColleagues(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	admin := f.withPassword(f.signedIn(f.tenant, storage.RoleAdmin), "ada@example.com", "correct horse")
	agent := f.withPassword(f.signedIn(f.tenant, storage.RoleAgent), "bo@example.com", "correct horse")
	path := "/people/" + admin.User.ID
	is.Equal(f.visit(admin, "GET", path, "").get("data.email"), "ada@example.com")
	seen := map[string]any{"id": admin.User.ID, "object": "user", "name": "Vi", "status": "active"}
	is.Equal(f.visit(agent, "GET", path, "").get("data"), seen)
	is.Equal(f.visit(agent, "GET", "/people/"+agent.User.ID, "").get("data.email"), "bo@example.com") // one's own
	is.Equal(f.visit(agent, "GET", "/people", "").get("data").([]any)[0], seen)
	other := f.signedIn(storagetest.Seed(t, f.db, "Other"), storage.RoleAdmin)
	is.Equal(f.visit(other, "GET", path, "").code(), "404 resource_not_found")
	is.Equal(f.visit(admin, "GET", "/people/x", "").code(), "404 resource_not_found")

	// An admin ends one session of somebody, and no one else's by that path.
	sessions := "/people/" + agent.User.ID + "/sessions/"
	is.Equal(f.visit(admin, "DELETE", sessions+admin.Session.ID, "").code(), "404 resource_not_found")
	is.Equal(f.visit(admin, "DELETE", sessions+"x", "").code(), "404 resource_not_found")
	is.Equal(f.visit(other, "DELETE", sessions+agent.Session.ID, "").code(), "404 resource_not_found")
	is.Equal(f.visit(agent, "DELETE", sessions+agent.Session.ID, "").code(), "403 permission_denied")
	is.Equal(f.visit(admin, "DELETE", sessions+agent.Session.ID, "").get("data.deleted"), true)
	is.Equal(f.audited(admin)[0], "user session.ended "+agent.Session.ID)
}
