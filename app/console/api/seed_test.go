package api

import (
	"cmp"
	"strconv"
	"testing"

	"confab/jobs/guard"
	"confab/jobs/guard/guardtest"
	"confab/storage"
	"confab/storage/storagetest"
)

const (
	// number is that of most tests.
	number     = "106540352242922"
	hooks      = "/webhook_subscriptions"
	deliveries = "/webhook_deliveries"
	// hook is a body that makes a subscription to everything.
	hook = `{"url":"https://shop.test/hook","events":["*"]}`
)

// attach is the body that attaches a label.
func attach(label string) string { return `{"label_id":"` + label + `"}` }

// connect gives a tenant a connected number with two templates: promo, which is
// marketing, and notice, which is not.
func (f *fixture) connect(tenant storagetest.Tenant, phoneNumberID string) storage.Account {
	f.t.Helper()
	phone, waba, name := "+1555"+phoneNumberID[len(phoneNumberID)-7:], "102290129340398", "Acme"
	a := storage.Account{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, PhoneNumberID: &phoneNumberID, WABAID: &waba,
		PhoneNumber: &phone, Name: &name, Status: storage.AccountConnected}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.InsertAccount(&a, "token") })
	f.template(a, storage.Template{Name: "promo", Category: "MARKETING", Components: storage.JSON(`[{"type":"BODY","text":"Buy!"}]`)})
	f.template(a, storage.Template{Name: "notice", Category: "UTILITY", Components: storage.JSON(`[{"type":"BODY","text":"It is here."}]`)})
	return a
}

// template stores an English template of an account.
func (f *fixture) template(a storage.Account, t storage.Template) {
	f.t.Helper()
	t.AccountID, t.Language, t.Status = a.ID, cmp.Or(t.Language, "en"), "approved"
	if t.ParameterFormat == "" {
		t.ParameterFormat = "POSITIONAL"
	}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.InsertTemplate(&t) })
}

// contact stores a person whom an account knows by number.
func (f *fixture) contact(a storage.Account, phone string) storage.Contact {
	f.t.Helper()
	c := storage.Contact{AccountID: a.ID, PhoneNumber: &phone}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.InsertContact(&c) })
	return c
}

// say stores messages in a contact's conversation, all made at the same instant,
// and returns them, oldest first.
func (f *fixture) say(c storage.Contact, all ...storage.Message) []storage.Message {
	f.t.Helper()
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error {
		conversation, err := tx.EnsureConversation(c.AccountID, c.ID)
		if err != nil {
			return err
		}
		for i := range all {
			m := &all[i]
			m.AccountID, m.ContactID, m.ConversationID = c.AccountID, c.ID, conversation.ID
			if err := tx.InsertMessage(m); err != nil {
				return err
			}
		}
		return nil
	})
	return all
}

// received is an inbound text.
func received(providerID string) storage.Message {
	return storage.Message{Direction: storage.Inbound, Type: "text", Status: storage.MessageDelivered, Source: "app",
		ProviderID: &providerID, Content: storage.JSON(`{"body":"Hi"}`)}
}

// written is an outbound message of a type in a state.
func written(kind, status string) storage.Message {
	return storage.Message{Direction: storage.Outbound, Type: kind, Status: status, Source: storage.SourceAPI, Content: storage.JSON(`{"body":"Hello"}`)}
}

// labelOf makes a label of a team.
func (f *fixture) labelOf(tenant storagetest.Tenant, team int64, name string) string {
	f.t.Helper()
	l := storage.Label{OrganizationID: tenant.Organization.ID, TeamID: team, Name: name, Color: "red"}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.InsertLabel(&l) })
	return l.ID
}

// emit stores an event of a number, or with "" of none, and returns its id.
func (f *fixture) emit(tenant storagetest.Tenant, kind, number string, at ...storage.Time) (id string) {
	f.t.Helper()
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error {
		id = tx.NewID(storage.PrefixEvent)
		if len(at) > 0 {
			tx.Now = at[0]
		}
		e := storage.Event{ID: id, OrganizationID: tenant.Organization.ID, Type: kind, Source: "svc", EventID: id + ":x", Payload: []byte(`{"exact": "bytes"}`)}
		if number != "" {
			account, err := tx.AccountByNumber(number)
			if err != nil {
				return err
			}
			e.AccountID = &account.ID
		}
		return tx.InsertEvent(e, number)
	})
	return id
}

// jobOf is the number of a job of an organization.
func (f *fixture) jobOf(tenant storagetest.Tenant) (id string) {
	f.t.Helper()
	storagetest.View(f.t, f.db, func(rx *storage.Rx) error {
		all, _, err := rx.JobsOfOrganization(tenant.Organization.ID, storage.JobFilter{Limit: 1}, 0)
		id = strconv.FormatInt(all[0].ID, 10)
		return err
	})
	return id
}

// withNames lets the API ask for names in memory: shop.test is public.
func withNames(t testing.TB) func(*testOptions) {
	names := &guardtest.NameServer{Answers: map[string][]string{
		"shop.test": {"93.184.216.34"}, "inside.test": {"10.1.2.3"}, "both.test": {"93.184.216.34 127.0.0.1"}, "six.test/6": {"fd00::1"}, "six.test": {"93.184.216.34"},
	}}
	fetch := guard.New(guard.Options{Resolver: names.Resolver(t)})
	t.Cleanup(fetch.Close)
	return func(o *testOptions) { o.Fetch = fetch }
}

// serveHooks starts an API for webhook subscriptions.
func serveHooks(t testing.TB, change ...func(*testOptions)) *fixture {
	t.Helper()
	return serve(t, append([]func(*testOptions){withNames(t)}, change...)...)
}

// disable makes a subscription one that confab disabled.
func (f *fixture) disable(id string) {
	f.t.Helper()
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.DisableSubscription(id, storage.ReasonFailures) })
}

// settle gives a delivery the state that a worker would have given it.
func (f *fixture) settle(id, status string) {
	f.t.Helper()
	storagetest.Exec(f.t, f.dir, `
		UPDATE deliveries
		SET status = ?, attempt_count = 2, last_attempt_at = created_at, response_status = 500, response_body_snippet = 'oops', duration_ms = 12,
			error_code = 'http_error', error_message = 'the endpoint answered 500', next_attempt_at = 0
		WHERE id = ?`, status, id)
	storagetest.Exec(f.t, f.dir, `
		INSERT INTO delivery_hours
		SELECT subscription_id, created_at - created_at % 3600000, status = 'succeeded', status = 'dead', 0
		FROM deliveries
		WHERE id = ? AND status IN ('succeeded', 'dead')
		ON CONFLICT DO UPDATE SET succeeded = succeeded + excluded.succeeded, dead = dead + excluded.dead`, id)
	for attempt := range 2 {
		storagetest.Exec(f.t, f.dir, `
			INSERT OR IGNORE INTO delivery_attempts (delivery_id, attempt, attempted_at, response_status, duration_ms, error_code, error_message, response_body_snippet)
			SELECT id, ?, created_at, 500, 12, 'http_error', 'the endpoint answered 500', 'oops' FROM deliveries WHERE id = ?`, attempt+1, id)
	}
}
