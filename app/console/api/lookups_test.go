package api

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/sqlite"
	"confab/storage/storagetest"
)

func TestABroadcastIsForecastBeforeItIsMade(t *testing.T) {
	is := is.New(t)
	f, ours, theirs := serveEverything(t)
	admin := f.signedIn(ours.Tenant, storage.RoleAdmin)
	forecast := func(text, audience string) answer {
		return f.visit(admin, "POST", "/"+ours.number+"/broadcasts/forecast", `{"name":"Sale","template":{"name":"spring_sale","language":"en_US",
			"components":[{"type":"body","parameters":[{"type":"text","text":"`+text+`"}]}]},"audience":`+audience+`}`)
	}
	toLabel := func(text, label string) answer { return forecast(text, `{"label_id":"`+label+`"}`) }
	is.Equal(forecast("x", `{}`).code(), "400 missing_required_field audience.recipients")
	is.Equal(toLabel("x", theirs.has["labels"]).code(), "404 resource_not_found") // another organization's
	is.Equal(forecast("x", `{"recipients":[{"to":"+15550001111"},{"to":"5"}]}`).code(), "400 invalid_phone_number audience.recipients[1].to")

	// Nobody knows the name of the only contact.
	got := toLabel("{{first_name}}", ours.has["labels"])
	is.Equal(got.status, 200)
	is.Equal(got.get("data.total"), 1.0)
	is.Equal(got.get("data.will_send"), 0.0)
	is.Equal(got.get("data.skipped").([]any)[0], map[string]any{"reason": "missing_parameter", "count": 1.0})
	is.Equal(got.get("data.paused_reason"), nil)
	is.Equal(got.get("data.messages_left"), nil)

	// With a fallback it is seen as it will be.
	got = toLabel("{{first_name|there}}", ours.has["labels"])
	is.Equal(got.get("data.will_send"), 1.0)
	is.True(strings.Contains(got.body, `"to":"+15559990000"`) && strings.Contains(got.body, `"text":"there"`))

	storagetest.Update(t, f.db, func(tx *storage.Tx) error { return tx.MarkOptedOut(ours.has["contacts"]) })
	got = toLabel("x", ours.has["labels"])
	is.Equal(got.get("data.skipped").([]any)[0], map[string]any{"reason": "marketing_opted_out", "count": 1.0})
	got = forecast("x", `{"recipients":[{"to":"+15550001111"},{"to":"+15550001111"}]}`)
	is.Equal(got.get("data.repeated"), 1.0)
	is.Equal(got.get("data.will_send"), 1.0)
}

func TestThingsOfAnyNumberAreFoundByTheirIDs(t *testing.T) {
	is := is.New(t)
	f, ours, theirs := serveEverything(t)
	admin, stranger := f.signedIn(ours.Tenant, storage.RoleAdmin), f.signedIn(theirs.Tenant, storage.RoleAdmin)
	template := f.callAs(ours.Secret, "GET", "/"+ours.number+"/templates/own_"+ours.number, "").text("data.id")

	for _, path := range []string{"/templates/" + template, "/contacts/" + ours.has["contacts"]} {
		got := f.visit(admin, "GET", path, "")
		is.Equal(got.status, 200)
		is.Equal(got.get("data.chat_account.phone_number_id"), ours.number)
		is.True(strings.HasSuffix(path, got.text("data.id")))
		is.Equal(f.visit(stranger, "GET", path, "").code(), "404 resource_not_found")
	}
	is.Equal(f.visit(stranger, "DELETE", "/templates/"+template, "").code(), "404 resource_not_found")
	for _, path := range []string{"/templates/x", "/templates/tmpl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "/contacts/x", "/contacts/ctc_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"} {
		is.Equal(f.visit(admin, "GET", path, "").code(), "404 resource_not_found")
	}

	// The provider never had this one: it is deleted here alone.
	got := f.visit(admin, "DELETE", "/templates/"+template, "")
	is.Equal(got.get("data.deleted"), true)
	is.Equal(f.visit(admin, "DELETE", "/templates/"+template, "").code(), "404 resource_not_found")
	is.Equal(f.visit(admin, "GET", "/audit", "").get("data").([]any)[0].(map[string]any)["action"], "template.deleted")
}

func TestAnArchivedCustomerIsRestoredOnce(t *testing.T) {
	is := is.New(t)
	f, ours, theirs := serveEverything(t)
	admin, stranger := f.signedIn(ours.Tenant, storage.RoleAdmin), f.signedIn(theirs.Tenant, storage.RoleAdmin)
	path := "/customers/" + ours.has["customers"]
	is.Equal(f.visit(admin, "DELETE", "/v1"+path, "").get("data.status"), "archived")
	is.Equal(f.visit(stranger, "POST", path+"/restore", "").code(), "404 resource_not_found")
	for range 2 {
		is.Equal(f.visit(admin, "POST", path+"/restore", "").get("data.status"), "pending")
	}

	var actions []string
	for _, entry := range f.visit(admin, "GET", "/audit", "").get("data").([]any) {
		actions = append(actions, entry.(map[string]any)["action"].(string))
	}
	is.Equal(actions[:2], []string{"customer.restored", "customer.archived"}) // restored once
}

// One person who forecasts again and again must not take the readers, nor the memory, of others.
func TestAnOrganizationForecastsOneBroadcastAtATime(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	admin := f.signedIn(ours.Tenant, storage.RoleAdmin)

	// Searches of another organization hold all places, so that forecasts wait.
	release, done := make(chan struct{}), new(sync.WaitGroup)
	held := make(chan struct{}, sqlite.MaxSearches)
	for range sqlite.MaxSearches {
		done.Go(func() {
			_ = f.db.Search(context.Background(), 99, func(*storage.Rx) error {
				held <- struct{}{}
				<-release
				return nil
			})
		})
	}
	for range sqlite.MaxSearches {
		<-held
	}

	for range 5 {
		done.Go(func() {
			got := f.visit(admin, "POST", "/"+ours.number+"/broadcasts/forecast", `{"name":"Sale","template":{"name":"spring_sale","language":"en_US",
				"components":[{"type":"body","parameters":[{"type":"text","text":"x"}]}]},"audience":{"recipients":[{"to":"+15550001111"}]}}`)
			is.Equal(got.status, 200)
		})
	}
	time.Sleep(200 * time.Millisecond)
	waiting := f.db.SearchesWaiting(ours.Tenant.Organization.ID)

	close(release)
	done.Wait()
	is.Equal(waiting, 1)
}

func TestNoSearchHitsAreAList(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	agent := f.signedIn(ours.Tenant, storage.RoleAgent)
	got := f.visit(agent, "GET", "/"+ours.number+"/search_hits?ids=msg_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "")
	is.Equal(got.status, 200)
	is.True(strings.Contains(got.body, `"data":[]`))
}
