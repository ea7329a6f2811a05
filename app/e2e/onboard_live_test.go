package e2e

import (
	"net/url"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/config"
	"confab/app/simulator"
)

// signing turns the provider's own signup on.
func signing(c *config.Config) { c.Provider.SignupConfigID = "998877" }

// coexisting offers the signup of numbers that stay on the phone app.
func coexisting(c *config.Config) { c.Provider.SignupCoexistence = true }

// finished is the form that the page posts when the provider's signup is done.
func finished(s simulator.Signup) url.Values {
	return url.Values{"action": {"connect"}, "code": {s.Code}, "waba_id": {s.WABAID}, "phone_number_id": {s.PhoneNumberID}}
}

func (s *stage) signup(name string) simulator.Signup {
	s.t.Helper()
	got, err := s.sim.Signup(name, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

func TestALivePageOffersToKeepThePhoneApp(t *testing.T) {
	t.Parallel()
	s := newStage(t, signing, coexisting)
	_, link := s.invite("Bakery", redirects)
	is.New(t).True(strings.Contains(ask(t, "GET", link, nil).body, " data-coexistence>"))
}

func TestALivePageRunsTheProvidersSignup(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, signing)
	customer, link := s.invite("Bakery", redirects)
	page := ask(t, "GET", link, nil)
	is.Equal(page.status, 200)
	for _, part := range []string{
		`src="https://connect.facebook.net/en_US/sdk.js"`, `data-config-id="998877"`, `data-app-id="` + s.sim.Credentials().AppID + `"`, `data-version="v26.0"`, "<noscript>",
	} {
		is.True(strings.Contains(page.body, part))
	}
	is.True(!strings.Contains(page.body, "data-coexistence"))
	is.True(!strings.Contains(page.body, `name="phone_number"`)) // no form that makes numbers up
	is.True(!strings.Contains(page.body, "Sandbox"))
	policy := page.header.Get("Content-Security-Policy")
	is.True(!strings.Contains(policy, "unsafe"))
	nonce := policy[strings.Index(policy, "'nonce-")+7:]
	is.True(strings.Contains(page.body, `nonce="`+nonce[:strings.Index(nonce, "'")]+`"`))
	is.True(!strings.Contains(ask(t, "GET", link, nil).body, nonce[:20])) // another one each time
	is.Equal(page.header.Get("Cross-Origin-Opener-Policy"), "same-origin-allow-popups")

	done := ask(t, "POST", link, finished(s.signup("Bakery")))
	is.Equal(done.location.Query().Get("status"), "success")
	is.Equal(s.call("GET", s.app.URL()+"/v1/customers/"+customer, "")["status"], "active")
	is.Equal(s.types()[2:], []string{"customer.setup_link.consumed", "customer.onboarded"})
}

func TestTheBrowserIsNotBelievedWithoutTheToken(t *testing.T) {
	t.Parallel()
	s := newStage(t, signing)
	foreign := s.signup("Somebody else")
	for name, c := range map[string]struct {
		form func(mine simulator.Signup) simulator.Signup
		want string
	}{
		"all as it is":      {func(m simulator.Signup) simulator.Signup { return m }, ""},
		"no number named":   {func(m simulator.Signup) simulator.Signup { m.PhoneNumberID = ""; return m }, ""}, // as coexistence does
		"only the code":     {func(m simulator.Signup) simulator.Signup { m.PhoneNumberID, m.WABAID = "", ""; return m }, ""},
		"another's number":  {func(m simulator.Signup) simulator.Signup { m.PhoneNumberID = foreign.PhoneNumberID; return m }, "provider_error"},
		"another's account": {func(m simulator.Signup) simulator.Signup { m.WABAID = foreign.WABAID; return m }, "provider_error"},
		"another's everything": {func(m simulator.Signup) simulator.Signup {
			return simulator.Signup{Code: m.Code, WABAID: foreign.WABAID, PhoneNumberID: foreign.PhoneNumberID}
		}, "provider_error"},
		"a number as account":     {func(m simulator.Signup) simulator.Signup { m.WABAID = m.PhoneNumberID; return m }, "provider_error"},
		"an account that is none": {func(m simulator.Signup) simulator.Signup { m.WABAID = "../me"; return m }, "provider_error"},
		"a number that is none":   {func(m simulator.Signup) simulator.Signup { m.PhoneNumberID = "1/../2"; return m }, "provider_error"},
		"a code that was used":    {func(simulator.Signup) simulator.Signup { return foreign }, "token_exchange_failed"},
		"a code that is none":     {func(m simulator.Signup) simulator.Signup { m.Code = "x&client_id=1"; return m }, "token_exchange_failed"},
		"no code":                 {func(m simulator.Signup) simulator.Signup { m.Code = ""; return m }, "token_exchange_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			if name == "a code that was used" {
				_, link := s.invite("First", redirects)
				is.Equal(ask(t, "POST", link, finished(foreign)).location.Query().Get("status"), "success")
			}
			customer, link := s.invite("Bakery", redirects)
			got := ask(t, "POST", link, finished(c.form(s.signup("Mine"))))
			is.Equal(got.location.Query().Get("reason"), c.want)
			accounts := s.call("GET", s.app.URL()+"/v1/customers/"+customer, "")["whatsapp_accounts"].([]any)
			is.Equal(len(accounts) == 1, c.want == "") // nothing is stored that was not verified
		})
	}
}

func TestAServerThatIsNoSandboxMakesNoNumbersUp(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, reachable) // with any settings
	numbers := len(s.sim.Numbers())
	_, link := s.invite("Bakery", `{}`)
	is.Equal(ask(t, "GET", link, nil).reason(), "200 We couldn’t connect the number") // there is no signup to run
	is.Equal(ask(t, "POST", link, connecting("Bakery", "+15550783881")).reason(), "200 We couldn’t confirm the sign-up")
	_, link = s.invite("Bakery", redirects)
	is.Equal(ask(t, "GET", link, nil).reason(), "303 reason=provider_error")
	is.Equal(len(s.sim.Numbers()), numbers)
}
