package api

import (
	"testing"

	"github.com/matryer/is"

	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

// No one knows the PIN of a number that was connected through a setup link: it was made up
// for it, and is kept.
func TestANumberIsRepairedByThePINThatIsKept(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{PIN: "123456"})
	u.mark(storage.AccountDegraded)
	is.Equal(u.call("POST", register, `{}`).code(), "400 missing_required_field pin") // none is kept
	is.Equal(u.call("POST", register, `{"pin":""}`).code(), "400 invalid_field_value pin")
	is.Equal(u.asked.count("register"), 0)

	storagetest.Update(t, u.db, func(tx *storage.Tx) error { return tx.SetPIN(u.account, "123456") })
	is.Equal(u.call("POST", register, `{}`).get("data.status"), "connected")
	is.Equal(u.detail().StatusReason, nil)
	is.Equal(u.pin(), "123456")

	u.mark(storage.AccountDegraded)
	is.Equal(u.call("POST", register, "").get("data.status"), "connected")
	is.Equal(u.call("POST", register, "").get("data.status"), "connected") // and is left alone then

	u.mark(storage.AccountDegraded)
	is.Equal(u.call("POST", register, wrongPIN).code(), "422 whatsapp_registration_failed") // a given PIN counts
	is.Equal(u.pin(), "123456")

	u.exec(`UPDATE accounts SET pin = x'00' WHERE id = ?`, u.account.ID)
	is.Equal(u.call("POST", register, "").code(), "400 missing_required_field pin") // it cannot be read
}

// What the provider reports by a callback while it registers a number is newer than its answer.
func TestARegistrationKeepsWhatACallbackSaid(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{PIN: "123456"})
	u.mark(storage.AccountDegraded)
	u.meanwhile = func() {
		storagetest.Update(t, u.db, func(tx *storage.Tx) error { return tx.SetRestricted(u.account.ID, true) })
	}
	is.Equal(u.call("POST", register, `{"pin":"123456"}`).get("data.status"), "connected")
	is.True(u.detail().Restricted)

	u.mark(storage.AccountDegraded)
	u.meanwhile = func() { u.mark(storage.AccountDisconnected) }
	is.Equal(u.call("POST", register, `{"pin":"123456"}`).get("data.status"), "disconnected")
}

// A PIN is asked for only where one is needed.
func TestARegistrationThatNeedsNoPINAsksForNone(t *testing.T) {
	is := is.New(t)
	connected := serveUpstream(t, simulator.Number{PIN: "123456"})
	for _, body := range []string{"", "{}"} {
		got := connected.call("POST", register, body)
		is.Equal(got.get("data.registered"), true)
		is.Equal(connected.asked.count(""), 0)
	}

	shared := serveUpstream(t, simulator.Number{IsOnBizApp: true})
	shared.mark(storage.AccountDegraded)
	is.Equal(shared.call("POST", register, `{}`).get("data.status"), "connected")
	is.Equal(shared.asked.count("register"), 0)
	is.Equal(shared.pin(), "")
}
