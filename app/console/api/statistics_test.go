package api

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/matryer/is"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/jobs/errorcode"
	"confab/jobs/event"
	"confab/jobs/webhook"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestAWebhooksDayIsSummedUp(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	admin := f.signedIn(f.tenant, storage.RoleAdmin)
	id := f.call("POST", hooks, hook).text("data.id")
	path := hooks + "/" + id + "/day"
	got := f.visit(admin, "GET", path, "")
	is.Equal(got.status, 200)
	is.Equal(got.get("data.success_rate"), nil)
	for _, status := range []string{"succeeded", "succeeded", "failed", "dead"} {
		f.settle(f.call("POST", hooks+"/"+id+"/test", `{}`).text("data.id"), status)
	}
	got = f.visit(admin, "GET", path, "")
	is.Equal([]any{got.get("data.object"), got.get("data.total"), got.get("data.success_rate"), got.get("data.duration_ms.p95")},
		[]any{"webhook_subscription_day", 4.0, 0.5, 12.0})
	hours := got.get("data.hours").([]any)
	is.Equal(len(hours), 24)
	last := hours[23].(map[string]any)
	delete(last, "from")
	is.Equal(last, map[string]any{"total": 4.0, "succeeded": 2.0, "failed": 1.0, "dead": 1.0})
}

func TestANumbersDayAndAnOrganizationsMonthAreSummedUp(t *testing.T) {
	is := is.New(t)
	f := serve(t, func(o *testOptions) { o.Plans["small"] = rest.Plan{API: true, MonthlyMessages: 500} })
	account := f.connect(f.tenant, number)
	c := storage.Contact{AccountID: account.ID, PhoneNumber: new("+15550001111")}
	storagetest.Update(t, f.db, func(tx *storage.Tx) error { tx.CountMessage(f.tenant.Organization.ID); return tx.InsertContact(&c) })
	said := f.say(c, written("text", storage.MessageSent), written("text", storage.MessageRead), written("text", storage.MessageQueued), received("wamid.1"))
	storagetest.Update(t, f.db, func(tx *storage.Tx) error {
		return tx.MarkFailed(&said[2], "outside_24h_window", "too late", new(131047))
	})

	agent := f.signedIn(f.tenant, storage.RoleAgent)
	got := f.visit(agent, "GET", "/"+number+"/quality", "")
	is.Equal(got.status, 200)
	last := got.get("data.hours").([]any)[23].(map[string]any)
	delete(last, "from")
	is.Equal(last, map[string]any{"sent": 2.0, "delivered": 1.0, "read": 1.0, "failed": 1.0, "received": 1.0})
	reason := got.get("data.failures").([]any)[0].(map[string]any)
	is.Equal([]any{reason["code"], reason["provider_code"], reason["count"]}, []any{"outside_24h_window", 131047.0, 1.0})
	is.True(strings.Contains(reason["meaning"].(string), "24 hours"))
	meaning := func(header ...string) string {
		return f.visit(agent, "GET", "/"+number+"/quality", "", header...).get("data.failures").([]any)[0].(map[string]any)["meaning"].(string)
	}
	is.True(strings.Contains(meaning("Accept-Language: id"), "24 jam"))
	agent.User.Language = new("es")
	is.True(strings.Contains(meaning("Accept-Language: id"), "24 horas"))

	admin := f.signedIn(f.tenant, storage.RoleAdmin)
	got = f.visit(admin, "GET", "/health", "")
	is.Equal(got.status, 200)
	is.Equal(len(got.get("data.days").([]any)), 30)
	is.Equal(got.get("data.days").([]any)[29].(map[string]any)["sent"], 2.0)
	is.Equal([]any{got.get("data.usage.messages"), got.get("data.usage.limit")}, []any{1.0, nil})
	admin.Organization.Plan = "small"
	is.Equal(f.visit(admin, "GET", "/health", "").get("data.usage.limit"), 500.0)
}

// Every code that a message can fail with is explained: all constants of package errorcode.
func TestEveryFailureHasAMeaning(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../../jobs/errorcode/errorcode.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			codes++
			if name, _ := strconv.Unquote(lit.Value); failureMeanings[errorcode.Code(name)] == "" {
				t.Errorf("%s is not explained", name)
			}
		}
		return true
	})
	if codes != len(failureMeanings) || codes < 20 {
		t.Errorf("%d codes, %d meanings", codes, len(failureMeanings))
	}
}

func TestASampleOfEveryEventCanBeChangedAndSent(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	admin := f.signedIn(f.tenant, storage.RoleAdmin)
	id := f.call("POST", hooks, hook).text("data.id")
	is.Equal(len(f.visit(admin, "GET", "/event_types", "").get("data").([]any)), len(event.Types()))
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPIDocument())
	is.NoErr(err)
	for _, kind := range event.Types() {
		got := f.visit(admin, "GET", "/event_sample?type="+kind, "")
		is.Equal(got.status, 200)
		schema := doc.Webhooks[kind].Post.RequestBody.Value.Content["application/json"].Schema.Value
		is.NoErr(schema.VisitJSON(got.get("data.payload")))
	}
	is.Equal(f.visit(admin, "GET", "/event_sample?type=bogus", "").code(), "400 invalid_event_type type")

	test := hooks + "/" + id + "/test"
	sent := f.visit(admin, "POST", test, `{"event_type":"contact.created","payload":{ "mine" : [1.50, "ü"] }}`)
	is.Equal(sent.status, 202)
	is.True(strings.Contains(f.call("GET", deliveries+"/"+sent.text("data.id"), "").body, `"payload":{"mine":[1.50,"ü"]}`)) // as it was written
	before := f.effects()
	for body, want := range map[string]string{
		`{"payload":{}}`:                                                                         "400 missing_required_field event_type",
		`{"event_type":"contact.created"}`:                                                       "400 missing_required_field payload",
		`{"event_type":"contact.created","payload":null}`:                                        "400 missing_required_field payload",
		`{"event_type":"contact.created","payload":[]}`:                                          "400 invalid_field_value payload",
		`{"event_type":"contact.created","payload":"x"}`:                                         "400 invalid_field_value payload",
		`{"event_type":"bogus","payload":{}}`:                                                    "400 invalid_event_type event_type",
		`{"event_type":"contact.created","payload":{"a":"` + strings.Repeat("x", 64<<10) + `"}}`: "400 invalid_field_value payload",
	} {
		is.Equal(f.visit(admin, "POST", test, body).code(), want)
	}
	is.Equal(f.effects(), before)
	f.disable(id)
	is.Equal(f.visit(admin, "POST", test, `{"event_type":"contact.created","payload":{}}`).code(), "409 webhook_subscription_disabled")
}

func TestTheRequestOfADeliveryIsShownAsItWasSigned(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	admin := f.signedIn(f.tenant, storage.RoleAdmin)
	made := f.call("POST", hooks, `{"url":"https://shop.test/hook","events":["*"],"custom_headers":{"X-Shop":"nord"}}`)
	id, secret := made.text("data.id"), made.text("data.initial_secret")
	d := f.call("POST", hooks+"/"+id+"/test", `{}`).text("data.id")
	path := deliveries + "/" + d + "/request"
	got := f.visit(admin, "GET", path, "")
	is.Equal([]any{got.status, got.get("data.as_sent"), got.get("data.attempt"), got.get("data.url")}, []any{200, false, 1.0, "https://shop.test/hook"})

	f.settle(d, "dead")
	f.call("POST", hooks+"/"+id+"/secrets", `{}`) // which did not sign it
	got = f.visit(admin, "GET", path, "")
	is.Equal([]any{got.get("data.as_sent"), got.get("data.attempt")}, []any{true, 2.0})
	headers := make(map[string]string)
	for _, h := range got.get("data.headers").([]any) {
		headers[h.(map[string]any)["name"].(string)] = h.(map[string]any)["value"].(string)
	}
	is.Equal(headers["X-Shop"], "nord")
	is.Equal(headers["X-Svc-Attempt"], "2")
	is.Equal(strings.Count(headers["X-Svc-Signature"], "v1="), 1)
	is.True(!errors.Is(webhook.Verify(headers["X-Svc-Signature"], []byte(got.text("data.body")), time.Now(), secret), webhook.ErrMismatch))
	is.True(!strings.Contains(got.body, secret))
	is.Equal(got.get("data.replayed_as"), nil)

	f.call("POST", deliveries+"/"+d+"/replay", "")
	again := f.call("POST", deliveries+"/"+d+"/replay", "").text("data.id")
	is.Equal(f.visit(admin, "GET", path, "").get("data.replayed_as"), again) // the latest
	is.Equal(f.visit(admin, "GET", deliveries+"/"+again+"/request", "").get("data.replayed_as"), nil)
	is.Equal(f.visit(admin, "GET", deliveries+"/wbd_01JQ0Z8M4T9V2X3W5Y6A7B8C9D/request", "").status, 404)
}
