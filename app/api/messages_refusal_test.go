package api

import (
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

// customer makes an end-customer in a state the owner of the number.
func (f *fixture) customer(status string) {
	f.t.Helper()
	id := f.db.NewID("cus_")
	f.exec(`INSERT INTO customers (id, organization_id, team_id, name, status, created_at, updated_at) VALUES (?, ?, ?, 'Bakery', ?, 1, 1)`,
		id, f.tenant.Organization.ID, f.tenant.Team.ID, status)
	f.exec(`UPDATE accounts SET customer_id = ? WHERE phone_number_id = ?`, id, number)
}

// refusal is a state in which a send is refused, and how.
type refusal struct {
	name  string
	state func(*fixture, storage.Account)
	body  string
	want  string
}

// refusals are the states in which a send is refused, with some beside them in
// which it is not.
func refusals(t testing.TB) []refusal {
	t.Helper()
	return []refusal{
		{"the customer is suspended", func(f *fixture, _ storage.Account) { f.customer("suspended") }, hello, "422 customer_suspended"},
		{"the customer is archived", func(f *fixture, _ storage.Account) { f.customer("archived") }, hello, "422 customer_suspended"},
		{"the customer is active", func(f *fixture, _ storage.Account) { f.customer("active") }, hello, "200"},
		{"the customer is pending", func(f *fixture, _ storage.Account) { f.customer("pending") }, hello, "200"},
		{"the account is restricted", restrict, hello, "422 account_restricted"},
		{"the number is being set up", mark(storage.AccountOnboarding), hello, "422 whatsapp_number_not_verified"},
		{"the account is disconnected", mark(storage.AccountDisconnected), hello, "422 upstream_error"},
		{"the account is degraded", mark(storage.AccountDegraded), hello, "422 upstream_error"},
		{"marketing to one who opted out", optOut, promo, "422 marketing_opted_out"},
		{"no marketing to one who opted out", optOut, notice, "200"},
		{"a text to one who opted out", optOut, hello, "200"},
		{"marketing to an alias of one who opted out", optOutAlias, promo, "422 marketing_opted_out"},
		{"a template to an alias of one who opted in", func(f *fixture, a storage.Account) { demandOptInOf(f); optOutAlias(f, a) }, notice, "200"},
		{"a template to one who did not opt in", demandOptIn, notice, "422 consent_required"},
		{"a template to a stranger", func(f *fixture, _ storage.Account) { demandOptInOf(f) }, notice, "422 consent_required"},
		{"a text to one who did not opt in", demandOptIn, hello, "200"},
		{"a template to one who opted in", func(f *fixture, a storage.Account) {
			demandOptIn(f, a)
			f.exec(`UPDATE contacts SET opted_in = 1`)
		}, notice, "200"},
		{"no subscription", func(f *fixture, _ storage.Account) {
			f.change(f.tenant, func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
		}, hello, "402 subscription_inactive"},
		{"the quota is used up", func(f *fixture, _ storage.Account) {
			f.change(f.tenant, func(o *storage.Organization) { o.Plan = "two" })
			f.count(2)
		}, hello, "402 quota_exceeded"},
		{"one is left", func(f *fixture, _ storage.Account) {
			f.change(f.tenant, func(o *storage.Organization) { o.Plan = "two" })
			f.count(1)
		}, hello, "200"},
		{"last month was busy", func(f *fixture, _ storage.Account) {
			f.change(f.tenant, func(o *storage.Organization) { o.Plan = "two" })
			f.exec(`INSERT INTO usage (organization_id, month, messages) VALUES (?, 202001, 1000)`, f.tenant.Organization.ID)
		}, hello, "200"},
		{"another organization is busy", func(f *fixture, _ storage.Account) {
			f.change(f.tenant, func(o *storage.Organization) { o.Plan = "two" })
			f.tenant = storagetest.Seed(f.t, f.db, "Busy")
			f.count(1000)
		}, hello, "200"},
		{"a file that is not in the library", nothing, message("image", `{"id":"med_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}`), "422 media_not_found image.id"},
		{"a file that is none", nothing, message("document", `{"id":"x"}`), "422 media_not_found document.id"},
		{"a header that is not in the library", nothing, message("interactive", `{"type":"button","header":{"type":"video","video":{"id":"med_x"}},"body":{"text":"b"},`+
			`"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}`), "422 media_not_found interactive.header.video.id"},
		{"an unknown template", nothing, storagetest.Swap(t, notice, "notice", "nope"), "400 invalid_template_name template.name"},
		{"an unknown language", nothing, storagetest.Swap(t, notice, `"en"`, `"de"`), "400 invalid_template_name template.name"},
		{"a name that no template can have", nothing, storagetest.Swap(t, notice, "notice", "No!"), "400 invalid_template_name template.name"},
		{"a parameter too many", nothing, storagetest.Swap(t, notice, `"en"`, `"en","components":[{"type":"body","parameters":[{"type":"text","text":"x"}]}]`),
			"400 invalid_field_value template.components[0].parameters"},
		{"a number that is none", nothing, storagetest.Swap(t, hello, "+1555", "+0555"), "400 invalid_phone_number to"},
		{"nothing at all", nothing, `{}`, "400 missing_required_field type"},
		{"no JSON", nothing, `{`, "400 invalid_json"},
		{"a receipt for what nobody received", nothing, `{"status":"read","message_id":"wamid.x"}`, "404 resource_not_found"},
	}
}

func nothing(*fixture, storage.Account) {}

func restrict(f *fixture, a storage.Account) {
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.SetRestricted(a.ID, true) })
}

func mark(status string) func(*fixture, storage.Account) {
	return func(f *fixture, a storage.Account) {
		storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.MarkAccountStatus(a.ID, status, "a test") })
	}
}

func optOut(f *fixture, a storage.Account) {
	c := f.contact(a, "+15551234567")
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.MarkOptedOut(c.ID) })
}

// optOutAlias makes the number an alias of somebody who wrote, and wants no marketing.
func optOutAlias(f *fixture, a storage.Account) {
	c := f.contact(a, "+15551234568")
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error {
		c.OptedIn, c.MarketingOptedOut = true, true
		if err := tx.UpdateContact(&c); err != nil {
			return err
		}
		return tx.AddAlias(c, "+15551234567")
	})
}

func demandOptIn(f *fixture, a storage.Account) {
	f.contact(a, "+15551234567")
	demandOptInOf(f)
}

func demandOptInOf(f *fixture) {
	f.change(f.tenant, func(o *storage.Organization) { o.RequireOptIn = true })
}

// count counts messages that were accepted this month.
func (f *fixture) count(n int) {
	f.t.Helper()
	for range n {
		storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { tx.CountMessage(f.tenant.Organization.ID); return nil })
	}
}

// quota adds a plan of two messages a month.
func quota(o *testOptions) { o.Plans["two"] = rest.Plan{API: true, MonthlyMessages: 2} }

// refused brings about a state of the table and sends.
func refused(name string) func(*fixture) answer {
	return func(f *fixture) answer {
		account := f.connect(f.tenant, number)
		for _, r := range refusals(f.t) {
			if r.name == name {
				r.state(f, account)
				return f.call("POST", messages, r.body)
			}
		}
		f.t.Fatalf("no refusal is called %q", name)
		return answer{}
	}
}

func TestARefusedSendLeavesNothingBehind(t *testing.T) {
	for _, tt := range refusals(t) {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			f, account := serveNumber(t, quota)
			secret := f.tenant.Secret
			tt.state(f, account)
			before := f.effects()
			got := f.callAs(secret, "POST", messages, tt.body, "Idempotency-Key: a")
			is.Equal(got.code(), tt.want)
			if got.status == 200 {
				is.True(f.effects() != before)
				return
			}
			is.Equal(f.effects(), before)
			is.Equal(got.get("error.type"), string(rest.CodeNamed(got.text("error.code")).ErrorType))
		})
	}
}

func TestARefusedSendMayBeRepeatedUnderItsKeyOnceItIsAllowed(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	mark(storage.AccountDisconnected)(f, account)
	is.Equal(f.call("POST", messages, hello, "Idempotency-Key: a").code(), "422 upstream_error")
	mark(storage.AccountConnected)(f, account)
	got := f.call("POST", messages, hello, "Idempotency-Key: a")
	is.Equal(got.status, 200)
	is.Equal(got.header.Get("Idempotent-Replayed"), "")
}

func TestTheFirstRefusalInTheContractsOrderIsTold(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t, quota)
	// Everything is wrong at once; each step mends the reported fault.
	f.change(f.tenant, func(o *storage.Organization) {
		o.Plan, o.RequireOptIn, o.Subscription = "two", true, storage.SubscriptionInactive
	})
	f.count(2)
	f.customer("suspended")
	restrict(f, account)
	mark(storage.AccountDisconnected)(f, account)
	optOut(f, account)
	bad := storagetest.Swap(t, promo, "promo", "nope")
	is.Equal(f.call("POST", "/1065403522429/messages", `{`).code(), "404 resource_not_found")
	is.Equal(f.call("POST", messages, `{`).code(), "400 invalid_json")
	is.Equal(f.call("POST", messages, storagetest.Swap(t, bad, "+1555", "x")).code(), "400 invalid_phone_number to")
	is.Equal(f.call("POST", messages, bad).code(), "400 invalid_template_name template.name")
	is.Equal(f.call("POST", messages, promo).code(), "402 subscription_inactive")
	f.exec(`UPDATE organizations SET subscription = 'active'`)
	is.Equal(f.call("POST", messages, promo).code(), "402 quota_exceeded")
	f.exec(`UPDATE organizations SET plan = 'self_hosted'`)
	is.Equal(f.call("POST", messages, promo).code(), "422 customer_suspended")
	f.exec(`UPDATE customers SET status = 'active'`)
	is.Equal(f.call("POST", messages, promo).code(), "422 account_restricted")
	f.exec(`UPDATE accounts SET restricted = 0`)
	is.Equal(f.call("POST", messages, promo).code(), "422 upstream_error")
	f.exec(`UPDATE accounts SET status = 'connected'`)
	is.Equal(f.call("POST", messages, promo).code(), "422 marketing_opted_out")
	f.exec(`UPDATE contacts SET marketing_opted_out = 0`)
	is.Equal(f.call("POST", messages, promo).code(), "422 consent_required")
	f.exec(`UPDATE contacts SET opted_in = 1`)
	is.Equal(f.call("POST", messages, promo).code(), "200")
}

func TestAQuotaIsUsedUpByWhatWasAccepted(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t, quota)
	f.change(f.tenant, func(o *storage.Organization) { o.Plan = "two" })
	is.Equal(f.call("POST", messages, hello, "Idempotency-Key: a").status, 200)
	is.Equal(f.call("POST", messages, hello, "Idempotency-Key: a").status, 200) // the same message again
	is.Equal(f.call("POST", messages, `{}`).status, 400)
	is.Equal(f.call("POST", messages, hello).status, 200)
	is.Equal(f.call("POST", messages, hello).code(), "402 quota_exceeded")
	is.Equal(f.call("POST", messages, hello, "Idempotency-Key: a").status, 200) // what was done stays answered
}

func TestANumberOfAnotherOrganizationIsMissing(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	other := storagetest.Seed(t, f.db, "Other")
	f.connect(other, "206540352242922")
	foreign := f.say(f.contact(account, "+15551234567"), received("wamid.1"))[0]
	before := f.effects()
	for _, path := range []string{number, "306540352242922", "12345", "123456789012345678901", "1065a0352242922", "106540352242922x", "1065403%2042922"} {
		for _, body := range []string{hello, `{`, `{}`, `{"status":"read","message_id":"wamid.1"}`} {
			got := f.callAs(other.Secret, "POST", "/"+path+"/messages", body)
			is.Equal(got.code(), "404 resource_not_found")
		}
		for _, rest := range []string{"", "?limit=0", "/" + foreign.ID, "/" + foreign.ID + "/media"} {
			is.Equal(f.callAs(other.Secret, "GET", "/"+path+"/messages"+rest, "").code(), "404 resource_not_found")
		}
	}
	own := "/206540352242922/messages" // a message of another number is missing under this one
	is.Equal(f.callAs(other.Secret, "GET", own+"/"+foreign.ID, "").code(), "404 resource_not_found")
	is.Equal(f.callAs(other.Secret, "GET", own+"/"+foreign.ID+"/media", "").code(), "404 resource_not_found")
	is.Equal(f.callAs(other.Secret, "POST", own, `{"status":"read","message_id":"wamid.1"}`).code(), "404 resource_not_found")
	is.Equal(f.callAs(other.Secret, "GET", own+"?contact_id="+foreign.ContactID, "").ids(), nil)
	is.Equal(f.callAs(other.Secret, "GET", own+"?conversation_id="+foreign.ConversationID, "").ids(), nil)
	is.Equal(f.effects(), before)
}

func TestARemovedNumberIsMissing(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	is.Equal(f.call("POST", messages, hello).status, 200)
	storagetest.Exec(t, f.dir, `UPDATE accounts SET deleted_at = 1`)
	is.Equal(f.call("POST", messages, hello).code(), "404 resource_not_found") // even while it is cached
	f.db.DropCaches()
	is.Equal(f.call("GET", messages, "").code(), "404 resource_not_found")
}
