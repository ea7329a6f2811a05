package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"confab/app"
	"confab/app/config"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

// newSandbox is a stage on which the provider's signup is played, as it is under
// `confab sandbox`.
func newSandbox(t testing.TB, change ...func(*config.Config)) *stage {
	t.Helper()
	return startStage(t, func(o *app.Options, sim *simulator.Server) {
		o.SimulateSignup = func(name, phone string) (app.Signup, error) {
			s, err := sim.Signup(name, phone)
			return app.Signup{Code: s.Code, WABAID: s.WABAID, PhoneNumberID: s.PhoneNumberID}, err
		}
	}, append([]func(*config.Config){reachable}, change...)...)
}

// invite makes a customer with a setup link, and returns the customer's id and
// the link's URL.
func (s *stage) invite(name, link string) (customer, setupURL string) {
	s.t.Helper()
	customer = s.call("POST", s.app.URL()+"/v1/customers", fmt.Sprintf(`{"name":%q}`, name))["id"].(string)
	return customer, s.link(customer, link)["setup_url"].(string)
}

func (s *stage) link(customer, body string) map[string]any {
	s.t.Helper()
	return s.call("POST", s.app.URL()+"/v1/customers/"+customer+"/setup_links", body)
}

// types lists the types of all events so far.
func (s *stage) types() (types []string) {
	s.t.Helper()
	storagetest.View(s.t, s.app.DB, func(rx *storage.Rx) error {
		all, err := rx.Events(s.tenant.Organization.ID, 1000)
		for _, e := range all {
			types = append(types, e.Type)
		}
		return err
	})
	return types
}

// seen is an answer to a visitor.
type seen struct {
	status   int
	header   http.Header
	body     string
	location *url.URL // nil without one
}

// reason is the status and what the visitor is sent on with: "303 reason=…", or
// the page's heading: "410 This link has expired".
func (s seen) reason() string {
	if s.location != nil {
		return fmt.Sprint(s.status, " reason=", s.location.Query().Get("reason"))
	}
	_, after, _ := strings.Cut(s.body, "<h1>")
	heading, _, _ := strings.Cut(after, "</h1>")
	return fmt.Sprint(s.status, " ", heading)
}

// ask asks for a page, or posts a form to it, as a browser does without
// following redirects; header holds "Name: value" lines.
func ask(t testing.TB, method, target string, form url.Values, header ...string) seen {
	t.Helper()
	req, err := http.NewRequest(method, target, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := seen{status: res.StatusCode, header: res.Header, body: string(body)}
	if res.Header.Get("Location") != "" {
		if got.location, err = res.Location(); err != nil {
			t.Fatal(err)
		}
	}
	return got
}

// post calls the API with a key.
func post(t testing.TB, target, key, body string) seen {
	t.Helper()
	req, err := http.NewRequest("POST", target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return seen{status: res.StatusCode, header: res.Header, body: string(text)}
}

func connecting(name, phone string) url.Values {
	return url.Values{"action": {"connect"}, "name": {name}, "phone_number": {phone}}
}

var cancelling = url.Values{"action": {"cancel"}}

const redirects = `{"success_redirect_url":"https://app.test/ok?from=setup&x=%26","failure_redirect_url":"https://app.test/failed?from=setup"}`

func TestFromACustomerToTheFirstMessageOfItsOwnNumber(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newSandbox(t)
	hook := newReceiver(t, nil)
	s.subscribe(hook.URL, `"*"`)
	customer, link := s.invite("Bakery Nord", redirects)
	is.Equal(ask(t, "GET", link, nil).reason(), "200 Connect your business number")

	done := ask(t, "POST", link, connecting("Bakery Nord", "+1 (555) 078-3881"))
	is.Equal(done.status, 303)
	detail := s.call("GET", s.app.URL()+"/v1/customers/"+customer, "")
	is.Equal(detail["status"], "active")
	number := detail["whatsapp_accounts"].([]any)[0].(map[string]any)
	is.Equal(number["phone_number"], "+15550783881")
	is.Equal(number["status"], "connected")
	account := done.location.Query().Get("account_id")
	is.Equal(done.location.String(), "https://app.test/ok?from=setup&x=%26&customer_id="+customer+"&account_id="+account+"&status=success")

	phoneNumberID := number["phone_number_id"].(string)
	id := s.send(phoneNumberID, "+15550001111", `"type":"text","text":{"body":"Your bread is ready."}`)
	s.await(phoneNumberID, id, isStatus("read"))
	_, err := s.sim.Inbound(map[string]any{"phone_number_id": phoneNumberID, "from": "+15550001111", "name": "Ana", "text": "Thanks"})
	is.NoErr(err)
	want := []string{
		"customer.created", "customer.setup_link.created", "customer.setup_link.consumed", "customer.onboarded",
		"contact.created", "message.sent", "message.status", "message.status", "message.status", "message.received",
	}
	var delivered []string
	for len(delivered) < len(want) {
		h := hook.next()
		delivered = append(delivered, h.header.Get("X-Svc-Event"))
		if h.header.Get("X-Svc-Event") == "customer.onboarded" {
			is.True(strings.Contains(string(h.body), `"data":{"customer_id":"`+customer+`","account_id":"`+account+`","phone_number_id":"`+phoneNumberID+`","phone_number":"+1 555-078-3881","first":true}`))
		}
	}
	// What the person's name does to the contact depends on what came first.
	made := slices.DeleteFunc(s.types(), func(kind string) bool { return kind == "contact.updated" })
	is.Equal(made, want)
	is.Equal(ask(t, "GET", link, nil).reason(), "303 reason=already_used")
	is.Equal(ask(t, "POST", link, connecting("", "")).reason(), "303 reason=already_used")
}

func TestALinkThatCannotBeUsedSaysWhy(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	expire := func(_, link string) {
		storagetest.Exec(t, s.app.Config.DataDir, `UPDATE setup_links SET expires_at = 1 WHERE id = ?`, link)
	}
	for name, c := range map[string]struct {
		state         func(customer, link string)
		reason, title string
	}{
		"expired": {expire, "link_expired", "This link has expired"},
		"revoked": {func(customer, link string) {
			s.call("DELETE", s.app.URL()+"/v1/customers/"+customer+"/setup_links/"+link, "")
		}, "link_revoked", "This link was revoked"},
		"archived": {func(customer, _ string) { s.call("DELETE", s.app.URL()+"/v1/customers/"+customer, "") }, "customer_archived", "This invitation is closed"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			for _, body := range []string{redirects, `{}`} {
				customer, _ := s.invite("Bakery", `{}`)
				made := s.link(customer, body)
				link := made["setup_url"].(string)
				c.state(customer, made["id"].(string))
				for _, got := range []seen{ask(t, "GET", link, nil), ask(t, "HEAD", link, nil), ask(t, "POST", link, connecting("", "")), ask(t, "POST", link, cancelling)} {
					if body == redirects {
						is.Equal(got.location.String(), "https://app.test/failed?from=setup&customer_id="+customer+"&status=failed&reason="+c.reason)
						is.Equal(got.status, 303)
						is.Equal(got.body, "")
					} else if got.body != "" { // of a HEAD
						is.Equal(got.reason(), "410 "+c.title)
						is.True(!strings.Contains(got.body, "Try again"))
					} else {
						is.Equal(got.status, 410)
					}
				}
				is.Equal(s.call("GET", s.app.URL()+"/v1/customers/"+customer, "")["whatsapp_accounts"], []any{})
			}
		})
	}
}

func TestASignupThatComesToNothingLeavesTheLink(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	own := s.connect() // a number that has an account
	var ownPhone string
	for _, n := range s.sim.Numbers() {
		if n.PhoneNumberID == own {
			ownPhone = n.DisplayPhoneNumber
		}
	}
	for name, c := range map[string]struct {
		fault         string
		form          url.Values
		reason, title string
	}{
		"cancelled":       {"", cancelling, "signup_cancelled", "Setup was cancelled"},
		"no token":        {`{"kind":"error_code","code":100,"endpoint":"all","times":2}`, connecting("", ""), "token_exchange_failed", "We couldn’t confirm the sign-up"},
		"another PIN":     {`{"kind":"error_code","code":133005,"endpoint":"register","times":2}`, connecting("", ""), "phone_verification_failed", "We couldn’t verify the number"},
		"not verified":    {`{"kind":"error_code","code":133006,"endpoint":"register","times":2}`, connecting("", ""), "phone_verification_failed", "We couldn’t verify the number"},
		"no permission":   {`{"kind":"error_code","code":10,"endpoint":"register","times":2}`, connecting("", ""), "provider_error", "We couldn’t connect the number"},
		"somebody else's": {"", connecting("", ownPhone), "provider_error", "We couldn’t connect the number"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			if c.fault != "" {
				s.fault("%s", c.fault)
			}
			customer, link := s.invite("Bakery", redirects)
			got := ask(t, "POST", link, c.form)
			is.Equal(got.location.String(), "https://app.test/failed?from=setup&customer_id="+customer+"&status=failed&reason="+c.reason)
			_, plain := s.invite("Bakery", `{}`)
			got = ask(t, "POST", plain, c.form)
			is.Equal(got.reason(), "200 "+c.title)
			is.True(strings.Contains(got.body, ">Try again<"))
			s.call("DELETE", s.simURL+"/_sim/faults", "")
			for _, again := range []string{link, plain} { // it is still good
				is.Equal(ask(t, "GET", again, nil).reason(), "200 Connect your business number")
				done := ask(t, "POST", again, connecting("", ""))
				is.True(done.status == 303 && done.location.Query().Get("status") == "success" || done.reason() == "200 Your number is connected")
			}
			is.Equal(s.call("GET", s.app.URL()+"/v1/customers/"+customer, "")["status"], "active")
		})
	}
}

func TestANumberCanBeConnectedAnewAfterItsDisconnection(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newSandbox(t)
	customer, link := s.invite("Bakery", `{}`)
	is.Equal(ask(t, "POST", link, connecting("Bakery", "15550783881")).reason(), "200 Your number is connected")
	number := s.call("GET", s.app.URL()+"/v1/customers/"+customer, "")["whatsapp_accounts"].([]any)[0].(map[string]any)["phone_number_id"].(string)
	s.call("DELETE", s.app.URL()+"/v1/customers/"+customer+"/whatsapp_accounts/"+number, "")
	other, link := s.invite("Other", `{}`)
	is.Equal(ask(t, "POST", link, connecting("", "+15550783881")).reason(), "200 Your number is connected")
	again := s.call("GET", s.app.URL()+"/v1/customers/"+other, "")["whatsapp_accounts"].([]any)[0].(map[string]any)
	is.Equal(again["phone_number_id"], number)
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"hi"}`)
	s.await(number, id, isStatus("read"))
}

func TestTheFormSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newSandbox(t)
	customer, link := s.invite("Bakery", `{}`)
	for phone, want := range map[string]int{"abc": 422, "12": 422, "+0123456789": 422, "+1234567890123456": 422, "1555": 422, "٣٤٥٦٧٨٩٠١": 422} {
		got := ask(t, "POST", link, connecting("Kept", phone))
		is.Equal(got.status, want)
		is.True(strings.Contains(got.body, `value="Kept"`)) // nothing that was typed is lost
		is.True(strings.Contains(got.body, `aria-invalid="true"`))
		is.True(strings.Contains(got.body, `role="alert"`))
	}
	is.Equal(ask(t, "POST", link, connecting(strings.Repeat("ä", 201), "")).status, 422)
	is.Equal(ask(t, "POST", link, url.Values{"action": {"nothing"}}).status, 400)
	is.Equal(ask(t, "POST", link, url.Values{}).status, 400)
	is.Equal(ask(t, "POST", link, url.Values{"action": {strings.Repeat("x", 100_000)}}).status, 400)
	is.Equal(s.call("GET", s.app.URL()+"/v1/customers/"+customer, "")["whatsapp_accounts"], []any{})
	is.Equal(ask(t, "POST", link, connecting(strings.Repeat("ä", 200), "")).status, 200)
}

func TestTheButtonPressedTwiceConnectsOneNumber(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newSandbox(t)
	customer, link := s.invite("Bakery", redirects)
	var group sync.WaitGroup
	answers := make([]seen, 6)
	for i := range answers {
		group.Go(func() { answers[i] = ask(t, "POST", link, connecting("", "+15550783881")) })
	}
	group.Wait()
	for _, got := range answers {
		reason := got.location.Query().Get("reason")
		is.True(got.location.Query().Get("status") == "success" || reason == "already_used" || reason == "provider_error")
	}
	is.Equal(len(s.call("GET", s.app.URL()+"/v1/customers/"+customer, "")["whatsapp_accounts"].([]any)), 1)
	is.Equal(s.types(), []string{"customer.created", "customer.setup_link.created", "customer.setup_link.consumed", "customer.onboarded"})
}

func TestSuspendedCustomersMayConnectButNotSend(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newSandbox(t)
	customer, link := s.invite("Bakery", `{}`)
	path := s.app.URL() + "/v1/customers/" + customer
	s.call("PATCH", path, `{"status":"suspended"}`)
	is.Equal(ask(t, "POST", link, connecting("", "")).reason(), "200 Your number is connected")
	detail := s.call("GET", path, "")
	is.Equal(detail["status"], "suspended")
	number := detail["whatsapp_accounts"].([]any)[0].(map[string]any)["phone_number_id"].(string)
	send := func() seen {
		return post(t, s.app.URL()+"/v1/"+number+"/messages", s.tenant.Secret, `{"messaging_product":"chat","to":"+15550001111","type":"text","text":{"body":"hi"}}`)
	}
	refused := send()
	is.Equal(refused.status, 422)
	is.True(strings.Contains(refused.body, `"code":"customer_suspended"`))
	s.call("PATCH", path, `{"status":"active"}`)
	is.Equal(send().status, 200)
}
