package api

import (
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

// Everything that would refuse a send says so before anyone writes, in the same words.
func TestPeopleKnowBeforehandThatNothingCanBeSent(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.connect(f.tenant, number)
	who := f.signedIn(f.tenant, storage.RoleAgent)
	sending := func() answer { return f.visit(who, "GET", "/"+number+"/sending", "") }
	is.Equal(sending().get("data.refusal"), nil)

	for _, change := range []struct{ state, back, code string }{
		{`UPDATE accounts SET restricted = 1`, `UPDATE accounts SET restricted = 0`, "account_restricted"},
		{`UPDATE accounts SET status = 'onboarding'`, `UPDATE accounts SET status = 'connected'`, "whatsapp_number_not_verified"},
		{`UPDATE accounts SET status = 'degraded'`, `UPDATE accounts SET status = 'connected'`, "upstream_error"},
		{`UPDATE organizations SET subscription = 'inactive'`, `UPDATE organizations SET subscription = 'active'`, "subscription_inactive"},
	} {
		f.exec(change.state)
		f.db.DropCaches()
		got := sending()
		is.Equal(got.get("data.refusal.code"), change.code)
		sent := f.call("POST", "/"+number+"/messages", `{"messaging_product":"chat","to":"+15550001111","type":"text","text":{"body":"x"}}`)
		is.Equal(sent.get("error.code"), change.code)
		is.Equal(sent.get("error.message"), got.get("data.refusal.message"))
		f.exec(change.back)
		f.db.DropCaches()
	}
	is.Equal(sending().get("data.refusal"), nil)
	is.Equal(f.visit(who, "GET", "/000/sending", "").status, 404)
}

// Why a template cannot be sent to somebody is known before it is chosen.
func TestPeopleKnowBeforehandWhoTakesNoTemplates(t *testing.T) {
	is := is.New(t)
	f, ours, theirs := serveEverything(t)
	who := f.signedIn(ours.Tenant, storage.RoleAgent)
	refusals := func() []any {
		got := f.visit(who, "GET", "/"+ours.number+"/sending?contact_id="+ours.has["contacts"], "")
		return []any{got.get("data.template.code"), got.get("data.marketing.code")}
	}
	f.exec(`UPDATE contacts SET opted_in = 0`)
	is.Equal(refusals(), []any{nil, nil})
	f.exec(`UPDATE contacts SET marketing_opted_out = 1`)
	is.Equal(refusals(), []any{nil, "marketing_opted_out"})
	f.exec(`UPDATE organizations SET require_opt_in = 1`)
	f.db.DropCaches()
	is.Equal(refusals(), []any{"consent_required", "marketing_opted_out"})
	is.Equal(f.visit(who, "GET", "/"+ours.number+"/sending?contact_id="+theirs.has["contacts"], "").status, 404)
}
