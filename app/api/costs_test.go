package api

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/jobs/rates"
	"confab/storage"
	"confab/storage/storagetest"
)

// spend counts messages that cost.
func (f *fixture) spend(account int64, day, category, prefix string, broadcast, messages, billable int) {
	f.t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		f.t.Fatal(err)
	}
	storagetest.Exec(f.t, f.dir, `INSERT INTO message_costs VALUES (?, ?, ?, ?, ?, ?, ?)`,
		account, storage.At(at), category, prefix, broadcast, messages, billable)
}

func (f *fixture) price(file string) {
	f.t.Helper()
	all, err := rates.Parse(strings.NewReader("from,country,category,price,currency\n" + file))
	if err != nil {
		f.t.Fatal(err)
	}
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error { return tx.ReplaceRates(all) })
}

const november = "/reports/costs?from=2026-11-01&to=2026-11-30"

func TestCostsAreAddedUpByGroups(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	account := storagetest.Connect(t, f.db, f.tenant, "100200300").ID
	f.spend(account, "2026-10-31", "marketing", "155500", 0, 7, 7)
	f.spend(account, "2026-11-01", "marketing", "155500", 0, 3, 3)
	f.spend(account, "2026-11-30", "marketing", "447700", 0, 2, 2)
	f.spend(account, "2026-11-30", "service", "447700", 0, 5, 1)
	f.spend(account, "2026-12-01", "service", "447700", 0, 9, 9)

	got := f.call("GET", november, "").body
	is.True(strings.Contains(got, `"data":{"object":"report","from":"2026-11-01","to":"2026-11-30","timezone":"UTC","group_by":"none","rates_from":null,`+
		`"groups":[{"group":null,"messages":10,"billable":6,"estimate":null}],"totals":{"messages":10,"billable":6,"estimate":null}}`))

	f.price("2026-10-01,*,marketing,0.1,EUR\n2026-10-01,44,marketing,0.0529,EUR\n2026-11-30,44,marketing,0.06,EUR\n2026-10-01,*,service,0.004,EUR\n")
	for by, want := range map[string]string{
		"none": `"groups":[{"group":null,"messages":10,"billable":6,"estimate":{"amount":"0.424","currency":"EUR"}}]`,
		"category": `"groups":[{"group":"marketing","messages":5,"billable":5,"estimate":{"amount":"0.42","currency":"EUR"}},` +
			`{"group":"service","messages":5,"billable":1,"estimate":{"amount":"0.004","currency":"EUR"}}]`,
		"country": `"groups":[{"group":"1","messages":3,"billable":3,"estimate":{"amount":"0.3","currency":"EUR"}},` +
			`{"group":"44","messages":7,"billable":3,"estimate":{"amount":"0.124","currency":"EUR"}}]`,
		"day": `"groups":[{"group":"2026-11-01","messages":3,"billable":3,"estimate":{"amount":"0.3","currency":"EUR"}},` +
			`{"group":"2026-11-30","messages":7,"billable":3,"estimate":{"amount":"0.124","currency":"EUR"}}]`,
		"number":    `"groups":[{"group":"100200300","messages":10,"billable":6,"estimate":{"amount":"0.424","currency":"EUR"}}]`,
		"broadcast": `"groups":[{"group":null,"messages":10,`,
	} {
		got := f.call("GET", november+"&group_by="+by, "").body
		if !strings.Contains(got, want) || !strings.Contains(got, `"rates_from":"2026-11-30"`) ||
			!strings.Contains(got, `"totals":{"messages":10,"billable":6,"estimate":{"amount":"0.424","currency":"EUR"}}`) {
			t.Errorf("%s: %s", by, got)
		}
	}

	file := f.call("GET", strings.Replace(november, "costs", "costs.csv", 1)+"&group_by=category", "")
	is.Equal(file.header.Get("Content-Type"), "text/csv; charset=utf-8")
	is.Equal(file.body, "group,messages,billable,estimate,currency\nmarketing,5,5,0.42,EUR\nservice,5,1,0.004,EUR\n")

	f.spend(account, "2026-11-15", "unknown", "", 0, 1, 1)
	got = f.call("GET", november+"&group_by=category", "").body
	is.True(strings.Contains(got, `{"group":"unknown","messages":1,"billable":1,"estimate":null}`)) // nothing is guessed
	is.True(strings.Contains(got, `"totals":{"messages":11,"billable":7,"estimate":null}`))
}

func TestCostsAreAddedUpByBroadcast(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	account := storagetest.Connect(t, f.db, f.tenant, "100200300").ID
	const broadcast = "bcs_01KDYBMWFE00000000000000B1"
	storagetest.Exec(t, f.dir, `
		INSERT INTO broadcasts (id, account_id, name, content, template_name, template_language, audience_type, status, prepared, created_at, updated_at)
		VALUES (?, ?, 'Sale', '{}', 'sale', 'en', 'recipients', 'completed', 1, 1, 1)`, broadcast, account)
	number := storagetest.Select[int](t, f.dir, `SELECT number FROM broadcasts`)[0]
	f.spend(account, "2026-11-15", "marketing", "155500", number, 3, 3)
	f.spend(account, "2026-11-16", "marketing", "447700", number, 1, 1)
	f.spend(account, "2026-11-15", "service", "155500", 0, 2, 0)
	got := f.call("GET", november+"&group_by=broadcast", "").body
	is.True(strings.Contains(got, `"groups":[{"group":null,"messages":2,"billable":0,"estimate":null},{"group":"`+broadcast+`","messages":4,"billable":4,"estimate":null}]`))
}

func TestAMessageShowsItsPricing(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	id := f.call("POST", messages, sends["message_audio"]).text("data.id")
	for raw, want := range map[string]string{
		`{"billable":true,"pricing_model":"PMP","type":"regular","category":"marketing","new":1}`: `"pricing":{"billable":true,"category":"marketing","type":"regular","model":"PMP"}`,
		`{"category":"galactic"}`: `"pricing":{"billable":null,"category":"unknown","type":"unknown","model":"unknown"}`,
	} {
		storagetest.Exec(t, f.dir, `UPDATE messages SET pricing = ? WHERE id = ?`, raw, id)
		is.True(strings.Contains(f.call("GET", messages+"/"+id, "").body, want))
		is.True(strings.Contains(f.call("GET", messages, "").body, want))
	}
}

func TestCostsOfOthersAreNotShown(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	other := storagetest.Seed(t, f.db, "Other")
	theirs := storagetest.Connect(t, f.db, other, "400500600")
	f.spend(theirs.ID, "2026-11-15", "marketing", "155500", 0, 3, 3)
	is.True(strings.Contains(f.call("GET", november, "").body, `"groups":[],"totals":{"messages":0,"billable":0,"estimate":null}`))
}

func TestADayThatIsNoneIsRefused(t *testing.T) {
	f := serve(t)
	for query, want := range map[string]string{
		"?from=2026-11-31":               "400 invalid_field_value from",
		"?from=1.11.2026":                "400 invalid_field_value from",
		"?from=":                         "400 invalid_field_value from",
		"?to=0000-00-00":                 "400 invalid_field_value to",
		"?from=2026-11-02&to=2026-11-01": "400 invalid_field_value to",
		"?from=2025-11-01&to=2026-11-02": "400 invalid_field_value from",
		"?group_by=week":                 "400 invalid_field_value group_by",
		"?timezone=Europe/Berlin":        "400 invalid_field_value timezone",
		"?from=9999-12-31&to=9999-12-31": "200",
		"?from=2025-11-01&to=2026-11-01": "200", // 366 days
		"?timezone=UTC":                  "200",
		"":                               "200",
	} {
		for _, path := range []string{"/reports/costs", "/reports/costs.csv"} {
			if got := f.call("GET", path+query, ""); !strings.HasPrefix(got.code(), want) && !(want == "200" && got.status == 200) {
				t.Errorf("%s%s: %s", path, query, got.code())
			}
		}
	}
}
