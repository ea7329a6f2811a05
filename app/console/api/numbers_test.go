package api

import (
	"context"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/simulator"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
	"confab/storage/storagetest"
)

// claimed is the body that connects a number.
func claimed(n simulator.Number, token string) string {
	return `{"phone_number_id":"` + n.PhoneNumberID + `","waba_id":"` + n.WABAID + `","access_token":"` + token + `"}`
}

func TestANumberIsConnectedInTheConsole(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	admin := u.signedIn(u.tenant, storage.RoleAdmin)
	token := u.sim.Credentials().AccessToken
	n, err := u.sim.AddNumber(simulator.Number{Status: "PENDING", PIN: "123456"})
	is.NoErr(err)

	before := u.effects()
	for body, want := range map[string]string{
		`{}`:                      "400 missing_required_field phone_number_id",
		`{"phone_number_id":"x"}`: "400 invalid_field_value phone_number_id",
		`{"phone_number_id":"` + n.PhoneNumberID + `"}`:                              "400 missing_required_field waba_id",
		`{"phone_number_id":"` + n.PhoneNumberID + `","waba_id":"` + n.WABAID + `"}`: "400 missing_required_field access_token",
		claimed(n, "EAAwrong"):     "400 invalid_field_value access_token",
		claimed(n, "with a space"): "400 invalid_field_value access_token",
		claimed(simulator.Number{PhoneNumberID: n.PhoneNumberID, WABAID: "1234567"}, token): "400 invalid_field_value access_token",
		claimed(u.number, token):                                                                    "400 invalid_field_value phone_number_id", // connected already
		strings.Replace(claimed(n, token), "{", `{"pin":"12",`, 1):                                  "400 invalid_field_value pin",
		strings.Replace(claimed(n, token), "{", `{"team_id":"team_01JQ0Z8M4T9V2X3W5Y6A7B8C9D",`, 1): "404 resource_not_found",
	} {
		is.Equal(u.visit(admin, "POST", "/numbers", body).code(), want)
	}
	is.Equal(u.effects(), before)

	got := u.visit(admin, "POST", "/numbers", claimed(n, token))
	is.Equal(got.status, 201)
	is.Equal(got.get("data.status"), "onboarding") // it waits for its PIN
	is.True(!strings.Contains(got.body, token))
	is.Equal(u.visit(admin, "POST", "/v1/"+n.PhoneNumberID+"/register", `{"pin":"123456"}`).get("data.registered"), true)

	// It is disconnected, and connected again.
	got = u.visit(admin, "POST", "/"+n.PhoneNumberID+"/disconnect", "")
	is.Equal([]any{got.status, got.get("data.status")}, []any{200, "disconnected"})
	got = u.visit(admin, "POST", "/numbers", claimed(n, token))
	is.Equal([]any{got.status, got.get("data.status")}, []any{201, "connected"})
	got = u.visit(admin, "POST", "/"+n.PhoneNumberID+"/check", "")
	is.Equal([]any{got.status, got.get("data.status")}, []any{200, "connected"})

	var actions []string
	storagetest.View(t, u.db, func(rx *storage.Rx) error {
		all, _, err := rx.AuditEntries(u.tenant.Organization.ID, storage.AuditFilter{}, storage.First, 10)
		for _, e := range all {
			actions = append(actions, e.Action+" "+*e.AuditTarget.ID)
		}
		return err
	})
	is.Equal(actions, []string{"number.connected " + n.PhoneNumberID, "number.disconnected " + n.PhoneNumberID, "number.registered " + n.PhoneNumberID, "number.connected " + n.PhoneNumberID})
}

func TestANumberOfAnotherOrganizationIsNotTaken(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	u.mark(storage.AccountDisconnected)
	stranger := u.signedIn(storagetest.Seed(t, u.db, "Other"), storage.RoleAdmin)
	is.Equal(u.visit(stranger, "POST", "/numbers", claimed(u.number, u.sim.Credentials().AccessToken)).code(), "400 invalid_field_value phone_number_id")
}

func TestACheckTellsThatATokenExpired(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	admin := u.signedIn(u.tenant, storage.RoleAdmin)
	storagetest.Update(t, u.db, func(tx *storage.Tx) error { return tx.SetAccessToken(u.account, "EAAold") })
	is.Equal(u.visit(admin, "POST", "/"+number+"/check", "").code(), "422 upstream_error")
	is.Equal(u.detail().Status, storage.AccountDegraded)
	u.fault(`{"kind":"http_500","endpoint":"all","times":1}`)
	is.Equal(u.visit(admin, "POST", "/numbers", claimed(u.number, u.sim.Credentials().AccessToken)).code(), "502 whatsapp_upstream_error")
}

func TestOnlyASandboxMakesNumbersUp(t *testing.T) {
	is := is.New(t)
	var u *upstreamed
	u = serveUpstream(t, simulator.Number{}, func(o *testOptions) {
		o.InventNumber = func(_ context.Context, name, phone string) (c provisioning.NumberClaim, err error) {
			n, err := u.sim.AddNumber(simulator.Number{VerifiedName: name, DisplayPhoneNumber: phone})
			c.PhoneNumberID, c.WABAID = n.PhoneNumberID, n.WABAID
			c.Token = provider.NewToken(u.sim.Credentials().AccessToken)
			return c, err
		}
	})
	admin := u.signedIn(u.tenant, storage.RoleAdmin)
	got := u.visit(admin, "POST", "/numbers", `{"name":"Second shop","phone_number":"+15550783999"}`)
	is.Equal([]any{got.status, got.get("data.name"), got.get("data.phone_number"), got.get("data.status")}, []any{201, "Second shop", "+15550783999", "connected"})
	is.Equal(u.visit(admin, "POST", "/numbers", `{"phone_number":"12"}`).code(), "400 invalid_phone_number phone_number")
	is.Equal(u.visit(admin, "POST", "/numbers", `{"name":""}`).code(), "400 invalid_field_value name")
	is.Equal(u.visit(admin, "POST", "/numbers", `{}`).status, 201)
}

func TestANumberIsRemovedInTheConsole(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	admin := u.signedIn(u.tenant, storage.RoleAdmin)
	got := u.visit(admin, "DELETE", "/"+u.number.PhoneNumberID, "")
	is.Equal([]any{got.status, got.get("data.disconnected")}, []any{200, true})
	is.Equal(u.audited(admin), []string{"user number.removed " + u.number.PhoneNumberID})
	is.Equal(u.visit(admin, "DELETE", "/"+u.number.PhoneNumberID, "").code(), "404 resource_not_found")
	is.True(!strings.Contains(u.visit(admin, "GET", "/v1/accounts?status=all", "").body, u.number.PhoneNumberID))
}
