package api

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

var (
	setupURL  = regexp.MustCompile(`^https://chat\.test/onboard/(csl_[A-Za-z0-9_-]{24})$`)
	anyToken  = regexp.MustCompile(`onboard/csl_[A-Za-z0-9_-]{24}`)
	anyLast4  = regexp.MustCompile(`"token_last4":".{4}"`)
	withToken = func(body string) string {
		body = anyToken.ReplaceAllString(body, "onboard/csl_Zq3n0cYw8kJt5VbR1mXeHx7Q")
		return anyLast4.ReplaceAllString(body, `"token_last4":"Hx7Q"`)
	}
)

// hosted serves the API under a public URL.
func hosted(o *testOptions) { o.Publisher.PublicURL = "https://chat.test" }

func TestASetupLinkLivesFromCreateToRevoke(t *testing.T) {
	is := is.New(t)
	f := serve(t, hosted)
	customer := f.newCustomer("Bakery")
	made := f.call("POST", customer+"/setup_links",
		`{"success_redirect_url":"https://app.test/ok?a=1","failure_redirect_url":"http://localhost:3000/failed","expires_in_hours":1}`)
	is.Equal(made.status, 201)
	golden(t, "setup_link_new", withToken(made.body))
	token := setupURL.FindStringSubmatch(made.text("data.setup_url"))
	is.True(token != nil)
	is.Equal(made.text("data.token_last4"), token[1][len(token[1])-4:])
	is.Equal(lifeOf(t, made), time.Hour)

	path := customer + "/setup_links/" + made.text("data.id")
	golden(t, "setup_link", withToken(f.call("GET", path, "").body))
	golden(t, "setup_link_list", withToken(f.call("GET", customer+"/setup_links", "").body))
	changed := f.call("PATCH", path, `{"success_redirect_url":null,"failure_redirect_url":"https://app.test/no"}`)
	is.Equal(changed.get("data.success_redirect_url"), nil)
	is.Equal(changed.get("data.failure_redirect_url"), "https://app.test/no")
	is.Equal(f.call("PATCH", path, `{"success_redirect_url":"https://app.test/yes"}`).get("data.failure_redirect_url"), "https://app.test/no")

	golden(t, "setup_link_revoked", withToken(f.call("DELETE", path, "").body))
	is.Equal(f.call("DELETE", path, "").code(), "409 setup_link_inactive")
	is.Equal(f.call("PATCH", path, `{"success_redirect_url":null}`).code(), "409 setup_link_inactive")
	is.Equal(f.call("PATCH", path, `{}`).code(), "409 setup_link_inactive") // with any body
	is.Equal(f.call("GET", path, "").get("data.status"), "revoked")
	is.Equal(f.types(), []string{"customer.created", "customer.setup_link.created"})
	storagetest.View(t, f.db, func(rx *storage.Rx) error {
		events, err := rx.Events(f.tenant.Organization.ID, 10)
		is.True(!strings.Contains(string(events[1].Payload), token[1])) // events never show the token
		is.True(strings.Contains(string(events[1].Payload), `"setup_link":{"id":"`+made.text("data.id")))
		return err
	})
}

// lifeOf is how long a new link lives.
func lifeOf(t *testing.T, made answer) time.Duration {
	t.Helper()
	var times [2]time.Time
	for i, name := range []string{"data.created_at", "data.expires_at"} {
		var err error
		if times[i], err = time.Parse(time.RFC3339, made.text(name)); err != nil {
			t.Fatal(err)
		}
	}
	return times[1].Sub(times[0])
}

func TestASetupLinkExpiresWhenItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t, hosted)
		customer := f.newCustomer("Bakery")
		made := f.call("POST", customer+"/setup_links", `{"expires_in_hours":null}`)
		is.Equal(lifeOf(t, made), 168*time.Hour)
		path := customer + "/setup_links/" + made.text("data.id")
		f.exec(`UPDATE setup_links SET expires_at = created_at + 3600000`) // else the tickers of the API go round for a week
		time.Sleep(time.Hour - time.Second)
		is.Equal(f.call("GET", path, "").get("data.status"), "active")
		time.Sleep(time.Second)
		is.Equal(f.call("GET", path, "").get("data.status"), "expired")
		is.Equal(f.call("GET", customer+"/setup_links", "").column("status"), []string{"expired"})
		is.Equal(f.call("PATCH", path, `{"success_redirect_url":null}`).code(), "409 setup_link_inactive")
		is.Equal(f.call("DELETE", path, "").code(), "409 setup_link_inactive")
		is.Equal(f.types(), []string{"customer.created", "customer.setup_link.created"}) // no event is sent
	})
}

func TestAnArchivedCustomerGetsNoNewLinks(t *testing.T) {
	is := is.New(t)
	f := serve(t, hosted)
	customer := f.newCustomer("Bakery")
	is.Equal(f.call("PATCH", customer, `{"status":"suspended"}`).status, 200)
	made := f.call("POST", customer+"/setup_links", "", "Idempotency-Key: before")
	is.Equal(made.status, 201) // a suspended one may still connect
	is.Equal(f.call("DELETE", customer, "").status, 200)
	is.Equal(f.call("POST", customer+"/setup_links", `{"expires_in_hours":0}`).code(), "400 invalid_field_value expires_in_hours")
	is.Equal(f.call("POST", customer+"/setup_links", "").code(), "422 customer_suspended")
	is.Equal(f.call("POST", customer+"/setup_links", "", "Idempotency-Key: before").body, made.body) // the earlier answer is repeated
	is.Equal(f.call("GET", customer+"/setup_links", "").column("id"), []string{made.text("data.id")})
	is.Equal(f.types(), []string{"customer.created", "customer.updated", "customer.setup_link.created", "customer.archived"}) // which is the last
}

func TestTheURLOfASetupLinkIsShownOnceAndSealed(t *testing.T) {
	is := is.New(t)
	f := serve(t, hosted)
	customer := f.newCustomer("Bakery")
	made := f.call("POST", customer+"/setup_links", "", "Idempotency-Key: k1")
	again := f.call("POST", customer+"/setup_links", "", "Idempotency-Key: k1")
	is.Equal(again.body, made.body) // a retry gets the URL that it lost
	is.Equal(again.header.Get("Idempotent-Replayed"), "true")
	token := setupURL.FindStringSubmatch(made.text("data.setup_url"))[1]
	is.Equal(len(f.call("GET", customer+"/setup_links", "").column("id")), 1)
	for _, path := range []string{"", "/" + made.text("data.id")} {
		is.True(!strings.Contains(f.call("GET", customer+"/setup_links"+path, "").body, token))
	}
	f.stop()
	text := readDir(t, f.dir)
	is.True(strings.Contains(string(text), made.text("data.id")))
	is.True(!strings.Contains(string(text), token)) // not readable at rest, in no table
	is.Equal(len(f.log.lines(token)), 0)
}

func TestEveryRuleOfASetupLink(t *testing.T) {
	f := serve(t, hosted)
	customer := f.newCustomer("Bakery")
	for value, want := range map[string]string{
		`"https://app.test"`:                     "",
		`"https://app.test/path?x=1&y=%20#"`:     "x",
		`"https://app.test/#frag"`:               "x",
		`"https://app.test:8443/ok"`:             "",
		`"HTTPS://APP.TEST/ok"`:                  "",
		`"https://192.0.2.1/ok"`:                 "",
		`"https://[2001:db8::1]/ok"`:             "",
		`"https://[fe80::1%25eth0]/ok"`:          "x",
		`"http://localhost/ok"`:                  "",
		`"http://LOCALHOST:3000/ok?a=b"`:         "",
		`"http://127.0.0.1:3000"`:                "",
		`"http://[::1]:3000"`:                    "",
		`"http://app.localhost:3000"`:            "",
		`"http://app.test/ok"`:                   "x",
		`"http://localhost.evil.test"`:           "x",
		`"http://127.0.0.1.evil.test"`:           "x",
		`"ftp://app.test"`:                       "x",
		`"javascript:alert(1)"`:                  "x",
		`"javascript://app.test/%0aalert(1)"`:    "x",
		`"data:text/html,x"`:                     "x",
		`"//app.test/ok"`:                        "x",
		`"/ok"`:                                  "x",
		`"app.test"`:                             "x",
		`"https://"`:                             "x",
		`"https:///ok"`:                          "x",
		`"https://user@app.test"`:                "x",
		`"https://user:pass@app.test"`:           "x",
		`"https://app.test\\@evil.test"`:         "x",
		`"https://app.test/a\\b"`:                "x",
		`"https://app.test/a b"`:                 "x",
		`"https://app.test/\r\nSet-Cookie: a=b"`: "x",
		`"https://app.test/\u0000"`:              "x",
		`"https://app.test\n"`:                   "x",
		`"https://app.test;script-src x/"`:       "x",
		`"https://app.test,evil.test/"`:          "x",
		`"https://bäckerei.test/ok"`:             "x",
		`"https://xn--bckerei-5wa.test/ä?ö=ü"`:   "",
		`"https://app.test:port/"`:               "x",
		`""`:                                     "x",
		`null`:                                   "",
		`7`:                                      "x",
		`["https://app.test"]`:                   "x",
		`"https://app.test/` + strings.Repeat("a", 2031) + `"`: "", // 2048 in all
		`"https://app.test/` + strings.Repeat("a", 2032) + `"`: "x",
	} {
		for _, field := range []string{"success_redirect_url", "failure_redirect_url"} {
			t.Run(field+" "+value[:min(len(value), 60)], func(t *testing.T) {
				is := is.New(t)
				f := f.in(t)
				post, patch := "201", "200"
				if want != "" {
					post = "400 invalid_field_value " + field
					patch = post
				}
				body := `{"` + field + `":` + value + `}`
				made := f.call("POST", customer+"/setup_links", body)
				is.Equal(made.code(), post)
				path := customer + "/setup_links/" + f.call("POST", customer+"/setup_links", "").text("data.id")
				is.Equal(f.call("PATCH", path, body).code(), patch)
			})
		}
	}
	for hours, want := range map[string]string{"1": "201", "720": "201", "null": "201", "0": "x", "721": "x", "-1": "x", "1.5": "x", `"24"`: "x", "1e9": "x"} {
		got := f.call("POST", customer+"/setup_links", `{"expires_in_hours":`+hours+`}`).code()
		is.New(t).Equal(got, strings.Replace(want, "x", "400 invalid_field_value expires_in_hours", 1))
	}
}

func TestASandboxTakesPlainRedirectsToThisMachine(t *testing.T) {
	is := is.New(t)
	f := serve(t, hosted, func(o *testOptions) { o.AllowLocalURLs = true })
	customer := f.newCustomer("Bakery")
	is.Equal(f.call("POST", customer+"/setup_links", `{"success_redirect_url":"http://localhost:3000/ok"}`).status, 201)
	is.Equal(f.call("POST", customer+"/setup_links", `{"success_redirect_url":"http://app.test/ok"}`).code(), "400 invalid_field_value success_redirect_url")
}

func TestInsecureRedirectsAreTakenWhereTheyAreAllowed(t *testing.T) {
	is := is.New(t)
	f := serve(t, hosted, func(o *testOptions) { o.AllowInsecureURLs = true })
	customer := f.newCustomer("Bakery")
	is.Equal(f.call("POST", customer+"/setup_links", `{"success_redirect_url":"http://app.test/ok"}`).status, 201)
	is.Equal(f.call("POST", customer+"/setup_links", `{"success_redirect_url":"ftp://app.test/ok"}`).status, 400)
}

func TestSetupLinksArePagedNewestFirst(t *testing.T) {
	is := is.New(t)
	f := serve(t, hosted)
	customer, other := f.newCustomer("Bakery"), f.newCustomer("Other")
	var ids []string
	for range 5 {
		ids = append([]string{f.call("POST", customer+"/setup_links", "").text("data.id")}, ids...)
		f.call("POST", other+"/setup_links", "")
	}
	var seen []string
	path := customer + "/setup_links?limit=2"
	for next := ""; ; {
		page := f.call("GET", path+next, "")
		seen = append(seen, page.column("id")...)
		if page.get("has_more") == false {
			break
		}
		is.Equal(f.call("GET", other+"/setup_links?limit=2&cursor="+page.text("next_cursor"), "").code(), "400 invalid_cursor cursor")
		next = "&cursor=" + page.text("next_cursor")
	}
	is.Equal(seen, ids)
	is.Equal(f.call("GET", "/customers/"+f.db.NewID("cus_")+"/setup_links?limit=0", "").code(), "404 resource_not_found") // before the query
}

func TestDisconnectingANumberRemovesIt(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	f.customer("active")
	detail := storagetest.Select[string](t, f.dir, `SELECT id FROM customers`)
	customer := "/customers/" + detail[0]
	is.Equal(f.call("GET", customer, "").get("data.whatsapp_accounts").([]any)[0].(map[string]any)["phone_number_id"], number)
	is.Equal(f.call("POST", messages, hello).status, 200)
	gone := f.call("DELETE", customer+"/whatsapp_accounts/"+number, "")
	golden(t, "account_disconnected", gone.body)
	is.Equal(f.call("DELETE", customer+"/whatsapp_accounts/"+number, "").code(), "404 resource_not_found")
	is.Equal(f.call("POST", messages, hello).code(), "404 resource_not_found") // at once
	is.Equal(f.call("GET", customer, "").get("data.whatsapp_accounts"), []any{})
	kinds := storagetest.Select[string](t, f.dir, `SELECT kind FROM jobs WHERE kind LIKE 'account.%' ORDER BY kind`)
	is.Equal(kinds, []string{"account.purge", "account.unsubscribe"})

	again := f.connect(f.tenant, number) // the number is free
	is.True(again.ID != account.ID)
	is.Equal(f.call("POST", messages, hello).status, 200)
	is.Equal(f.call("DELETE", customer+"/whatsapp_accounts/"+number, "").code(), "404 resource_not_found") // it is the organization's own now
	for _, bad := range []string{"12345", "x", strings.Repeat("1", 21), "999999999"} {
		is.Equal(f.call("DELETE", customer+"/whatsapp_accounts/"+bad, "").code(), "404 resource_not_found")
	}
}

func TestWhatIsWrittenForARemovedNumberIsRefused(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	entered, removed := make(chan struct{}), make(chan struct{})
	f.mount(rest.Route{Method: "POST", Path: "/:phone_number_id/late", Handle: func(r *rest.Request) (rest.Reply, error) {
		entered <- struct{}{} // the account was found, and the body read
		<-removed
		return f.api.Update(r, func(*storage.Tx) (rest.Reply, error) { return rest.OK("written"), nil })
	}})
	for _, anew := range []bool{false, true} {
		late := make(chan answer)
		go func() { late <- f.call("POST", "/"+number+"/late", `{}`) }()
		<-entered
		storagetest.Update(t, f.db, func(tx *storage.Tx) error { return tx.RemoveAccount(account.ID, "removed") })
		if anew {
			f.connect(f.tenant, number)
		}
		removed <- struct{}{}
		is.Equal((<-late).code(), "404 resource_not_found")
		if !anew {
			account = f.connect(f.tenant, number)
		}
	}
}

// readDir returns the bytes of all files of a directory whose database is closed.
func readDir(t *testing.T, dir string) (all []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}
