package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

// newCustomer makes a customer and returns its path.
func (f *fixture) newCustomer(name string) string {
	f.t.Helper()
	made := f.call("POST", "/customers", fmt.Sprintf(`{"name":%q}`, name))
	if made.status != 201 {
		f.t.Fatal(made.body)
	}
	return "/customers/" + made.text("data.id")
}

// types lists the types of all events so far.
func (f *fixture) types() (types []string) {
	f.t.Helper()
	storagetest.View(f.t, f.db, func(rx *storage.Rx) error {
		all, err := rx.Events(f.tenant.Organization.ID, 1000)
		for _, e := range all {
			types = append(types, e.Type)
		}
		return err
	})
	return types
}

func TestACustomerLivesFromCreateToArchive(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	made := f.call("POST", "/customers", `{"name":"Bakery Nord","email":"hello@bakery.example","metadata":{ "crm": {"id": 4711} }}`)
	is.Equal(made.status, 201)
	golden(t, "customer", made.body)
	path := "/customers/" + made.text("data.id")
	golden(t, "customer_detail", f.call("GET", path, "").body)
	golden(t, "customer_list", f.call("GET", "/customers", "").body)
	is.Equal(f.types(), []string{"customer.created"})

	changed := f.call("PATCH", path, `{"name":"Bakery Süd","email":null,"status":"suspended","metadata":{"tier":2}}`)
	is.Equal(changed.get("data.name"), "Bakery Süd")
	is.Equal(changed.get("data.email"), nil)
	is.Equal(changed.get("data.status"), "suspended")
	is.Equal(changed.get("data.metadata"), map[string]any{"tier": 2.0}) // replaced as a whole
	is.Equal(f.types(), []string{"customer.created", "customer.updated"})

	gone := f.call("DELETE", path, "")
	golden(t, "customer_archived", gone.body)
	is.Equal(f.call("DELETE", path, "").get("data"), gone.get("data")) // again the same
	is.Equal(f.types(), []string{"customer.created", "customer.updated", "customer.archived"})
	is.Equal(f.call("GET", "/customers", "").get("data"), []any{})
	is.Equal(f.call("GET", path, "").get("data.status"), "archived")
	is.Equal(f.call("PATCH", path, `{"status":"active"}`).code(), "400 invalid_field_value status")
	is.Equal(f.call("PATCH", path, `{"name":"Still here","status":"pending"}`).code(), "400 invalid_field_value status")
	is.Equal(f.call("PATCH", path, `{"name":"Still here"}`).get("data.status"), "archived")
	is.Equal(f.types(), []string{"customer.created", "customer.updated", "customer.archived", "customer.updated"})
}

func TestAChangeThatChangesNothingIsNotTold(t *testing.T) {
	f := serve(t)
	path := "/customers/" + f.call("POST", "/customers", `{"name":"Bakery","email":"a@b.test","metadata":{"a":1,"b":[1.0,"x"]}}`).text("data.id")
	before := f.call("GET", path, "").get("data")
	for _, body := range []string{
		`{"name":"Bakery"}`, `{"email":"a@b.test"}`, `{"status":"pending"}`, `{"metadata":{ "b":[1.0,"x"], "a":1 }}`,
		`{"name":"Bakery","email":"a@b.test","metadata":{"a":1,"b":[1.0,"x"]},"status":"pending","id":"x"}`,
	} {
		is := is.New(t)
		is.Equal(f.call("PATCH", path, body).status, 200)
		is.Equal(f.call("GET", path, "").get("data"), before) // also when it was changed
		is.Equal(f.types(), []string{"customer.created"})
	}
	for i, body := range []string{
		`{"name":"bakery"}`, `{"email":"A@b.test"}`, `{"email":null}`, `{"status":"active"}`, `{"metadata":{"a":1,"b":[1,"x"]}}`, `{"metadata":{}}`, `{"metadata":null}`,
	} {
		is := is.New(t)
		is.Equal(f.call("PATCH", path, body).status, 200)
		is.Equal(len(f.types()), 2+i) // each of these is
	}
}

// customerRules are values for a field, and what becomes of them.
func customerRules() []labelRule {
	bad := func(param string) string { return "400 invalid_field_value " + param }
	object := func(n int) string { // with so many keys
		keys := make([]string, n)
		for i := range keys {
			keys[i] = fmt.Sprintf(`"k%d":%d`, i, i)
		}
		return "{" + strings.Join(keys, ",") + "}"
	}
	sized := func(n int) string { return `{"x":"` + strings.Repeat("y", n-len(`{"x":""}`)) + `"}` }
	deep := func(n int) string { return `{"x":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}` }
	long := strings.Repeat("ä", 200)
	return []labelRule{
		{"200 characters", "name", `"` + long + `"`, "201", "200"},
		{"201 characters", "name", `"` + long + `x"`, bad("name"), bad("name")},
		{"an empty name", "name", `""`, bad("name"), bad("name")},
		{"markup", "name", `"<script>alert(1)</script>"`, "201", "200"},
		{"a null name", "name", `null`, "400 missing_required_field name", bad("name")},
		{"a number as name", "name", `1`, bad("name"), bad("name")},
		{"an address", "email", `"ana@example.com"`, "201", "200"},
		{"a null address", "email", `null`, "201", "200"},
		{"an empty address", "email", `""`, bad("email"), bad("email")},
		{"an address with a name", "email", `"Ana <ana@example.com>"`, bad("email"), bad("email")},
		{"no address", "email", `"ana"`, bad("email"), bad("email")},
		{"two lines", "email", `"a@b.test\r\nBcc: c@d.test"`, bad("email"), bad("email")},
		{"a long address", "email", `"` + strings.Repeat("a", 248) + `@b.test"`, "201", "200"},
		{"one too long", "email", `"` + strings.Repeat("a", 249) + `@b.test"`, bad("email"), bad("email")},
		{"as many characters", "email", `"` + strings.Repeat("é", 248) + `@b.test"`, "201", "200"},
		{"a bool as address", "email", `true`, bad("email"), bad("email")},
		{"an empty object", "metadata", `{}`, "201", "200"},
		{"64 keys", "metadata", object(64), "201", "200"},
		{"65 keys", "metadata", object(65), bad("metadata"), bad("metadata")},
		{"16 KB", "metadata", sized(16 << 10), "201", "200"},
		{"a byte more", "metadata", sized(16<<10 + 1), bad("metadata"), bad("metadata")},
		{"64 levels", "metadata", deep(64), "201", "200"},
		{"65 levels", "metadata", deep(65), bad("metadata"), bad("metadata")},
		{"brackets in a text", "metadata", `{"x":"` + strings.Repeat(`[{\"`, 100) + `"}`, "201", "200"},
		{"null metadata", "metadata", `null`, "201", "200"},
		{"an array as metadata", "metadata", `[]`, bad("metadata"), bad("metadata")},
		{"a text as metadata", "metadata", `"x"`, bad("metadata"), bad("metadata")},
		{"active", "status", `"active"`, "201", "200"}, // POST ignores it
		{"pending", "status", `"pending"`, "201", "200"},
		{"suspended", "status", `"suspended"`, "201", "200"},
		{"archived", "status", `"archived"`, "201", bad("status")},
		{"another state", "status", `"deleted"`, "201", bad("status")},
		{"a null state", "status", `null`, "201", bad("status")},
		{"an empty team", "team_id", `""`, bad("team_id"), "200"},
		{"an unknown field", "size", `{"deep":[1]}`, "201", "200"},
	}
}

func TestEveryRuleOfACustomer(t *testing.T) {
	f := serve(t)
	for _, rule := range customerRules() {
		t.Run(rule.name, func(t *testing.T) {
			is := is.New(t)
			f := f.in(t)
			effects := f.effects()
			body := `{"name":"Start","` + rule.field + `":` + rule.value + `}`
			made := f.call("POST", "/customers", body)
			is.Equal(made.code(), rule.post)
			if made.status == 201 {
				is.Equal(made.get("data.status"), "pending")
			} else {
				is.Equal(f.effects(), effects) // nothing is left of it
			}
			path := f.newCustomer("Start")
			before := f.call("GET", path, "").get("data")
			changed := f.call("PATCH", path, `{"name":"New","`+rule.field+`":`+rule.value+`}`)
			is.Equal(changed.code(), rule.patch)
			if changed.status != 200 {
				is.Equal(f.call("GET", path, "").get("data"), before)
			}
		})
	}
	is := is.New(t)
	path := f.newCustomer("x")
	is.Equal(f.call("PATCH", path, `{}`).code(), "400 missing_required_field name")
	is.Equal(f.call("PATCH", path, `{"unknown":1}`).code(), "400 missing_required_field name")
	is.Equal(f.call("POST", "/customers", `{}`).code(), "400 missing_required_field name")
}

func TestCustomersAreChosenByStatusEmailAndSearch(t *testing.T) {
	f := serve(t)
	for _, c := range []struct{ name, email, status string }{
		{"Äpfel & Birnen", "obst@markt.test", "pending"}, {"Bakery", "Info@Bakery.test", "active"},
		{"Cinema 100%", "", "suspended"}, {"Dairy_farm", "milk@farm.test", "archived"},
	} {
		path := f.newCustomer(c.name)
		if c.email != "" {
			f.call("PATCH", path, `{"email":"`+c.email+`"}`)
		}
		if c.status == "archived" {
			f.call("DELETE", path, "")
		} else {
			f.call("PATCH", path, `{"status":"`+c.status+`"}`)
		}
	}
	for query, want := range map[string]string{
		"":                                "Cinema 100%, Bakery, Äpfel & Birnen",
		"status=all":                      "Dairy_farm, Cinema 100%, Bakery, Äpfel & Birnen",
		"status=archived":                 "Dairy_farm",
		"status=active":                   "Bakery",
		"status=pending":                  "Äpfel & Birnen",
		"email=info@bakery.test":          "Bakery",
		"email=bakery.test":               "",
		"email=milk@farm.test":            "",
		"status=all&email=MILK@farm.test": "Dairy_farm",
		"search=äpfel":                    "Äpfel & Birnen",
		"search=MARKT":                    "Äpfel & Birnen",
		"search=100%25":                   "Cinema 100%",
		"search=_":                        "",
		"search=_&status=all":             "Dairy_farm",
		"search=e&status=suspended":       "Cinema 100%",
		"search=nobody":                   "",
		"status=gone":                     "400 invalid_field_value status",
		"search=":                         "400 invalid_field_value search",
		"email=":                          "400 invalid_field_value email",
		"limit=101":                       "400 invalid_limit limit",
		"cursor=x":                        "400 invalid_cursor cursor",
	} {
		t.Run(query, func(t *testing.T) {
			got := f.in(t).call("GET", "/customers?"+query, "")
			names := got.code()
			if got.status == 200 {
				names = strings.Join(got.column("name"), ", ")
			}
			is.New(t).Equal(names, want)
		})
	}
	is := is.New(t)
	first := f.call("GET", "/customers?limit=2&status=all", "")
	is.Equal(first.column("name"), []string{"Dairy_farm", "Cinema 100%"})
	next := first.text("next_cursor")
	is.Equal(f.call("GET", "/customers?limit=2&status=all&cursor="+next, "").column("name"), []string{"Bakery", "Äpfel & Birnen"})
	is.Equal(f.call("GET", "/customers?limit=2&cursor="+next, "").code(), "400 invalid_cursor cursor") // of other filters
}

// column lists a field of the items of a page.
func (a answer) column(name string) []string {
	values := []string{}
	items, _ := a.get("data").([]any)
	for _, item := range items {
		value, _ := item.(map[string]any)[name].(string)
		values = append(values, value)
	}
	return values
}

// platform lists every call of platform mode, for a customer and a link.
func platform(customer, link string) [][3]string {
	return [][3]string{
		{"GET", customer, ""}, {"PATCH", customer, `{"name":"x"}`}, {"DELETE", customer, ""},
		{"GET", customer + "/setup_links", ""}, {"POST", customer + "/setup_links", ``},
		{"GET", customer + "/setup_links/" + link, ""}, {"PATCH", customer + "/setup_links/" + link, `{"success_redirect_url":null}`},
		{"DELETE", customer + "/setup_links/" + link, ""}, {"DELETE", customer + "/whatsapp_accounts/" + number, ""},
	}
}

func TestOrganizationsCannotSeeEachOthersCustomers(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	f.customer("active")
	mine := f.newCustomer("Mine")
	link := f.call("POST", mine+"/setup_links", "").text("data.id")
	other := storagetest.Seed(t, f.db, "Other")
	effects := f.effects()
	for _, c := range platform(mine, link) {
		foreign := f.callAs(other.Secret, c[0], c[1], c[2])
		is.Equal(foreign.code(), "404 resource_not_found")
		gone := storagetest.Swap(t, c[1], mine, "/customers/"+f.db.NewID(storage.PrefixCustomer))
		is.Equal(plainBody(f.callAs(other.Secret, c[0], gone, c[2])), plainBody(foreign)) // indistinguishable
		malformed := storagetest.Swap(t, c[1], mine, "/customers/cus_1")
		is.Equal(f.call(c[0], malformed, c[2]).code(), "404 resource_not_found")
	}
	is.Equal(f.callAs(other.Secret, "GET", "/customers?status=all", "").get("data"), []any{})
	is.Equal(f.effects(), effects)

	// One customer's link is not another's, nor is its number.
	sibling := f.newCustomer("Sibling")
	is.Equal(f.call("GET", sibling+"/setup_links/"+link, "").code(), "404 resource_not_found")
	is.Equal(f.call("DELETE", sibling+"/setup_links/"+link, "").code(), "404 resource_not_found")
	is.Equal(f.call("DELETE", sibling+"/whatsapp_accounts/"+number, "").code(), "404 resource_not_found")
	for _, bad := range []string{"csl_1", link[:len(link)-1], "lbl" + link[3:], "*"} {
		is.Equal(f.call("GET", mine+"/setup_links/"+bad, "").code(), "404 resource_not_found")
	}
}

func TestCustomersNeedAPlanThatIncludesThem(t *testing.T) {
	f := serve(t, func(o *testOptions) { o.Plans["plain"] = rest.Plan{API: true} })
	path := f.newCustomer("Bakery")
	link := f.call("POST", path+"/setup_links", "").text("data.id")
	f.change(f.tenant, func(o *storage.Organization) { o.Plan = "plain" })
	effects := f.effects()
	for _, c := range append(platform(path, link), [3]string{"GET", "/customers"}, [3]string{"POST", "/customers", `{`}, [3]string{"GET", "/customers/cus_1"}) {
		is.New(t).Equal(f.call(c[0], c[1], c[2]).code(), "402 feature_not_entitled") // before the resource and the body
	}
	is.New(t).Equal(f.effects(), effects)
}

func TestAnInactiveSubscriptionMakesNoCustomersAndNoLinks(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	path := f.newCustomer("Bakery")
	f.change(f.tenant, func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
	is.Equal(f.call("POST", "/customers", `{"name":"x"}`).code(), "402 subscription_inactive")
	is.Equal(f.call("POST", path+"/setup_links", "").code(), "402 subscription_inactive")
	is.Equal(f.call("PATCH", path, `{"name":"x"}`).status, 200) // nothing else
}

func TestACustomerBelongsToATeam(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	var second storage.Team
	storagetest.Update(t, f.db, func(tx *storage.Tx) error {
		second = storage.Team{OrganizationID: f.tenant.Organization.ID, Name: "Second"}
		return tx.InsertTeam(&second)
	})
	is.Equal(f.call("POST", "/customers", `{"name":"x"}`).code(), "400 missing_required_field team_id")
	is.Equal(f.call("POST", "/customers", `{"name":"x","team_id":"`+second.PublicID+`"}`).get("data.team_id"), second.PublicID)
	foreign := storagetest.Seed(t, f.db, "Other").Team.PublicID
	is.Equal(f.call("POST", "/customers", `{"name":"x","team_id":"`+foreign+`"}`).code(), "404 resource_not_found")
}
