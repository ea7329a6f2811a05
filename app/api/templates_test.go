package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/template"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

const (
	templatesPath = "/" + number + "/templates"
	orderReady    = `{"name":"order_ready","language":"en_US","category":"UTILITY","components":[` +
		`{"type":"body","text":"Hi {{1}}, your order {{2}} is ready.","example":{"body_text":[["Ana","A-1042"]]}},` +
		`{"type":"buttons","buttons":[{"type":"url","text":"Track","url":"https://example.com/{{1}}","example":["https://example.com/5"]},{"type":"quick_reply","text":"Thanks"}]}]}`
)

// namesOf lists the templates of a list, as "name/language".
func namesOf(a answer) (all []string) {
	rows, _ := a.get("data").([]any)
	for _, row := range rows {
		one := row.(map[string]any)
		all = append(all, fmt.Sprint(one["name"], "/", one["language"]))
	}
	return all
}

// put stores a template as it is.
func (f *fixture) put(t storage.Template) storage.Template {
	f.t.Helper()
	if t.Components == nil {
		t.Components = storage.JSON(`[{"type":"BODY","text":"Hi"}]`)
	}
	if t.ParameterFormat == "" {
		t.ParameterFormat = "POSITIONAL"
	}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.InsertTemplate(&t) })
	return t
}

// stored is a template as it is now; found is false when there is none.
func (u *upstreamed) stored(name, language string) (t storage.Template, found bool) {
	u.t.Helper()
	storagetest.View(u.t, u.db, func(rx *storage.Rx) error {
		var err error
		t, err = rx.Template(u.account.ID, name, language)
		found = err == nil
		return storage.IgnoreNotFound(err)
	})
	return t, found
}

func TestTemplatesAreListedByStatusAndLanguage(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t) // with notice and promo, both approved and in English
	f.put(storage.Template{AccountID: account.ID, Name: "wait", Language: "en", Status: "pending"})
	f.put(storage.Template{AccountID: account.ID, Name: "bad", Language: "de", Status: "rejected"})
	f.put(storage.Template{AccountID: account.ID, Name: "promo", Language: "de", Status: "approved"})
	f.put(storage.Template{AccountID: f.connect(storagetest.Seed(t, f.db, "Other"), "100000009").ID, Name: "foreign", Language: "en", Status: "approved"})
	for query, want := range map[string]string{
		"":                            "[promo/de notice/en promo/en]",
		"?status=approved":            "[promo/de notice/en promo/en]",
		"?status=pending":             "[wait/en]",
		"?status=rejected":            "[bad/de]",
		"?status=all":                 "[promo/de bad/de wait/en notice/en promo/en]",
		"?language=de":                "[promo/de]",
		"?status=all&language=de":     "[promo/de bad/de]",
		"?language=fr":                "[]",
		"?status=all&limit=100&more=": "[promo/de bad/de wait/en notice/en promo/en]",
	} {
		got := f.call("GET", templatesPath+query, "")
		is.Equal(got.status, 200)
		if fmt.Sprint(namesOf(got)) != want {
			t.Errorf("%s: %v, not %s", query, namesOf(got), want)
		}
	}
	for query, want := range map[string]string{
		"?status=paused": "400 invalid_field_value status", "?status=": "400 invalid_field_value status", "?language=": "400 invalid_field_value language",
		"?limit=0": "400 invalid_limit limit", "?cursor=x": "400 invalid_cursor cursor",
	} {
		is.Equal(f.call("GET", templatesPath+query, "").code(), want)
	}
	var all []string
	cursor := ""
	for range 5 {
		page := f.call("GET", templatesPath+"?status=all&limit=2"+cursor, "")
		all = append(all, namesOf(page)...)
		cursor = "&cursor=" + page.text("next_cursor")
		if page.get("has_more") == false {
			break
		}
		is.Equal(f.call("GET", templatesPath+"?limit=2"+cursor, "").code(), "400 invalid_cursor cursor") // bound to its filters
	}
	is.Equal(fmt.Sprint(all), "[promo/de bad/de wait/en notice/en promo/en]")
}

func TestATemplateIsGotByItsName(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	f.put(storage.Template{AccountID: account.ID, Name: "order_ready", Language: "de", Status: "pending", ProviderStatus: "IN_APPEAL"})
	f.exec(`INSERT INTO customers (id, organization_id, team_id, name, created_at, updated_at) VALUES ('cus_01JQ0Z8M4T9V2X3W5Y6A7B8C9D', ?, ?, 'Bakery', 1, 1)`,
		f.tenant.Organization.ID, f.tenant.Team.ID)
	f.exec(`UPDATE accounts SET customer_id = 'cus_01JQ0Z8M4T9V2X3W5Y6A7B8C9D'`)
	f.put(storage.Template{AccountID: account.ID, Name: "order_ready", Language: "en_US", Status: "rejected", ProviderStatus: "REJECTED", ProviderTemplateID: "594425479261596",
		Category: "UTILITY", ParameterFormat: "NAMED", Content: "Hi {{name}}, {{ order_id }} for {{name}} is ready.", Reason: "INVALID_FORMAT",
		Components: storage.JSON(`[{"type":"BODY","text":"Hi {{name}}, {{ order_id }} for {{name}} is ready."}]`)})
	got := f.call("GET", templatesPath+"/order_ready", "")
	is.Equal(got.status, 200)
	golden(t, "template", got.body)
	got = f.call("GET", templatesPath+"/order_ready?language=de", "")
	is.Equal(got.text("data.language"), "de")
	is.Equal(f.call("GET", templatesPath+"/order_ready?language=en-US", "").text("data.language"), "en_US") // as a body may write it
	is.Equal(namesOf(f.call("GET", templatesPath+"?status=all&language=en-US", "")), []string{"order_ready/en_US"})
	is.Equal(got.get("data.category"), nil)
	is.Equal(got.get("data.provider_template_id"), nil)
	is.Equal(fmt.Sprint(got.get("data.variables")), "[]")
	for path, want := range map[string]string{
		"/order_ready?language=fr": "404 resource_not_found", "/nope": "404 resource_not_found", "/Order%20Ready": "404 resource_not_found", "/%00": "404 resource_not_found",
		"/order_ready?language=": "400 invalid_field_value language",
	} {
		is.Equal(f.call("GET", templatesPath+path, "").code(), want)
	}
	other := storagetest.Seed(t, f.db, "Other")
	f.connect(other, "100000009")
	is.Equal(f.callAs(other.Secret, "GET", templatesPath+"/order_ready", "").code(), "404 resource_not_found")
	is.Equal(f.callAs(other.Secret, "GET", "/100000009/templates/order_ready", "").code(), "404 resource_not_found")
}

func TestASubmittedTemplateIsPending(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	got := u.call("POST", templatesPath, orderReady)
	is.Equal(got.status, 201)
	id := got.text("data.provider_template_id")
	golden(t, "template_created", storagetest.Swap(t, got.body, id, "594425479261596"))
	there := u.simulate("GET", "/"+id, "")
	is.Equal(there["name"], "order_ready")
	is.Equal(there["status"], "PENDING")
	t1, _ := u.stored("order_ready", "en_US")
	is.Equal(t1.ID, got.text("data.id"))
	is.Equal(u.call("GET", templatesPath+"/order_ready", "").get("data"), got.get("data"))
	is.Equal(namesOf(u.call("GET", templatesPath+"?status=pending", "")), []string{"order_ready/en_US"})

	is.Equal(u.call("POST", templatesPath, orderReady).code(), "409 template_already_exists name")
	is.Equal(u.asked.count("POST"), 1) // without asking the provider
	again := u.call("POST", templatesPath, storagetest.Swap(t, orderReady, "en_US", "de"))
	is.Equal(again.status, 201)                                                         // another language is another template
	is.Equal(u.call("POST", templatesPath+"/sync", "").get("data.updated"), float64(0)) // it is kept as the provider has it
}

func TestATemplateOfEachKindIsSubmitted(t *testing.T) {
	u := serveUpstream(t, simulator.Number{})
	n := 0
	for _, c := range templateRules(t) {
		if c.want != "" || strings.Contains(c.body, "https://example.com/a.png") {
			continue
		}
		n++
		name := fmt.Sprint("t", n)
		category := "UTILITY"
		for _, word := range template.Categories {
			if strings.Contains(strings.ToUpper(c.body), `"CATEGORY":"`+word) {
				category = word
			}
		}
		got := u.call("POST", templatesPath, strings.Replace(strings.Replace(c.body, "order_ready", name, 1), strings.Repeat("a", 512), name, 1))
		if got.status != 201 || got.text("data.status") != "pending" || got.text("data.category") != category {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
	}
	if n < 50 {
		t.Errorf("only %d templates", n)
	}
}

func TestABadTemplateIsRefusedBeforeAnybodyIsAsked(t *testing.T) {
	u := serveUpstream(t, simulator.Number{})
	for _, c := range templateRules(t) {
		if c.want == "" {
			continue
		}
		if got := u.call("POST", templatesPath, c.body).code(); got != "400 "+c.want {
			t.Errorf("%s: %s, not 400 %s", c.name, got, c.want)
		}
	}
	if n := u.asked.count(""); n != 0 {
		t.Errorf("the provider was asked %d times", n)
	}
}

func TestATemplateThatTheProviderHasIsAdoptedWhenItIsTheSame(t *testing.T) {
	media := `{"name":"order_ready","language":"en_US","category":"MARKETING","components":[{"type":"BODY","text":"Look"},{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4::a"]}}]}`
	cards := draft("MARKETING", "", greeting, carousel(imageCard, imageCard))
	code := draft("AUTHENTICATION", "", code, `{"type":"FOOTER","code_expiration_minutes":10}`, otp)
	named := draft("UTILITY", "named", bodyWith("Hi {{who}} there", `{"body_text_named_params":[{"param_name":"who","example":"Ana"}]}`))
	offer := draft("MARKETING", "", greeting, offerOf("Ends soon"), withButtons(`{"type":"COPY_CODE","example":"X1"}`))
	for name, body := range map[string]string{"text": orderReady, "media": media, "cards": cards, "code": code, "named": named, "offer": offer} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			u := serveUpstream(t, simulator.Number{})
			u.fault(`{"kind":"drop_connection","endpoint":"templates"}`) // after it was done
			is.Equal(u.call("POST", templatesPath, body, "Idempotency-Key: k").code(), "502 whatsapp_upstream_error")
			_, found := u.stored("order_ready", "en_US")
			is.True(!found)
			list := u.simulate("GET", "/"+u.number.WABAID+"/message_templates", "")["data"].([]any)
			is.Equal(len(list), 1) // the provider has it all the same
			got := u.call("POST", templatesPath, body, "Idempotency-Key: k")
			is.Equal(got.status, 201)
			is.Equal(got.text("data.provider_template_id"), list[0].(map[string]any)["id"])
			is.Equal(got.text("data.status"), "pending")
			is.Equal(len(u.simulate("GET", "/"+u.number.WABAID+"/message_templates", "")["data"].([]any)), 1)
			is.Equal(u.call("POST", templatesPath, body, "Idempotency-Key: k").header.Get("Idempotent-Replayed"), "true")
			is.Equal(u.call("POST", templatesPath, body).code(), "409 template_already_exists name")
		})
	}
}

func TestAnotherTemplateOfThatNameIsNotAdopted(t *testing.T) {
	u := serveUpstream(t, simulator.Number{})
	u.simulate("POST", "/"+u.number.WABAID+"/message_templates", orderReady)
	for name, other := range map[string]string{
		"another text":   storagetest.Swap(t, orderReady, "is ready", "was ready"),
		"another button": storagetest.Swap(t, orderReady, "Thanks", "Nice"),
		"another link":   storagetest.Swap(t, orderReady, "example.com/{{1}}", "example.org/{{1}}"),
		"no buttons":     draft("UTILITY", "", `{"type":"body","text":"Hi {{1}}, your order {{2}} is ready.","example":{"body_text":[["Ana","A-1042"]]}}`),
		"a footer":       storagetest.Swap(t, orderReady, `"components":[`, `"components":[{"type":"FOOTER","text":"x"},`),
	} {
		if got := u.call("POST", templatesPath, other).code(); got != "409 template_already_exists name" {
			t.Errorf("%s: %s", name, got)
		}
	}
	is := is.New(t)
	_, found := u.stored("order_ready", "en_US")
	is.True(!found)
	is.Equal(u.call("POST", templatesPath, orderReady).status, 201) // the same
}

func TestWhatTheProviderHasAgainstATemplateIsTold(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	is.Equal(u.call("POST", templatesPath, orderReady).status, 201)
	got := u.call("POST", templatesPath, storagetest.Swap(t, storagetest.Swap(t, orderReady, "en_US", "de"), "UTILITY", "MARKETING"))
	is.Equal(got.code(), "400 invalid_field_value category")
	is.Equal(got.text("error.message"), "The provider rejected the template: The category MARKETING doesn't match the one already associated with this template, UTILITY.")

	u.control("POST", "/templates/order_ready/review", `{"status":"APPROVED"}`)
	u.simulate("DELETE", "/"+u.number.WABAID+"/message_templates?name=order_ready", "")
	is.Equal(u.call("POST", templatesPath+"/sync", "").get("data.deleted"), float64(3)) // and the two that the simulator never had
	got = u.call("POST", templatesPath, orderReady)                                     // a name that was approved is blocked for a while
	is.Equal(got.code(), "400 invalid_field_value name")
	is.True(strings.Contains(got.text("error.message"), "being deleted"))
	_, found := u.stored("order_ready", "en_US")
	is.True(!found)
}

func TestTheFieldThatTheProviderNamesIsTheParam(t *testing.T) {
	for _, c := range []struct{ name, fault, want string }{
		{"by its path", `"code":100,"error_subcode":2388046,"error_user_msg":"No.","error_data":{"blame_field_specs":[["components",0,"text"]]}`, "400 invalid_field_value components[0].text"},
		{"by a path of its own", `"code":100,"error_data":{"blame_field_specs":[["whatever"]]}`, "400 invalid_field_value components"},
		{"the header", `"code":100,"error_subcode":2388047`, "400 invalid_field_value components"},
		{"the body", `"code":100,"error_subcode":2388299`, "400 invalid_field_value components[0]"},
		{"the footer", `"code":100,"error_subcode":2388073`, "400 invalid_field_value components"},
		{"in words", `"code":100,"message":"(#100) Param language must be a supported language."`, "400 invalid_field_value language"},
		{"in other words", `"code":100,"message":"(#100) The parameter category is required."`, "400 invalid_field_value category"},
		{"in no word we know", `"code":100,"message":"(#100) Param weather must be fine."`, "400 invalid_field_value components"},
		{"a limit", `"code":100,"error_subcode":2388019,"error_user_msg":"Too many."`, "400 invalid_field_value components"},
		{"a restriction", `"code":368,"message":"(#368) Blocked"`, "422 account_restricted"},
		{"a lost permission", `"code":200,"message":"(#200) No"`, "422 upstream_error"},
		{"too many calls", `"code":80008,"message":"(#80008) Too many"`, "502 whatsapp_upstream_error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			f, _ := serveNumber(t)
			f.upstream.says(400, `{"error":{`+c.fault+`}}`)
			is.Equal(f.call("POST", templatesPath, orderReady).code(), c.want)
		})
	}
}

func TestFailuresOfTheProviderAreA502(t *testing.T) {
	for name, fault := range map[string]string{
		"a broken provider":   `{"kind":"http_500","endpoint":"templates"}`,
		"no answer":           `{"kind":"drop_connection","endpoint":"templates"}`,
		"too many calls":      `{"kind":"rate_limit","endpoint":"templates"}`,
		"an unavailable code": `{"kind":"error_code","code":2,"endpoint":"templates"}`,
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			u := serveUpstream(t, simulator.Number{})
			is.Equal(u.call("POST", templatesPath, storagetest.Swap(t, orderReady, "order_ready", "old")).status, 201)
			before, _ := u.stored("old", "en_US")
			for _, call := range []string{"POST " + templatesPath, "POST " + templatesPath + "/sync", "PATCH " + templatesPath + "/old"} {
				u.control("DELETE", "/faults", "")
				u.fault(fault)
				method, path, _ := strings.Cut(call, " ")
				body := orderReady
				if method == "PATCH" {
					body = `{"category":"MARKETING"}`
				}
				is.Equal(u.call(method, path, body).code(), "502 whatsapp_upstream_error")
			}
			after, _ := u.stored("old", "en_US")
			is.Equal(after, before)
			is.Equal(u.detail().Status, storage.AccountConnected)
		})
	}
}

func TestABadTokenIsTheAccountsFault(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	u.control("POST", "/tokens", `{"access_token":"`+u.sim.Credentials().AccessToken+`","state":"expired"}`)
	is.Equal(u.call("POST", templatesPath, orderReady).code(), "422 upstream_error")
	is.Equal(u.detail().Status, storage.AccountDegraded)
	is.Equal(u.call("POST", templatesPath+"/sync", "").code(), "422 upstream_error")
}

func TestADisconnectedAccountSubmitsNothing(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	u.put(storage.Template{AccountID: u.account.ID, Name: "old", Language: "en", Status: "approved"})
	u.mark(storage.AccountDisconnected)
	is.Equal(u.call("POST", templatesPath, orderReady).code(), "422 upstream_error")
	is.Equal(u.call("POST", templatesPath+"/sync", "").code(), "422 upstream_error")
	is.Equal(u.call("PATCH", templatesPath+"/old", `{"category":"UTILITY"}`).code(), "422 upstream_error")
	is.Equal(u.asked.count(""), 0)
}

func TestAnInactiveSubscriptionSubmitsNothing(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	u.change(u.tenant, func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
	is.Equal(u.call("POST", templatesPath, orderReady).code(), "402 subscription_inactive")
	is.Equal(u.call("POST", templatesPath, `{}`).code(), "400 missing_required_field name") // the body's faults come first
	is.Equal(u.asked.count(""), 0)
	is.Equal(u.call("POST", templatesPath+"/sync", "").status, 200) // which makes nothing that is paid for
}

func TestAReviewThatComesFirstIsNotLost(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	f.upstream.before(func() { // the provider's callback, before the answer
		storagetest.Update(t, f.db, func(tx *storage.Tx) error {
			return tx.InsertRawCallback(storage.RawCallback{Field: "message_template_status_update", Reason: "unknown template",
				Payload: []byte(`{"event":"REJECTED","reason":"SCAM","message_template_id":777,"message_template_name":"order_ready","message_template_language":"en_US"}`)})
		})
	}, 200, `{"id":"777","status":"PENDING","category":"UTILITY"}`)
	got := f.call("POST", templatesPath, orderReady)
	is.Equal(got.status, 201)
	is.Equal(got.text("data.status")+" "+got.text("data.rejected_reason"), "rejected SCAM")
	storagetest.View(t, f.db, func(rx *storage.Rx) error {
		one, err := rx.Template(account.ID, "order_ready", "en_US")
		is.Equal(one.Status, "rejected")
		return err
	})
}

func TestASyncThatSawATemplateFirstDoesNotStandInItsWay(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	var seen storage.Template
	f.upstream.before(func() {
		seen = f.put(storage.Template{AccountID: account.ID, Name: "order_ready", Language: "en_US", Status: "pending", ProviderTemplateID: "777"})
	}, 200, `{"id":"777","status":"PENDING","category":"UTILITY"}`)
	got := f.call("POST", templatesPath, orderReady)
	is.Equal(got.status, 201)
	is.Equal(got.text("data.id"), seen.ID)
	is.Equal(got.text("data.content"), "Hi {{1}}, your order {{2}} is ready.")
}

func TestADeletedTemplateMayBeSubmittedAnew(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	old := u.put(storage.Template{AccountID: u.account.ID, Name: "order_ready", Language: "en_US", Status: "rejected", ProviderStatus: "DELETED", ProviderTemplateID: "1"})
	got := u.call("POST", templatesPath, orderReady)
	is.Equal(got.status, 201)
	is.True(got.text("data.id") != old.ID)
	is.Equal(len(namesOf(u.call("GET", templatesPath+"?status=all", ""))), 3)
}
