package api

import (
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// A read receipt costs nothing, and a restriction concerns only messages. What else keeps a
// number from sending keeps receipts back too.
func TestAReadReceiptIsRefusedAsASendWouldBe(t *testing.T) {
	suspend := func(f *fixture, _ storage.Account) {
		f.change(f.tenant, func(o *storage.Organization) { o.SuspendedAt = storage.Now() })
	}
	unpaid := func(f *fixture, _ storage.Account) {
		f.change(f.tenant, func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
	}
	owned := func(status string) func(*fixture, storage.Account) {
		return func(f *fixture, _ storage.Account) { f.customer(status) }
	}
	for name, c := range map[string]struct {
		state func(*fixture, storage.Account)
		want  string
	}{
		"suspended":          {suspend, "403 organization_suspended"},
		"disconnected":       {mark(storage.AccountDisconnected), "422 upstream_error"},
		"degraded":           {mark(storage.AccountDegraded), "422 upstream_error"},
		"onboarding":         {mark(storage.AccountOnboarding), "422 whatsapp_number_not_verified"},
		"suspended customer": {owned("suspended"), "422 customer_suspended"},
		"archived customer":  {owned("archived"), "422 customer_suspended"},
		"active customer":    {owned("active"), "200"},
		"no subscription":    {unpaid, "200"},
		"restricted":         {restrict, "200"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			f, account := serveNumber(t)
			f.say(f.contact(account, "+15551230000"), received("wamid.in"))
			c.state(f, account)
			receipts := func() int {
				return storagetest.Select[int](t, f.dir, `SELECT count(*) FROM jobs WHERE kind = 'receipt'`)[0]
			}

			is.Equal(f.call("POST", messages, `{"status":"read","message_id":"wamid.x"}`).status, map[bool]int{true: 403, false: 404}[name == "suspended"])
			is.Equal(f.call("POST", messages, `{"status":"read","message_id":"wamid.in"}`).code(), c.want)
			is.Equal(receipts() == 1, c.want == "200")
		})
	}
}
