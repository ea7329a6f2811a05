package api

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"confab/app/simulator"
	"confab/jobs/guard"
	"confab/storage"
	"confab/storage/storagetest"
)

const (
	readyPath = templatesPath + "/order_ready"
	otherText = `{"components":[{"type":"body","text":"Dear {{1}}, your order waits.","example":{"body_text":[["Ana"]]}}]}`
)

// serveApproved starts an API whose number has an approved template, order_ready.
func serveApproved(t testing.TB) *upstreamed {
	t.Helper()
	u := serveUpstream(t, simulator.Number{})
	if got := u.call("POST", templatesPath, orderReady); got.status != 201 {
		t.Fatal(got.body)
	}
	u.review("APPROVED")
	return u
}

// review has the provider decide on order_ready, and lets us know.
func (u *upstreamed) review(status string) {
	u.t.Helper()
	u.control("POST", "/templates/order_ready/review", `{"status":"`+status+`"}`)
	if got := u.call("POST", templatesPath+"/sync", ""); got.status != 200 {
		u.t.Fatal(got.body)
	}
}

func TestAnEditedTemplateIsReviewedAgain(t *testing.T) {
	is := is.New(t)
	u := serveApproved(t)
	before, _ := u.stored("order_ready", "en_US")
	is.Equal(before.Status, "approved")
	got := u.call("PATCH", readyPath, otherText)
	is.Equal(got.status, 200)
	is.Equal(got.text("data.id"), before.ID)
	is.Equal(got.text("data.status")+" "+got.text("data.provider_status"), "pending PENDING")
	is.Equal(got.text("data.content"), "Dear {{1}}, your order waits.")
	is.Equal(fmt.Sprint(got.get("data.variables")), "[1]")
	is.Equal(len(got.get("data.components").([]any)), 1) // replaced as a whole
	is.Equal(u.call("GET", readyPath, "").get("data"), got.get("data"))
	there := u.simulate("GET", "/"+before.ProviderTemplateID, "")
	is.Equal(there["status"], "PENDING")
	is.Equal(there["components"].([]any)[0].(map[string]any)["text"], "Dear {{1}}, your order waits.")
}

func TestAnEditIsRefused(t *testing.T) {
	is := is.New(t)
	u := serveApproved(t)
	for body, want := range map[string]string{
		`{}`:                                "400 missing_required_field components",
		`{"name":"x"}`:                      "400 missing_required_field components",
		`{"components":null}`:               "400 invalid_field_value components",
		`{"category":null}`:                 "400 invalid_field_value category",
		`{"message_send_ttl_seconds":null}`: "400 invalid_field_value message_send_ttl_seconds",
		`{"components":[]}`:                 "400 invalid_field_value components",
		`{"components":[{"type":"BODY","text":"Hi {{1}} there"}]}`:    "400 missing_required_field components[0].example",
		`{"components":[{"type":"BODY","text":"Hi {{name}} there"}]}`: "400 invalid_field_value components[0].text",
		`{"category":"NEWS"}`:                                                            "400 invalid_field_value category",
		`{"message_send_ttl_seconds":29}`:                                                "400 invalid_field_value message_send_ttl_seconds",
		`{"message_send_ttl_seconds":43200,"category":"AUTHENTICATION"}`:                 "400 invalid_field_value message_send_ttl_seconds",
		`{"components":[{"type":"BODY","text":"Hi there"}],"category":"AUTHENTICATION"}`: "400 invalid_field_value components",
		`{"category":"MARKETING"}`:                                                       "400 invalid_field_value category", // the provider's word: it is approved
	} {
		if got := u.call("PATCH", readyPath, body).code(); got != want {
			t.Errorf("%s: %s, not %s", body, got, want)
		}
	}
	is.Equal(u.call("PATCH", templatesPath+"/nope", `{`).code(), "404 resource_not_found") // before the body is read
	is.Equal(u.call("PATCH", readyPath+"?language=de", otherText).code(), "404 resource_not_found")
	is.Equal(u.call("PATCH", readyPath+"?language=", otherText).code(), "400 invalid_field_value language")
	is.Equal(u.call("PATCH", readyPath, `{`).code(), "400 invalid_json")
	other := storagetest.Seed(t, u.db, "Other")
	is.Equal(u.callAs(other.Secret, "PATCH", readyPath, otherText).code(), "404 resource_not_found")
	after, _ := u.stored("order_ready", "en_US")
	is.Equal(after.Status, "approved")

	is.Equal(u.call("PATCH", readyPath, otherText).status, 200)
	got := u.call("PATCH", readyPath, storagetest.Swap(t, otherText, "Dear", "Beloved")) // while it is reviewed
	is.Equal(got.code(), "400 invalid_field_value components")
	is.True(strings.Contains(got.text("error.message"), "cannot be edited"))
}

func TestARejectedTemplateMayGetAnotherCategory(t *testing.T) {
	is := is.New(t)
	u := serveApproved(t)
	u.review("REJECTED")
	got := u.call("PATCH", readyPath, `{"category":"marketing","message_send_ttl_seconds":"43200"}`)
	is.Equal(got.status, 200)
	is.Equal(got.text("data.category")+" "+got.text("data.status"), "MARKETING pending")
	is.Equal(got.get("data.rejected_reason"), nil)
	is.Equal(len(got.get("data.components").([]any)), 2) // as they were
}

func TestAnEditThatWasCutOffIsFinished(t *testing.T) {
	is := is.New(t)
	u := serveApproved(t)
	u.fault(`{"kind":"drop_connection","endpoint":"templates"}`)
	is.Equal(u.call("PATCH", readyPath, otherText).code(), "502 whatsapp_upstream_error")
	before, _ := u.stored("order_ready", "en_US")
	is.Equal(before.Status, "approved")
	got := u.call("PATCH", readyPath, otherText) // which the provider reviews by now, and takes no more edits of
	is.Equal(got.status, 200)
	is.Equal(got.text("data.status")+" "+got.text("data.content"), "pending Dear {{1}}, your order waits.")
}

func TestATemplateWhoseProviderIDNobodyToldIsLookedUpFirst(t *testing.T) {
	is := is.New(t)
	u := serveApproved(t)
	u.exec(`UPDATE templates SET provider_template_id = NULL WHERE name = 'order_ready'`)
	is.Equal(u.call("PATCH", readyPath, otherText).status, 200)
	one, _ := u.stored("order_ready", "en_US")
	is.True(one.ProviderTemplateID != "")
	is.Equal(u.call("PATCH", templatesPath+"/notice", otherText).code(), "404 resource_not_found") // which the provider never had
}

func TestATemplateThatIsGoneAtTheProviderIsMissing(t *testing.T) {
	is := is.New(t)
	u := serveApproved(t)
	u.simulate("DELETE", "/"+u.number.WABAID+"/message_templates?name=order_ready", "")
	is.Equal(u.call("PATCH", readyPath, otherText).code(), "404 resource_not_found")
	is.Equal(u.detail().Status, storage.AccountConnected)
}

func TestAVerdictThatComesBeforeTheEditIsStoredStays(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	one := f.put(storage.Template{AccountID: account.ID, Name: "order_ready", Language: "en_US", Status: "approved", ProviderStatus: "APPROVED", ProviderTemplateID: "777", Category: "UTILITY"})
	f.upstream.before(func() { // by the provider's callback
		told := one
		told.Status, told.ProviderStatus, told.Reason = "rejected", "REJECTED", "SCAM"
		storagetest.Update(t, f.db, func(tx *storage.Tx) error {
			if err := tx.MarkTemplateReviewed(one.AccountID, one.ID); err != nil {
				return err
			}
			return tx.UpdateTemplate(&told)
		})
	}, 200, `{"success":true}`)
	got := f.call("PATCH", readyPath, otherText)
	is.Equal(got.text("data.status")+" "+got.text("data.rejected_reason")+" "+got.text("data.content"), "rejected SCAM Dear {{1}}, your order waits.")
}

func TestASyncTakesOverWhatTheProviderHas(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	u.exec(`DELETE FROM templates`)
	sync := func() string {
		t.Helper()
		got := u.call("POST", templatesPath+"/sync", "")
		is.Equal(got.status, 200)
		is.Equal(got.get("data.object"), "template_sync")
		return fmt.Sprint(got.get("data.created"), got.get("data.updated"), got.get("data.deleted"), got.get("data.synced"))
	}
	is.Equal(sync(), "0 0 0 0")
	for i := range 120 { // more than a page of the provider's
		if _, err := u.sim.AddTemplate(u.number.WABAID, simulator.Template{Name: fmt.Sprint("t", i), Language: "en", Category: "UTILITY",
			Components: []map[string]any{{"type": "BODY", "text": "Hi"}}}); err != nil {
			t.Fatal(err)
		}
	}
	is.Equal(sync(), "120 0 0 120")
	is.Equal(sync(), "0 0 0 120")
	u.control("POST", "/templates/t7/review", `{"status":"PAUSED"}`)
	u.simulate("DELETE", "/"+u.number.WABAID+"/message_templates?name=t8", "")
	is.Equal(sync(), "0 1 1 119")
	got := u.call("GET", templatesPath+"/t7", "")
	is.Equal(got.text("data.status")+" "+got.text("data.provider_status"), "rejected PAUSED")
	is.Equal(u.call("GET", templatesPath+"/t8", "").status, 404)
	first := u.call("POST", templatesPath+"/sync", "", "Idempotency-Key: k")
	golden(t, "template_sync", first.body)
	u.control("POST", "/templates/t9/review", `{"status":"PAUSED"}`)
	again := u.call("POST", templatesPath+"/sync", "", "Idempotency-Key: k")
	is.Equal(again.body, first.body)
	is.Equal(again.header.Get("Idempotent-Replayed"), "true")
}

// sendOf is a message with a template.
func sendOf(name string) string {
	return `{"messaging_product":"chat","to":"+15551234567","type":"template","template":{"name":"` + name + `","language":"en"}}`
}

func TestASendLooksForATemplateThatIsNotKnownHere(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	if _, err := u.sim.AddTemplate(u.number.WABAID, simulator.Template{Name: "fresh", Language: "en", Category: "UTILITY", Components: []map[string]any{{"type": "BODY", "text": "It is here."}}}); err != nil {
		t.Fatal(err)
	}
	is.Equal(u.call("POST", messages, sendOf("notice")).status, 200)
	is.Equal(u.asked.count(""), 0) // the provider is not asked for a known template
	got := u.call("POST", messages, sendOf("fresh"))
	is.Equal(got.status, 200)
	is.Equal(u.asked.count("message_templates"), 1)
	_, found := u.stored("fresh", "en")
	is.True(found)
	for range 3 {
		is.Equal(u.call("POST", messages, sendOf("nope")).code(), "400 invalid_template_name template.name")
	}
	is.Equal(u.asked.count("message_templates"), 1) // once a minute
	is.Equal(u.call("POST", messages, storagetest.Swap(t, sendOf("fresh"), `"language":"en"`, `"language":"en","components":[{"type":"body","parameters":[{"type":"text","text":"x"}]}]`)).code(),
		"400 invalid_field_value template.components[0].parameters")
}

func TestASendWhoseTemplateCannotBeLookedForIsA502(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	u.fault(`{"kind":"http_500","endpoint":"templates","times":1}`)
	is.Equal(u.call("POST", messages, sendOf("nope")).code(), "502 whatsapp_upstream_error")
	is.Equal(u.effects(), "map[]") // nothing was accepted
	is.Equal(u.call("POST", messages, sendOf("nope")).code(), "400 invalid_template_name template.name")
	is.Equal(u.asked.count("message_templates"), 2)
}

func TestSendsAtOnceShareOneLook(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	if _, err := u.sim.AddTemplate(u.number.WABAID, simulator.Template{Name: "fresh", Language: "en", Category: "UTILITY", Components: []map[string]any{{"type": "BODY", "text": "It is here."}}}); err != nil {
		t.Fatal(err)
	}
	arrived, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	u.asked.before = func(r *http.Request) {
		once.Do(func() { close(arrived) })
		<-release
	}
	answers := make(chan answer)
	for range 8 {
		go func() { answers <- u.call("POST", messages, sendOf("fresh")) }()
	}
	<-arrived
	close(release)
	for range 8 {
		is.Equal((<-answers).status, 200)
	}
	is.Equal(u.asked.count("message_templates"), 1)
}

func TestAnAccountThatIsNotConnectedLooksForNothing(t *testing.T) {
	is := is.New(t)
	u := serveUpstream(t, simulator.Number{})
	u.mark(storage.AccountDegraded)
	is.Equal(u.call("POST", messages, sendOf("nope")).code(), "400 invalid_template_name template.name")
	is.Equal(u.asked.count(""), 0)
}

// serveFetching is serveUpstream with what fetches links.
func serveFetching(t *testing.T) *upstreamed {
	t.Helper()
	dir := t.TempDir()
	fetch := guard.New(guard.Options{AllowInsecure: true, Allow: loopback, Redirects: guard.MaxRedirects})
	t.Cleanup(fetch.Close)
	u := serveUpstream(t, simulator.Number{}, func(o *testOptions) {
		o.Files, o.Fetch, o.AllowInsecureURLs = storagetest.Files(t, dir), fetch, true
	})
	u.files = dir
	return u
}

// pictured is a template whose header is a file.
func pictured(format, example string) string {
	return draft("MARKETING", "", greeting, topped(format, `,"example":`+example))
}

func TestAHeadersFileIsFetchedAndUploaded(t *testing.T) {
	at := elsewhere(t)
	for name, example := range map[string]string{
		"a URL":                  `{"header_url":"` + at + `/menu.png"}`,
		"a URL in a list":        `{"header_url":["` + at + `/menu.png"]}`,
		"a URL for a handle":     `{"header_handle":["` + at + `/menu.png"]}`,
		"behind three redirects": `{"header_url":"` + at + `/hops/3"}`,
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			u := serveFetching(t)
			got := u.call("POST", templatesPath, pictured("IMAGE", example))
			is.Equal(got.status, 201)
			one, _ := u.stored("order_ready", "en_US")
			is.True(strings.Contains(string(one.Components), `"example":{"header_handle":["4::aW1hZ2UvcG5n:`)) // of an image/png
			is.True(!strings.Contains(string(one.Components), at))
			is.Equal(u.asked.count("/uploads"), 1)
			is.Equal(len(u.kept()), 0) // nothing of it is left here
			is.Equal(u.call("PATCH", readyPath, `{"message_send_ttl_seconds":43200}`).code(), "400 invalid_field_value components")
		})
	}
}

func TestCardsThatShareAFileUploadItOnce(t *testing.T) {
	is := is.New(t)
	u := serveFetching(t)
	card := storagetest.Swap(t, imageCard, "4::a", elsewhere(t)+"/menu.png")
	is.Equal(u.call("POST", templatesPath, draft("MARKETING", "", greeting, carousel(card, card, imageCard))).status, 201)
	is.Equal(u.asked.count("/uploads"), 1)
}

func TestAHeadersFileThatWillNotDoIsNamed(t *testing.T) {
	at := elsewhere(t)
	const byURL, byHandle = "components[1].example.header_url", "components[1].example.header_handle[0]"
	for name, c := range map[string]struct{ format, example, want string }{
		"nothing there":        {"IMAGE", `{"header_url":"` + at + `/nope.png"}`, byURL},
		"no file at all":       {"IMAGE", `{"header_url":"` + at + `/empty"}`, byURL},
		"a page":               {"IMAGE", `{"header_url":"` + at + `/page.png"}`, byURL},
		"too large":            {"IMAGE", `{"header_url":"` + at + `/large.png"}`, byURL},
		"cut short":            {"IMAGE", `{"header_url":"` + at + `/broken.png"}`, byURL},
		"too many redirects":   {"IMAGE", `{"header_url":"` + at + `/hops/4"}`, byURL},
		"an inner address":     {"IMAGE", `{"header_handle":["http://169.254.169.254/x.png"]}`, byHandle},
		"a redirect inside":    {"IMAGE", `{"header_url":"` + at + `/inside"}`, byURL},
		"an image as a video":  {"VIDEO", `{"header_url":"` + at + `/menu.png"}`, byURL},
		"an image as a GIF":    {"GIF", `{"header_url":"` + at + `/menu.png"}`, byURL},
		"an image as document": {"DOCUMENT", `{"header_handle":["` + at + `/menu.png"]}`, byHandle},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			u := serveFetching(t)
			is.Equal(u.call("POST", templatesPath, pictured(c.format, c.example)).code(), "400 invalid_field_value "+c.want)
			is.Equal(u.asked.count(""), 0)
			is.Equal(len(u.kept()), 0)
		})
	}
	t.Run("in a card", func(t *testing.T) {
		is := is.New(t)
		u := serveFetching(t)
		card := storagetest.Swap(t, imageCard, "4::a", at+"/nope.png")
		is.Equal(u.call("POST", templatesPath, draft("MARKETING", "", greeting, carousel(imageCard, card))).code(),
			"400 invalid_field_value components[1].cards[1].components[0].example.header_handle[0]")
	})
	t.Run("in an edit", func(t *testing.T) {
		is := is.New(t)
		u := serveFetching(t)
		is.Equal(u.call("POST", templatesPath, pictured("IMAGE", `{"header_handle":["4::a"]}`)).status, 201)
		u.review("APPROVED")
		edit := `{"components":[` + greeting + `,` + topped("IMAGE", `,"example":{"header_url":"`+at+`/%s"}`) + `]}`
		is.Equal(u.call("PATCH", readyPath, fmt.Sprintf(edit, "nope.png")).code(), "400 invalid_field_value "+byURL)
		is.Equal(u.call("PATCH", readyPath, fmt.Sprintf(edit, "menu.png")).status, 200)
		is.Equal(u.asked.count("/uploads"), 1)
	})
}
