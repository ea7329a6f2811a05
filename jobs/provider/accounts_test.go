package provider

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/matryer/is"
)

func TestANumberIsReadWithItsFields(t *testing.T) {
	is := is.New(t)
	c, got := says(t, 200, `{"id":"1","display_phone_number":"+1 631-555-5555","verified_name":"Lucky","status":"CONNECTED","quality_rating":"GREEN",
		"platform_type":"CLOUD_API","throughput":{"level":"STANDARD"},"is_on_biz_app":true,"health_status":{"can_send_message":"AVAILABLE"}}`)
	n, err := c.Number(t.Context(), token, "1")
	is.NoErr(err)
	is.Equal(n.Status, "CONNECTED")
	is.Equal(n.DisplayPhoneNumber, "+1 631-555-5555")
	is.True(n.Coexists())
	fields, err := url.ParseQuery(got.Query)
	is.NoErr(err)
	is.Equal(fields.Get("fields"), numberFields)

	c, _ = says(t, 200, `{"status":"CONNECTED"}`)
	_, err = c.Number(t.Context(), token, "1")
	failure(t, err, "upstream_error", true, Unknown)
}

func TestNumbersOfAnAccountAreListed(t *testing.T) {
	is := is.New(t)
	c, got := says(t, 200, `{"data":[{"id":"1","status":"CONNECTED"},{"id":"2","status":"PENDING"}],"paging":{"cursors":{"before":"a","after":"b"}}}`)
	numbers, err := c.Numbers(t.Context(), token, "7")
	is.NoErr(err)
	is.Equal(len(numbers), 2)
	is.Equal(numbers[1].ID, ID("2"))
	is.Equal(got.Path, "/v23.0/7/phone_numbers")

	c, _ = says(t, 401, `{"error":{"code":190,"error_subcode":463}}`)
	_, err = c.Numbers(t.Context(), token, "7")
	failure(t, err, "auth_expired", false, Refused)
}

func TestNumbersAreRegistered(t *testing.T) {
	is := is.New(t)
	c, got := says(t, 200, `{"success":true}`)
	is.NoErr(c.Register(t.Context(), token, "1", "123456"))
	is.Equal(got.Method+" "+got.Path+" "+got.Body, `POST /v23.0/1/register {"messaging_product":"whatsapp","pin":"123456"}`)
}

func TestAWrongPINIsNotALockedAccount(t *testing.T) {
	is := is.New(t)
	c, _ := says(t, 403, `{"error":{"code":131031,"message":"Account has been locked"}}`)
	err := c.Register(t.Context(), token, "1", "123456")
	failure(t, err, "whatsapp_registration_failed", false, Refused)
	is.Equal(ClassOf(err).Effect, NoEffect)
	_, err = c.Send(t.Context(), token, "1", []byte(`{}`), nil)
	failure(t, err, "account_locked", false, Refused)
	is.Equal(ClassOf(err).Effect, Restricted)
}

func TestAppsAreSubscribedAndUnsubscribed(t *testing.T) {
	is := is.New(t)
	c, got := says(t, 200, `{"success":true}`)
	is.NoErr(c.Subscribe(t.Context(), token, "7"))
	is.Equal(got.Method+" "+got.Path+" "+got.Body, `POST /v23.0/7/subscribed_apps `)
	is.NoErr(c.Unsubscribe(t.Context(), token, "7"))
	is.Equal(got.Method+" "+got.Path, `DELETE /v23.0/7/subscribed_apps`)
}

// withSecret plays a provider for a client that knows its app.
func withSecret(t *testing.T, status int, body string) (*Client, *seen) {
	t.Helper()
	got := new(seen)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*got = record(r)
		w.WriteHeader(status)
		w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return dial(t, Options{BaseURL: server.URL, Version: "v23.0", AppID: "4242", AppSecret: appSecret}), got
}

func TestACodeIsExchangedForAToken(t *testing.T) {
	is := is.New(t)
	c, got := withSecret(t, 200, `{"access_token":"EAAnew","token_type":"bearer","expires_in":5183944}`)
	granted, err := c.ExchangeCode(t.Context(), "AQ code")
	is.NoErr(err)
	is.Equal(granted.Reveal(), "EAAnew")
	is.Equal(got.Method+" "+got.Path+"?"+got.Query, "GET /v23.0/oauth/access_token?client_id=4242&client_secret="+appSecret+"&code=AQ+code")
	is.Equal(got.Auth, "")
}

func TestACodeMayBeRefused(t *testing.T) {
	is := is.New(t)
	c, _ := withSecret(t, 400, `{"error":{"message":"This authorization code has expired.","type":"OAuthException","code":100,"error_subcode":36007}}`)
	_, err := c.ExchangeCode(t.Context(), "x")
	failure(t, err, "upstream_error", false, Refused)
	is.Equal(err.(*Error).Subcode, SubcodeCodeExpired)

	for _, body := range []string{`{}`, `{"access_token":""}`, `{"access_token":"a\nb"}`} {
		c, _ = withSecret(t, 200, body)
		_, err = c.ExchangeCode(t.Context(), "x")
		failure(t, err, "upstream_error", true, Unknown)
	}
	c, _ = says(t, 200, `{}`) // knows no secret
	_, err = c.ExchangeCode(t.Context(), "x")
	failure(t, err, "upstream_error", false, NotSent)
}

func TestATokenIsDebuggedInTheNameOfTheApp(t *testing.T) {
	is := is.New(t)
	c, got := withSecret(t, 200, `{"data":{"app_id":"4242","type":"SYSTEM_USER","is_valid":true,"expires_at":0,"scopes":["whatsapp_business_management"],
		"granular_scopes":[{"scope":"whatsapp_business_management","target_ids":["7","8"]},{"scope":"whatsapp_business_messaging"}]}}`)
	targets, err := c.TokenTargets(t.Context(), token, "whatsapp_business_management")
	is.NoErr(err)
	is.Equal(targets, []string{"7", "8"})
	targets, err = c.TokenTargets(t.Context(), token, "other")
	is.NoErr(err)
	is.Equal(len(targets), 0)
	is.Equal(got.Auth, "Bearer 4242|"+appSecret)
	is.Equal(got.Query, "input_token="+tokenText) // and no proof, which is for users' tokens

	c, _ = withSecret(t, 200, `{"data":null}`)
	_, err = c.TokenTargets(t.Context(), token, "x")
	failure(t, err, "upstream_error", true, Unknown)
	c, _ = says(t, 200, `{}`)
	_, err = c.TokenTargets(t.Context(), token, "x")
	failure(t, err, "upstream_error", false, NotSent)
}
