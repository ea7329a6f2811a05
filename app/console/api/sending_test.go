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
