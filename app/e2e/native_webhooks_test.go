package e2e

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/config"
	"confab/jobs/webhook"
	"confab/storage"
	"confab/storage/storagetest"
)

const appSecret = " the secret of the app " // that a client keeps; spaces can be printed, too

// nativeEndpoint answers the handshake, with its token, and records what is posted.
func nativeEndpoint(t testing.TB, fail func() bool) *receiver {
	t.Helper()
	var r *receiver
	r = newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodGet {
			<-r.came // it is no delivery
			if req.FormValue("hub.mode") == "subscribe" && req.FormValue("hub.verify_token") == "verify-me" {
				io.WriteString(w, req.FormValue("hub.challenge"))
			}
			return
		}
		if fail != nil && fail() {
			w.WriteHeader(500)
		}
	})
	return r
}

func withLocalEndpoints(c *config.Config) {
	c.Security.AllowInsecureURLs, c.Security.AllowCIDRs = true, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Webhooks.RetrySchedule = []time.Duration{10 * time.Millisecond}
}

// subscribeNative makes a native webhook.
func (s *stage) subscribeNative(url, fields, more string) map[string]any {
	s.t.Helper()
	return s.call("POST", s.app.URL()+"/v1/webhook_subscriptions", fmt.Sprintf(
		`{"url":%q,"events":[%s],"format":"provider","verify_token":"verify-me","secret":%q%s}`, url, fields, appSecret, more))
}

// callback posts a callback as the provider does.
func (s *stage) callback(body []byte) {
	s.t.Helper()
	mac := hmac.New(sha256.New, []byte(s.sim.Credentials().AppSecret))
	mac.Write(body)
	req, err := http.NewRequest("POST", s.app.URL()+"/provider/webhook", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 {
		s.t.Fatal(res.Status)
	}
}

// oddly writes JSON in a way that nobody who decodes and encodes it would: with spaces, escapes
// and numbers as they come.
func oddly(r *rand.Rand, v any) string {
	space := func() string { return []string{"", "", " ", "\n\t", "\r\n  "}[r.IntN(5)] }
	switch v := v.(type) {
	case map[string]any:
		parts := []string{}
		for name, value := range v { // in any order
			parts = append(parts, space()+oddly(r, name)+space()+":"+space()+oddly(r, value)+space())
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		parts := []string{}
		for _, value := range v {
			parts = append(parts, space()+oddly(r, value)+space())
		}
		return "[" + strings.Join(parts, ",") + "]"
	case string:
		var b strings.Builder
		for _, c := range v {
			switch {
			case c == '/' && r.IntN(2) == 0:
				b.WriteString(`\/`)
			case (c < '0' || c > '9') && c < 0x10000 && r.IntN(8) == 0:
				fmt.Fprintf(&b, `\u%04x`, c)
			default:
				text, _ := json.Marshal(string(c))
				b.WriteString(strings.Trim(string(text), `"`))
			}
		}
		return `"` + b.String() + `"`
	case json.Number:
		return string(v)
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// oddNumber is a number that few write alike.
func oddNumber(r *rand.Rand) json.Number {
	return []json.Number{"1.0", "1e3", "-0", "12345678901234567890123", "0.10", "1E-2"}[r.IntN(6)]
}

// A property: whatever a callback looks like, its bytes arrive.
func TestNativeEnvelopesKeepTheirBytes(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, withLocalEndpoints)
	number := s.connect()
	var waba string
	storagetest.View(t, s.app.DB, func(rx *storage.Rx) error {
		a, err := rx.AccountByNumber(number)
		waba = storage.OrEmpty(a.WABAID)
		return err
	})
	to := nativeEndpoint(t, nil)
	s.subscribeNative(to.URL, `"*"`, "")

	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		messages := []any{}
		for j := range 1 + r.IntN(3) {
			messages = append(messages, map[string]any{
				"from": "15550001111", "id": fmt.Sprintf("wamid.%d.%d", i, j), "timestamp": "1767323045", "type": "text",
				"text": map[string]any{"body": "h\u00e9llo / \u4f60 " + strings.Repeat("x", r.IntN(40))}, "unknown_key": oddNumber(r),
			})
		}
		value := map[string]any{
			"messaging_product": "whatsapp", "metadata": map[string]any{"display_phone_number": "15550009999", "phone_number_id": number},
			"contacts": []any{map[string]any{"profile": map[string]any{"name": "Zo\u00eb"}, "wa_id": "15550001111"}}, "messages": messages,
			"extra": map[string]any{"n": oddNumber(r), "null": nil, "list": []any{true, oddNumber(r)}},
		}
		body := []byte(oddly(r, map[string]any{
			"object": "whatsapp_business_account",
			"entry":  []any{map[string]any{"id": waba, "changes": []any{map[string]any{"field": "messages", "value": value}}}},
		}))
		s.callback(body)
		got := to.next()
		if !bytes.Equal(got.body, body) {
			t.Fatalf("%d: sent\n%s\ngot %v\n%s", i, body, got.header, got.body)
		}
		if i > 0 {
			continue
		}
		mac := hmac.New(sha256.New, []byte(appSecret))
		mac.Write(body)
		is.Equal(got.header.Get("X-Hub-Signature-256"), "sha256="+hex.EncodeToString(mac.Sum(nil)))
		is.NoErr(webhook.Verify(got.header.Get("X-Svc-Signature"), body, time.Now(), appSecret))
		is.Equal(got.header.Get("X-Svc-Event"), "messages")
		is.True(strings.HasPrefix(got.header.Get("X-Svc-Event-Id"), "evt_"))

		s.callback(body) // a repeat makes none: the next that comes is the next callback's
	}

	var events struct{ Data []struct{ Type string } }
	s.read("/events?limit=100", &events)
	for _, e := range events.Data {
		is.True(strings.Contains(e.Type, ".")) // none of the provider's fields
	}
}

func TestNativeEnvelopesAreNarrowed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, withLocalEndpoints, withGateway(5*time.Second))
	number, other := s.connect(), s.connect()
	var first int64
	wabas := map[string]string{}
	storagetest.View(t, s.app.DB, func(rx *storage.Rx) error {
		for _, n := range []string{other, number} {
			a, err := rx.AccountByNumber(n)
			if err != nil {
				return err
			}
			wabas[n], first = storage.OrEmpty(a.WABAID), a.ID
		}
		return nil
	})
	all, one := nativeEndpoint(t, nil), nativeEndpoint(t, nil)
	s.subscribeNative(all.URL, `"messages"`, "")
	s.subscribeNative(one.URL, `"messages"`, fmt.Sprintf(`,"phone_number_ids":[%q]`, other))

	message := func(n, id string) string {
		return fmt.Sprintf(`{ "id":%q, "changes":[ {"field":"messages","value":{"messaging_product":"whatsapp",`+
			`"metadata":{"phone_number_id":%q},"contacts":[{"wa_id":"15550001111","profile":{"name":"A"}}],`+
			`"messages":[ {"from":"15550001111","id":%q,"timestamp":"1","type":"text","text":{"body":"x"}} ]}} ]}`, wabas[n], n, id)
	}
	stranger := `{"id":"900000000000001","changes":[{"field":"messages","value":{"metadata":{"phone_number_id":"900000000000002"},"messages":[{"id":"wamid.s","from":"1555","type":"text","text":{"body":"y"}}]}}]}`
	review := fmt.Sprintf(`{"id":%q,"time":1,"changes":[{"field":"account_alerts","value":{"a":1}}]}`, wabas[number])
	body := `{"object":"whatsapp_business_account", "entry":[ ` + message(number, "wamid.1") + ` , ` + stranger + `,` + message(other, "wamid.2") + `, ` + review + ` ]}`
	s.callback([]byte(body))
	is.Equal(string(all.next().body), `{"object":"whatsapp_business_account", "entry":[ `+message(number, "wamid.1")+` , `+message(other, "wamid.2")+` ]}`)
	is.Equal(string(one.next().body), `{"object":"whatsapp_business_account", "entry":[ `+message(other, "wamid.2")+` ]}`)

	// A key that is bound to the first number is shown what is about that.
	secret := s.tenant.Secret
	s.tenant.Secret = s.keyWith(storage.Key{Accounts: storage.Accounts{first}})
	var deliveries struct{ Data []struct{ ID string } }
	s.read("/webhook_deliveries?event_type=messages", &deliveries)
	is.Equal(len(deliveries.Data), 1)
	var shown struct {
		Data struct{ Payload json.RawMessage }
	}
	s.read("/webhook_deliveries/"+deliveries.Data[0].ID, &shown)
	is.True(strings.Contains(string(shown.Data.Payload), `"wamid.1"`))
	is.True(!strings.Contains(string(shown.Data.Payload), `"wamid.2"`))
	s.tenant.Secret = secret

	// A repeat and something new in one callback.
	again := strings.Replace(message(number, "wamid.1"), `"messages":[ {`, `"messages":[ {"from":"15550001111","id":"wamid.3","timestamp":"1","type":"text","text":{"body":"z"}}, {`, 1)
	s.callback([]byte(`{"object":"whatsapp_business_account","entry":[` + again + `]}`))
	fresh := strings.Replace(message(number, "wamid.3"), `"body":"x"`, `"body":"z"`, 1)
	is.Equal(string(all.next().body), `{"object":"whatsapp_business_account","entry":[`+fresh+`]}`)

	// The tag is the client's own, or none.
	tagged := strings.Replace(graphText, `"type"`, `"biz_opaque_callback_data":"order \"7\"","type"`, 1)
	for _, send := range []struct {
		body string
		tag  any
	}{{tagged, `order "7"`}, {graphText, nil}} {
		sent := s.graph("POST", "/"+number+"/messages", send.body)
		is.Equal(sent.status, 200)
		id := sent.view().Messages[0].ID
		for isRead := false; !isRead; {
			var e struct {
				Entry []struct {
					Changes []struct {
						Value struct{ Statuses []map[string]any }
					}
				}
			}
			is.NoErr(json.Unmarshal(all.next().body, &e))
			for _, change := range e.Entry[0].Changes { // one callback may carry several statuses
				for _, status := range change.Value.Statuses {
					if status["id"] != id {
						continue
					}
					is.Equal(status["biz_opaque_callback_data"], send.tag)
					isRead = isRead || status["status"] == "read"
				}
			}
		}
	}
}

func TestNativeWebhooksAreVerifiedAndRetried(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, withLocalEndpoints)
	number := s.connect()
	is.Equal(s.graph("GET", "/"+number, "").status, 404) // a server has no gateway unless it is set
	left := 2
	to := nativeEndpoint(t, func() bool { left--; return left >= 0 })
	made := s.subscribeNative(to.URL+"/hook?x=1", `"messages"`, "")
	is.Equal(made["format"], "provider")
	is.Equal(made["initial_secret"], appSecret)
	id := made["id"].(string)

	refused := func(method, path, body, code, param string) {
		t.Helper()
		req, _ := http.NewRequest(method, s.app.URL()+"/v1"+path, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer "+s.tenant.Secret)
		res, err := http.DefaultClient.Do(req)
		is.NoErr(err)
		defer res.Body.Close()
		var got struct{ Error struct{ Code, Param string } }
		json.NewDecoder(res.Body).Decode(&got)
		if got.Error.Code != code || got.Error.Param != param {
			t.Errorf("%s %s: %v", method, body, got)
		}
	}
	subscriptions := "/webhook_subscriptions"
	with := func(more string) string {
		return fmt.Sprintf(`{"url":%q,"events":["messages"],"format":"provider"%s}`, to.URL, more)
	}
	refused("POST", subscriptions, with(""), "missing_required_field", "verify_token")
	refused("POST", subscriptions, with(`,"verify_token":"wrong"`), "webhook_verification_failed", "url")
	refused("POST", subscriptions, with(`,"verify_token":"verify-me","secret":"short"`), "invalid_field_value", "secret")
	refused("POST", subscriptions, strings.Replace(with(`,"verify_token":"verify-me"`), `"messages"`, `"message.received"`, 1), "invalid_event_type", "events[0]")
	refused("POST", subscriptions, fmt.Sprintf(`{"url":%q,"events":["*"],"verify_token":"x"}`, to.URL), "invalid_field_value", "verify_token")
	refused("PATCH", subscriptions+"/"+id, `{"format":"svc"}`, "invalid_field_value", "format")
	refused("PATCH", subscriptions+"/"+id, `{"verify_token":"wrong"}`, "webhook_verification_failed", "url")
	s.call("PATCH", s.app.URL()+"/v1"+subscriptions+"/"+id, `{"events":["messages","some_new_field"]}`)

	// Two attempts fail, and the delivery is dead; it can be replayed, with the same bytes.
	s.callback([]byte(fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"metadata":{"phone_number_id":%q},`+
		`"messages":[{"from":"15550001111","id":"wamid.1","timestamp":"1","type":"text","text":{"body":"x"}}]}}]}]}`, number)))
	first, second := to.next(), to.next()
	is.Equal(first.body, second.body)
	var deliveries struct {
		Data []struct{ ID, Status, EventType string }
	}
	for until(func() bool {
		s.read("/webhook_deliveries?status=dead", &deliveries)
		return len(deliveries.Data) == 1
	}) {
		break
	}
	dead := deliveries.Data[0].ID

	// Filters take the provider's fields, here where there are native webhooks.
	s.read("/webhook_deliveries?status=dead&event_type=messages", &deliveries)
	is.Equal(len(deliveries.Data), 1)
	s.read("/webhook_deliveries?event_type=message_template_status_update", &deliveries)
	is.Equal(len(deliveries.Data), 0)
	bulk := func(field string) any {
		return s.call("POST", s.app.URL()+"/v1/webhook_deliveries/bulk_replay",
			fmt.Sprintf(`{"subscription_id":%q,"event_type":%q,"dry_run":true}`, id, field))["enqueued"]
	}
	is.Equal(bulk("messages"), 1.0)
	is.Equal(bulk("account_alerts"), 0.0)
	refused("GET", "/webhook_deliveries?event_type=message.bogus", "", "invalid_event_type", "event_type")
	s.call("POST", s.app.URL()+"/v1/webhook_deliveries/"+dead+"/replay", "")
	is.Equal(to.next().body, first.body)

	// A test is in the provider's shape.
	s.call("POST", s.app.URL()+"/v1"+subscriptions+"/"+id+"/test", `{}`)
	is.True(strings.Contains(string(to.next().body), `"object":"whatsapp_business_account"`))

	// With the subscription its payloads go.
	s.exchange("DELETE", s.app.URL()+"/v1"+subscriptions+"/"+id, "")
	storagetest.View(t, s.app.DB, func(rx *storage.Rx) error {
		hidden, err := rx.Events(-s.tenant.Organization.ID, 10)
		is.Equal(len(hidden), 0)
		return err
	})
}
