package api

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/guard"
	"confab/jobs/guard/guardtest"
	"confab/storage"
	"confab/storage/storagetest"
)

const hooks = "/webhook_subscriptions"

// hook is a body that makes a subscription to everything.
const hook = `{"url":"https://shop.test/hook","events":["*"]}`

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

var anySecret = regexp.MustCompile(`whsec_[A-Za-z0-9+/]{43}=`)

func TestASubscriptionIsCreatedReadChangedAndDeleted(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	f.connect(f.tenant, number)
	made := f.call("POST", hooks, `{"url":"https://shop.test/hook?a=1","events":["message.received","message.status","message.received"],"description":"Orders",
		"phone_number_ids":["`+number+`"],"custom_headers":{"Authorization":"Bearer 4711","x-Tenant":""},"status":"paused"}`)
	is.Equal(made.status, 201)
	golden(t, "webhook_subscription_created", anySecret.ReplaceAllString(made.body, "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD4zOZKyTFfrg="))
	is.True(anySecret.MatchString(made.text("data.initial_secret")))

	path := hooks + "/" + made.text("data.id")
	got := f.call("GET", path, "")
	is.Equal(got.get("data.initial_secret"), nil) // shown once
	golden(t, "webhook_subscription", got.body)
	list := f.call("GET", hooks, "")
	is.Equal(list.get("data").([]any)[0], got.get("data"))
	is.True(!strings.Contains(list.body, "whsec_"))

	changed := f.call("PATCH", path, `{"url":"https://shop.test/new","events":["*"],"description":null,"phone_number_ids":[],"custom_headers":null,"status":"active"}`)
	is.Equal(changed.status, 200)
	is.Equal([]any{changed.get("data.url"), changed.get("data.events"), changed.get("data.description"), changed.get("data.phone_number_ids"), changed.get("data.custom_headers"), changed.get("data.status")},
		[]any{"https://shop.test/new", []any{"*"}, nil, []any{}, map[string]any{}, "active"})
	is.Equal(f.call("GET", path, "").get("data"), changed.get("data"))

	gone := f.call("DELETE", path, "")
	is.Equal(gone.status, 200)
	is.Equal(gone.get("data"), map[string]any{"id": made.get("data.id"), "object": "webhook_subscription", "deleted": true})
	for _, method := range []string{"GET", "DELETE", "PATCH"} {
		is.Equal(f.call(method, path, `{"status":"paused"}`).code(), "404 resource_not_found")
	}
	is.Equal(f.call("GET", hooks, "").get("data"), []any{})
}

func TestSubscriptionsAreListedNewestFirstInPages(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	var want []string
	for range 5 {
		want = append([]string{f.call("POST", hooks, hook).text("data.id")}, want...)
	}
	var got []string
	for query := "?limit=2"; query != ""; {
		page := f.call("GET", hooks+query, "")
		got = append(got, page.ids()...)
		query = ""
		if next := page.text("next_cursor"); next != "" {
			query = "?limit=2&cursor=" + next
		}
	}
	is.Equal(got, want)
}

func TestTheRulesOfASubscriptionsBody(t *testing.T) {
	f := serveHooks(t)
	f.connect(f.tenant, number)
	f.connect(storagetest.Seed(t, f.db, "Other"), "999888777")
	id := f.call("POST", hooks, hook).text("data.id")
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprintf(`"X-%d":"v"`, i)
	}
	for _, tt := range []struct{ field, value, want string }{
		{"url", `"https://shop.test"`, ""},
		{"url", `"https://shop.test:8443/a?b=c"`, ""},
		{"url", `"https://not-there-yet.test/x"`, ""}, // it may be some day
		{"url", `"https://93.184.216.34/x"`, ""},
		{"url", `"https://bücher.test/ß"`, ""},
		{"url", `""`, "400 invalid_webhook_url url"},
		{"url", `"shop.test/hook"`, "400 invalid_webhook_url url"},
		{"url", `"http://shop.test/hook"`, "400 invalid_webhook_url url"},
		{"url", `"ftp://shop.test/hook"`, "400 invalid_webhook_url url"},
		{"url", `"https://"`, "400 invalid_webhook_url url"},
		{"url", `"https://user@shop.test/"`, "400 invalid_webhook_url url"},
		{"url", `"https://user:secret@shop.test/"`, "400 invalid_webhook_url url"},
		{"url", `"https://shop.test:99999/"`, "400 invalid_webhook_url url"},
		{"url", `"https://127.0.0.1/"`, "400 invalid_webhook_url url"},
		{"url", `"https://[::1]/"`, "400 invalid_webhook_url url"},
		{"url", `"https://169.254.169.254/latest"`, "400 invalid_webhook_url url"},
		{"url", `"https://inside.test/"`, "400 invalid_webhook_url url"},
		{"url", `"https://both.test/"`, "400 invalid_webhook_url url"}, // any address that may not be reached
		{"url", `"https://six.test/"`, "400 invalid_webhook_url url"},
		{"url", `"https://shop.test/` + strings.Repeat("a", 2048) + `"`, "400 invalid_webhook_url url"},
		{"url", `7`, "400 invalid_field_value url"},
		{"events", `[]`, "400 invalid_field_value events"},
		{"events", `["*"]`, ""},
		{"events", `["customer.setup_link.consumed","contact.identity_updated"]`, ""},
		{"events", `["message.sent","message.bogus"]`, "400 invalid_event_type events[1]"},
		{"events", `["message.*"]`, "400 invalid_event_type events[0]"},
		{"events", `["Message.Sent"]`, "400 invalid_event_type events[0]"},
		{"events", `[""]`, "400 invalid_event_type events[0]"},
		{"events", `[null]`, "400 invalid_event_type events[0]"},
		{"events", `[7]`, "400 invalid_field_value events[0]"},
		{"events", `"*"`, "400 invalid_field_value events"},
		{"description", `"` + strings.Repeat("é", 255) + `"`, ""},
		{"description", `"` + strings.Repeat("é", 256) + `"`, "400 invalid_field_value description"},
		{"description", `""`, "400 invalid_field_value description"},
		{"description", `null`, ""},
		{"description", `[]`, "400 invalid_field_value description"},
		{"phone_number_ids", `["` + number + `","` + number + `"]`, ""},
		{"phone_number_ids", `[]`, ""},
		{"phone_number_ids", `null`, ""},
		{"phone_number_ids", `["` + number + `","999888777"]`, "400 invalid_field_value phone_number_ids[1]"}, // somebody else's
		{"phone_number_ids", `["1234567"]`, "400 invalid_field_value phone_number_ids[0]"},
		{"phone_number_ids", `["+1555"]`, "400 invalid_field_value phone_number_ids[0]"},
		{"phone_number_ids", `"` + number + `"`, "400 invalid_field_value phone_number_ids"},
		{"status", `"active"`, ""},
		{"status", `"paused"`, ""},
		{"status", `"disabled"`, "400 invalid_field_value status"},
		{"status", `"Active"`, "400 invalid_field_value status"},
		{"status", `true`, "400 invalid_field_value status"},
		{"custom_headers", `{"Authorization":"Bearer x","X-Ä":"v"}`, "400 invalid_field_value custom_headers.X-Ä"},
		{"custom_headers", `{"Authorization":"Bearer x","Cookie":"a=b","X-Empty":"","Accept":"é"}`, ""},
		{"custom_headers", `{}`, ""},
		{"custom_headers", `null`, ""},
		{"custom_headers", `[]`, "400 invalid_field_value custom_headers"},
		{"custom_headers", `{"A":7}`, "400 invalid_field_value custom_headers.A"},
		{"custom_headers", `{"A":null}`, "400 invalid_field_value custom_headers.A"},
		{"custom_headers", `{"A":"x\r\nB: y"}`, "400 invalid_field_value custom_headers.A"},
		{"custom_headers", `{"A":"x\ny"}`, "400 invalid_field_value custom_headers.A"},
		{"custom_headers", `{"A":"x\u0000"}`, "400 invalid_field_value custom_headers.A"},
		{"custom_headers", `{"A":"` + strings.Repeat("x", 8193) + `"}`, "400 invalid_field_value custom_headers.A"},
		{"custom_headers", `{"A\r\nB":"y"}`, "400 invalid_field_value custom_headers.A\r\nB"},
		{"custom_headers", `{"A B":"y"}`, "400 invalid_field_value custom_headers.A B"},
		{"custom_headers", `{"":"y"}`, "400 invalid_field_value custom_headers."},
		{"custom_headers", `{"X-A":"1","x-a":"2"}`, "400 invalid_field_value custom_headers.x-a"},
		{"custom_headers", `{` + strings.Join(many[:20], ",") + `}`, ""},
		{"custom_headers", `{` + strings.Join(many, ",") + `}`, "400 invalid_field_value custom_headers"},
	} {
		t.Run(tt.field+" "+tt.value[:min(len(tt.value), 50)], func(t *testing.T) {
			is := is.New(t)
			fields := map[string]string{"url": `"https://shop.test/hook"`, "events": `["*"]`}
			fields[tt.field] = tt.value
			var body []string
			for name, value := range fields {
				body = append(body, `"`+name+`":`+value)
			}
			want := []string{tt.want, tt.want}
			if tt.want == "" {
				want = []string{"201", "200"}
			}
			is.Equal(f.in(t).call("POST", hooks, "{"+strings.Join(body, ",")+"}").code(), want[0])
			is.Equal(f.in(t).call("PATCH", hooks+"/"+id, `{"`+tt.field+`":`+tt.value+`}`).code(), want[1])
		})
	}
}

func TestReservedHeadersCannotBeChosen(t *testing.T) {
	f := serveHooks(t)
	for _, name := range []string{
		"Host", "host", "User-Agent", "Content-Type", "content-length", "Content-Anything", "X-Svc-Signature", "x-svc-anything", "webhook-id", "Webhook-Signature",
		"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
	} {
		got := f.call("POST", hooks, `{"url":"https://shop.test","events":["*"],"custom_headers":{"`+name+`":"x"}}`)
		is.New(t).Equal(got.code(), "400 invalid_field_value custom_headers."+name)
	}
}

func TestWhatASubscriptionNeeds(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	id := f.call("POST", hooks, hook).text("data.id")
	for body, want := range map[string]string{
		`{}`: "400 missing_required_field url", `{"events":["*"]}`: "400 missing_required_field url", `{"url":null,"events":["*"]}`: "400 missing_required_field url",
		`{"url":"https://shop.test"}`:               "400 missing_required_field events",
		`{"url":"https://shop.test","events":null}`: "400 missing_required_field events",
		`{"url":"http://shop.test"}`:                "400 invalid_webhook_url url", // the first broken rule
		`{"url":"https://shop.test","events":["*"],"status":null,"description":null,"custom_headers":null,"phone_number_ids":null}`: "201",
	} {
		is.Equal(f.call("POST", hooks, body).code(), want)
	}
	for body, want := range map[string]string{
		`{}`: "400 missing_required_field url", `{"unknown":1}`: "400 missing_required_field url", `{"url":null}`: "400 invalid_field_value url",
		`{"events":null}`: "400 invalid_field_value events", `{"status":null}`: "400 invalid_field_value status", `{"description":null}`: "200",
	} {
		is.Equal(f.call("PATCH", hooks+"/"+id, body).code(), want)
	}
}

func TestTheSandboxMayUseLoopback(t *testing.T) {
	is := is.New(t)
	open := guard.New(guard.Options{AllowInsecure: true, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}})
	t.Cleanup(open.Close)
	f := serve(t, func(o *testOptions) { o.Fetch = open })
	is.Equal(f.call("POST", hooks, `{"url":"http://127.0.0.1:9999/hook","events":["*"]}`).status, 201)
	is.Equal(f.call("POST", hooks, `{"url":"http://localhost:9999/hook","events":["*"]}`).status, 201)
	is.Equal(f.call("POST", hooks, `{"url":"http://10.0.0.1/hook","events":["*"]}`).code(), "400 invalid_webhook_url url")
}

func TestSubscriptionsArePausedResumedAndEnabledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t, withNames(t))
		id := f.call("POST", hooks, `{"url":"https://93.184.216.34/","events":["*"]}`).text("data.id")
		path := hooks + "/" + id
		is.Equal(f.call("PATCH", path, `{"status":"paused"}`).get("data.status"), "paused")
		is.True(f.db.LaneClosed("deliver:" + id))
		is.Equal(f.call("PATCH", path, `{"status":"paused"}`).get("data.status"), "paused") // again
		is.Equal(f.call("PATCH", path, `{"status":"active"}`).get("data.status"), "active")
		is.True(!f.db.LaneClosed("deliver:" + id))

		f.disable(id)
		got := f.call("GET", path, "")
		is.Equal([]any{got.get("data.status"), got.get("data.disabled_reason")}, []any{"disabled", "consecutive_failures"})
		for method, body := range map[string]string{"PATCH " + path: `{"description":"x"}`, "PATCH  " + path: `{"status":"paused"}`,
			"POST " + path + "/secrets": `{}`, "POST " + path + "/test": `{}`, "POST /webhook_deliveries/bulk_replay": `{"subscription_id":"` + id + `"}`} {
			verb, path, _ := strings.Cut(method, " ")
			got := f.call(verb, strings.TrimSpace(path), body)
			is.Equal(got.code(), "409 webhook_subscription_disabled")
			is.Equal(got.get("error.type"), "conflict")
		}
		time.Sleep(time.Second)
		again := f.call("PATCH", path, `{"status":"active","description":"back"}`)
		is.Equal([]any{again.get("data.status"), again.get("data.disabled_reason"), again.get("data.consecutive_failures"), again.get("data.description")}, []any{"active", nil, 0.0, "back"})
		is.True(again.text("data.updated_at") > got.text("data.updated_at"))
		f.disable(id)
		is.Equal(f.call("DELETE", path, "").status, 200) // works in every state
	})
}

func TestOrganizationsCannotSeeEachOthersSubscriptions(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	other := storagetest.Seed(t, f.db, "Other")
	made := f.call("POST", hooks, hook)
	id := made.text("data.id")
	delivery := f.call("POST", hooks+"/"+id+"/test", "").text("data.id")
	is.True(id != "" && delivery != "")
	secret := made.get("data.secrets").([]any)[0].(map[string]any)["id"].(string)
	for _, tt := range []struct{ method, path, body string }{
		{"GET", hooks + "/" + id, ""}, {"PATCH", hooks + "/" + id, `{"status":"paused"}`}, {"PATCH", hooks + "/" + id, `{`}, {"DELETE", hooks + "/" + id, ""},
		{"POST", hooks + "/" + id + "/secrets", `{}`}, {"DELETE", hooks + "/" + id + "/secrets/" + secret, ""}, {"POST", hooks + "/" + id + "/test", `{`},
		{"GET", hooks + "/" + id + "/stats", ""}, {"GET", hooks + "/" + id + "/stats?since=x", ""},
		{"GET", "/webhook_deliveries/" + delivery, ""}, {"GET", "/webhook_deliveries/" + delivery + "/attempts", ""}, {"POST", "/webhook_deliveries/" + delivery + "/replay", "{"},
		{"POST", "/webhook_deliveries/bulk_replay", `{"subscription_id":"` + id + `"}`},
	} {
		foreign := f.callAs(other.Secret, tt.method, tt.path, tt.body)
		is.Equal(foreign.code(), "404 resource_not_found")
		is.True(strings.Contains(tt.path+tt.body, id) || strings.Contains(tt.path, delivery)) // so that it can be left out
		gone := strings.NewReplacer(id, f.db.NewID("wbs_"), delivery, f.db.NewID("wbd_"))
		missing := f.callAs(other.Secret, tt.method, gone.Replace(tt.path), gone.Replace(tt.body))
		is.Equal(plainBody(foreign), plainBody(missing)) // indistinguishable
		bad := strings.NewReplacer(id, "wbs_1", delivery, "wbd_1")
		malformed := f.callAs(other.Secret, tt.method, bad.Replace(tt.path), bad.Replace(tt.body))
		is.Equal(plainBody(foreign), plainBody(malformed))
	}
	is.Equal(len(f.callAs(other.Secret, "GET", hooks, "").ids()), 0)
	is.Equal(len(f.callAs(other.Secret, "GET", "/webhook_deliveries", "").ids()), 0)
	is.Equal(len(f.callAs(other.Secret, "GET", "/webhook_deliveries?subscription_id="+id, "").ids()), 0)
	is.Equal(len(f.callAs(other.Secret, "GET", "/webhook_deliveries?status=pending&subscription_id="+id, "").ids()), 0)
	is.Equal(f.call("GET", hooks+"/"+id, "").get("data.status"), "active")
}

func TestSecretsInRememberedAnswersAreSealed(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	made := f.call("POST", hooks, hook, "Idempotency-Key: a")
	again := f.call("POST", hooks, hook, "Idempotency-Key: a")
	is.Equal(again.body, made.body)
	is.Equal(again.header.Get("Idempotent-Replayed"), "true")
	path := hooks + "/" + made.text("data.id") + "/secrets"
	minted := f.call("POST", path, "", "Idempotency-Key: b")
	is.Equal(f.call("POST", path, "", "Idempotency-Key: b").body, minted.body)
	is.Equal(f.call("POST", path, `{"expires_in_hours":1}`, "Idempotency-Key: b").code(), "422 idempotency_key_reuse")
	rows := storagetest.Select[[]byte](t, f.dir, `SELECT body FROM idempotency`)
	is.Equal(len(rows), 2)
	for _, row := range rows {
		is.True(!strings.Contains(string(row), "whsec_"))
	}
	is.Equal(len(f.call("GET", hooks, "").ids()), 1)
	test := hooks + "/" + made.text("data.id") + "/test"
	is.Equal(f.call("POST", test, "", "Idempotency-Key: c").body, f.call("POST", test, "", "Idempotency-Key: c").body)
	is.Equal(storagetest.Effects(t, f.dir)["deliveries"], 1)
}

func TestAnInactiveSubscriptionOfTheOrganizationMakesNoEndpoints(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	id := f.call("POST", hooks, hook).text("data.id")
	f.change(f.tenant, func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
	is.Equal(f.call("POST", hooks, hook).code(), "402 subscription_inactive")
	is.Equal(f.call("POST", hooks+"/"+id+"/secrets", "").code(), "402 subscription_inactive")
	is.Equal(f.call("POST", hooks, `{"url":"http://shop.test","events":["*"]}`).code(), "400 invalid_webhook_url url") // the body's faults come first
	is.Equal(f.call("POST", hooks+"/"+id+"/test", "").status, 202)
	is.Equal(f.call("PATCH", hooks+"/"+id, `{"status":"paused"}`).status, 200)
}

func TestEventsGoToNewSubscriptionsAsTheyAsk(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	f.connect(f.tenant, number)
	f.connect(f.tenant, "100200301")
	var ids []string
	for _, body := range []string{
		`{"url":"https://shop.test/1","events":["contact.created"]}`,
		`{"url":"https://shop.test/2","events":["*"],"phone_number_ids":["100200301"]}`,
		`{"url":"https://shop.test/3","events":["message.sent"]}`,
		`{"url":"https://shop.test/4","events":["*"],"status":"paused"}`,
	} {
		ids = append(ids, f.call("POST", hooks, body).text("data.id"))
	}
	f.call("POST", messages, hello) // makes a contact
	var got []string
	for _, d := range f.call("GET", "/webhook_deliveries", "").get("data").([]any) {
		got = append(got, d.(map[string]any)["subscription_id"].(string))
	}
	slices.Sort(got)
	is.Equal(got, []string{ids[0], ids[3]})
}

// One request with a long list of numbers once held the writer for 40 s.
func TestALongListOfNumbersNeverReachesTheWriter(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	id := f.call("POST", hooks, hook).text("data.id")
	own := []string{number}
	for i := range 999 {
		own = append(own, strconv.Itoa(7_000_000+i))
	}
	f.connect(f.tenant, number)
	f.exec(`INSERT INTO accounts (public_id, organization_id, team_id, phone_number_id, status, access_token, created_at, updated_at)
		SELECT 'acc_' || value, ?, ?, value, 'connected', x'00', 1, 1 FROM json_each(?)`, f.tenant.Organization.ID, f.tenant.Team.ID, toJSON(own[1:]))
	body := func(numbers ...string) string {
		return `{"url":"https://hooks.example.com/in","events":["*"],"phone_number_ids":` + toJSON(numbers) + `}`
	}

	made := f.call("POST", hooks, body(own...))
	is.Equal(made.status, 201)
	is.Equal(len(made.get("data.phone_number_ids").([]any)), 1000)
	before := f.effects()
	for _, many := range [][]string{append(own, "123456"), slices.Repeat([]string{number}, 1001), slices.Repeat(own, 30)} {
		is.Equal(f.call("POST", hooks, body(many...)).code(), "400 invalid_field_value phone_number_ids")
		is.Equal(f.call("PATCH", hooks+"/"+id, body(many...)).code(), "400 invalid_field_value phone_number_ids")
	}
	is.Equal(f.effects(), before)

	// The index is that in the list as it was sent.
	is.Equal(f.call("POST", hooks, body(number, number, "999999", "888888")).code(), "400 invalid_field_value phone_number_ids[2]")
	is.Equal(f.call("PATCH", hooks+"/"+id, body(number, number, own[5], "888888")).code(), "400 invalid_field_value phone_number_ids[3]")
	events := `{"url":"https://hooks.example.com/in","events":` + toJSON(slices.Repeat([]string{"message.sent"}, 100)) + `}`
	is.Equal(f.call("POST", hooks, events).get("data.events"), []any{"message.sent"}) // each once
}
