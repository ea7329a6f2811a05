package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestAnAudienceIsCountedBeforeItIsWrittenTo(t *testing.T) {
	is := is.New(t)
	f, ours, theirs := serveEverything(t)
	admin := f.signedIn(ours.Tenant, storage.RoleAdmin)
	count := func(query string) answer { return f.visit(admin, "GET", "/"+ours.number+"/audience"+query, "") }
	is.Equal(count("").code(), "400 missing_required_field label_id")
	is.Equal(count("?label_id=x").code(), "400 invalid_field_value label_id")
	is.Equal(count("?label_id="+theirs.has["labels"]).code(), "404 resource_not_found") // another organization's

	got := count("?label_id=" + ours.has["labels"])
	is.Equal(got.status, 200)
	is.Equal(got.get("data.total"), 1.0)
	is.Equal(got.get("data.opted_out"), 0.0)
	is.Equal(got.get("data.no_consent"), 0.0) // it is not required

	storagetest.Update(t, f.db, func(tx *storage.Tx) error { return tx.MarkOptedOut(ours.has["contacts"]) })
	f.change(ours.Tenant, func(o *storage.Organization) { o.RequireOptIn = true })
	f.exec(`UPDATE contacts SET opted_in = 0, phone_number = NULL, bsuid = NULL WHERE id = ?`, ours.has["contacts"])
	admin.Organization.RequireOptIn = true
	got = count("?label_id=" + ours.has["labels"])
	is.Equal(got.get("data.opted_out"), 1.0)
	is.Equal(got.get("data.no_consent"), 1.0)
	is.Equal(got.get("data.unreachable"), 1.0)
	is.Equal(got.get("data.capped"), false)
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
