package api

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

const (
	register = "/" + number + "/register"
	rightPIN = `{"pin":"123456"}`
	wrongPIN = `{"pin":"654321"}`
)

// serveUnregistered starts an API whose number is verified and not registered.
func serveUnregistered(t testing.TB) *upstreamed {
	t.Helper()
	u := serveUpstream(t, simulator.Number{Status: "PENDING", PIN: "123456", DisplayPhoneNumber: "+1 555 078 3881", VerifiedName: "Acme Shop"})
	u.mark(storage.AccountOnboarding)
	return u
}

// connectDegraded gives the tenant a number that needs its PIN.
func (f *fixture) connectDegraded() {
	f.t.Helper()
	a := f.connect(f.tenant, number)
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.MarkAccountStatus(a.ID, storage.AccountDegraded, "a test") })
}

// registered registers at a provider that has one answer.
func registered(status int, body string) func(*fixture) answer {
	return func(f *fixture) answer {
		f.connectDegraded()
		f.upstream.answer = func(*http.Request) (int, string) { return status, body }
		return f.call("POST", register, rightPIN)
	}
}

// pin opens the PIN that is kept of the number, "" for none.
func (u *upstreamed) pin() string {
	u.t.Helper()
	rows := storagetest.Select[[]byte](u.t, u.dir, `SELECT coalesce(pin, x'') FROM accounts WHERE id = ?`, u.account.ID)
	if len(rows[0]) == 0 {
		return ""
	}
	pin, err := u.db.Unseal("PIN of "+u.account.PublicID, rows[0])
	if err != nil {
		u.t.Fatal(err)
	}
	return string(pin)
}

func TestARegisteredNumberIsConnected(t *testing.T) {
	is := is.New(t)
	u := serveUnregistered(t)
	is.Equal(u.call("POST", messages, hello).code(), "422 whatsapp_number_not_verified")
	got := u.call("POST", register, rightPIN)
	is.Equal(got.status, 200)
	golden(t, "registration", got.body)

	a := u.detail()
	is.Equal(a.Status, storage.AccountConnected)
	is.Equal(a.StatusReason, nil)
	is.Equal(*a.ProviderStatus, "CONNECTED")
	is.Equal(*a.PhoneNumber, "+15550783881")
	is.Equal(*a.Name, "Acme Shop")
	is.True(a.OnboardedAt > 0)
	is.Equal(u.pin(), "123456") // kept, and sealed
	is.Equal(u.call("POST", messages, hello).status, 200)
}

func TestAConnectedNumberIsNotRegisteredAgain(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{PIN: "123456"})
	got := u.call("POST", register, wrongPIN)
	is.Equal(got.status, 200)
	is.Equal(got.get("data.registered"), true)
	is.Equal(got.get("data.status"), "connected")
	is.Equal(u.asked.count(""), 0) // the provider was not asked
	is.Equal(u.pin(), "")
}

func TestADegradedNumberIsRepairedByItsPIN(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{PIN: "123456"})
	u.mark(storage.AccountDegraded)
	is.Equal(u.call("POST", register, wrongPIN).code(), "422 whatsapp_registration_failed")
	is.Equal(u.detail().Status, storage.AccountDegraded)
	is.Equal(u.call("POST", register, rightPIN).get("data.status"), "connected")
	is.Equal(u.detail().StatusReason, nil)
}

func TestTheFirstPINBecomesTheNumbers(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{Status: "DISCONNECTED"})
	u.mark(storage.AccountDisconnected)
	is.Equal(u.call("POST", register, wrongPIN).status, 200)
	is.Equal(u.pin(), "654321")
	u.mark(storage.AccountDegraded)
	is.Equal(u.call("POST", register, rightPIN).code(), "422 whatsapp_registration_failed")
	is.Equal(u.pin(), "654321") // a PIN that was refused is not kept
}

func TestRefusedRegistrationsLeaveTheAccountAsItWas(t *testing.T) {
	for name, c := range map[string]struct {
		fault, body, want string
	}{
		"a wrong PIN":               {"", wrongPIN, "422 whatsapp_registration_failed"},
		"a cooldown":                {`{"kind":"error_code","code":133016,"endpoint":"register"}`, rightPIN, "422 whatsapp_registration_failed"},
		"too many guesses":          {`{"kind":"error_code","code":133008,"endpoint":"register"}`, rightPIN, "422 whatsapp_registration_failed"},
		"not deregistered":          {`{"kind":"error_code","code":133000,"endpoint":"register"}`, rightPIN, "422 whatsapp_registration_failed"},
		"a locked account":          {`{"kind":"error_code","code":131031,"endpoint":"register"}`, rightPIN, "422 whatsapp_registration_failed"},
		"terms not accepted":        {`{"kind":"error_code","code":200,"endpoint":"register"}`, rightPIN, "422 whatsapp_registration_failed"},
		"a missing permission":      {`{"kind":"error_code","code":10,"endpoint":"register"}`, rightPIN, "422 whatsapp_registration_failed"},
		"a rate limit":              {`{"kind":"rate_limit","endpoint":"register"}`, rightPIN, "422 whatsapp_registration_failed"},
		"a broken provider":         {`{"kind":"http_500","endpoint":"register"}`, rightPIN, "502 whatsapp_upstream_error"},
		"a provider out of service": {`{"kind":"error_code","code":133004,"endpoint":"register"}`, rightPIN, "502 whatsapp_upstream_error"},
		"no answer":                 {`{"kind":"drop_connection","endpoint":"register"}`, rightPIN, "502 whatsapp_upstream_error"},
		"a number that is unknown":  {`{"kind":"http_500","endpoint":"all"}`, rightPIN, "502 whatsapp_upstream_error"},
		"no PIN":                    {"", `{}`, "400 missing_required_field pin"},
		"null":                      {"", `{"pin":null}`, "400 missing_required_field pin"},
		"a short PIN":               {"", `{"pin":"12345"}`, "400 invalid_field_value pin"},
		"a long PIN":                {"", `{"pin":"1234567"}`, "400 invalid_field_value pin"},
		"a word":                    {"", `{"pin":"abcdef"}`, "400 invalid_field_value pin"},
		"foreign digits":            {"", `{"pin":"١٢٣٤٥٦"}`, "400 invalid_field_value pin"},
		"a number":                  {"", `{"pin":123456}`, "400 invalid_field_value pin"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			u := serveUnregistered(t)
			if c.fault != "" {
				u.fault(c.fault)
			}
			before := u.detail()
			is.Equal(u.call("POST", register, c.body).code(), c.want)
			after := u.detail()
			is.Equal(after.CooldownUntil != 0, name == "a rate limit") // which holds for messages too
			after.CooldownUntil = 0
			is.Equal(after, before)
			is.Equal(u.pin(), "")
			is.Equal(u.call("POST", register, rightPIN).status, 200) // and another try is free
		})
	}
}

func TestARegistrationWithABadTokenDegradesTheAccount(t *testing.T) {
	is := is.New(t)
	u := serveUnregistered(t)
	u.control("POST", "/tokens", `{"access_token":"`+u.sim.Credentials().AccessToken+`","state":"expired"}`)
	is.Equal(u.call("POST", register, rightPIN).code(), "422 whatsapp_registration_failed")
	a := u.detail()
	is.Equal(a.Status, storage.AccountDegraded)
	is.True(strings.Contains(*a.StatusReason, "expired"))
}

func TestOfTwoRegistrationsAtOnceOneSucceeds(t *testing.T) {
	is := is.New(t)
	u := serveUnregistered(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	u.asked.before = func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/register") {
			once.Do(func() { close(arrived) })
			<-release
		}
	}
	first := make(chan answer)
	go func() { first <- u.call("POST", register, rightPIN) }()
	<-arrived
	is.Equal(u.call("POST", register, rightPIN).code(), "409 registration_in_progress")
	close(release)
	is.Equal((<-first).status, 200)
	is.Equal(u.asked.count("POST /v23.0/"+number+"/register"), 1)
	is.Equal(u.detail().Status, storage.AccountConnected)
	is.Equal(u.call("POST", register, rightPIN).status, 200) // the place is free again
}

func TestARegistrationIsRepeatedByItsKey(t *testing.T) {
	is := is.New(t)
	u := serveUnregistered(t)
	is.Equal(u.call("POST", register, wrongPIN, "Idempotency-Key: k").code(), "422 whatsapp_registration_failed")
	first := u.call("POST", register, rightPIN, "Idempotency-Key: k") // what was refused does not count
	is.Equal(first.status, 200)
	again := u.call("POST", register, rightPIN, "Idempotency-Key: k")
	is.Equal(again.header.Get("Idempotent-Replayed"), "true")
	is.Equal(again.body, first.body)
	is.Equal(u.call("POST", register, wrongPIN, "Idempotency-Key: k").code(), "422 idempotency_key_reuse")
	is.Equal(u.asked.count("/register"), 2)
}

func TestANumberOfThePhoneAppIsOnlyAskedAbout(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{IsOnBizApp: true})
	u.mark(storage.AccountDegraded)
	is.Equal(u.call("POST", register, rightPIN).get("data.registered"), true)
	is.Equal(u.asked.count("/register"), 0)
	is.Equal(u.detail().Status, storage.AccountConnected)
	is.Equal(u.pin(), "")
}

func TestForeignNumbersCannotBeRegistered(t *testing.T) {
	is := is.New(t)
	u := serveUnregistered(t)
	other := storagetest.Seed(t, u.db, "Other")
	is.Equal(u.callAs(other.Secret, "POST", register, rightPIN).code(), "404 resource_not_found")
	is.Equal(u.call("POST", "/999999999/register", rightPIN).code(), "404 resource_not_found")
	is.Equal(u.asked.count(""), 0)
}

func TestAProviderThatTakesTooLongIsA502(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	is.Equal(registered(0, "")(f).code(), "502 whatsapp_upstream_error")
	for _, call := range []string{"POST " + templatesPath, "POST " + templatesPath + "/sync", "PATCH " + templatesPath + "/notice"} {
		method, path, _ := strings.Cut(call, " ")
		body := orderReady
		if method == "PATCH" {
			body = `{"message_send_ttl_seconds":30}`
		}
		is.Equal(f.call(method, path, body).code(), "502 whatsapp_upstream_error")
	}
	storagetest.Update(t, f.db, func(tx *storage.Tx) error { return tx.MarkAccountStatus(1, storage.AccountConnected, "") })
	is.Equal(f.call("POST", messages, sendOf("nope")).code(), "502 whatsapp_upstream_error")
}
