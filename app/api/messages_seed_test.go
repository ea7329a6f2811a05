package api

import (
	"cmp"
	"fmt"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// The number that most tests write to, and a person whom they write to.
const (
	number   = "106540352242922"
	messages = "/" + number + "/messages"
	hello    = `{"messaging_product":"chat","to":"+15551234567","type":"text","text":{"body":"Hello"}}`
	promo    = `{"messaging_product":"chat","to":"+15551234567","type":"template","template":{"name":"promo","language":"en"}}`
	notice   = `{"messaging_product":"chat","to":"+15551234567","type":"template","template":{"name":"notice","language":"en"}}`
)

// serveNumber starts an API whose tenant has a connected number.
func serveNumber(t testing.TB, change ...func(*testOptions)) (*fixture, storage.Account) {
	t.Helper()
	f := serve(t, change...)
	return f, f.connect(f.tenant, number)
}

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

// exec changes what no method of storage changes yet, and drops the API's caches.
func (f *fixture) exec(query string, args ...any) {
	f.t.Helper()
	storagetest.Exec(f.t, f.dir, query, args...)
	f.db.DropCaches()
}

// effects is what requests have left in the database, as text.
func (f *fixture) effects() string {
	f.t.Helper()
	return fmt.Sprint(f.countEffects(f.t))
}
