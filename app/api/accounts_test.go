package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// numbersOf lists the numbers of a list of accounts.
func numbersOf(a answer) (all []string) {
	rows, _ := a.get("data").([]any)
	for _, row := range rows {
		all = append(all, row.(map[string]any)["phone_number_id"].(string))
	}
	return all
}

func TestAccountsAreListed(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	is.Equal(f.call("GET", "/accounts", "").body[:11], `{"data":[],`) // a list, not null
	first, second := f.connect(f.tenant, "100000001"), f.connect(f.tenant, "100000002")
	f.connect(f.tenant, "100000003")
	other := storagetest.Seed(t, f.db, "Other")
	f.connect(other, "100000004")
	storagetest.Update(t, f.db, func(tx *storage.Tx) error {
		return tx.MarkAccountStatus(second.ID, storage.AccountDegraded, "The token expired.")
	})
	f.exec(`INSERT INTO customers (id, organization_id, team_id, name, created_at, updated_at) VALUES ('cus_01JQ0Z8M4T9V2X3W5Y6A7B8C9D', ?, ?, 'Bakery', 1, 1)`,
		f.tenant.Organization.ID, f.tenant.Team.ID)
	f.exec(`UPDATE accounts SET customer_id = 'cus_01JQ0Z8M4T9V2X3W5Y6A7B8C9D', restricted = 1 WHERE id = ?`, first.ID)

	for query, want := range map[string]string{
		"":                  "[100000003 100000001]",
		"?status=connected": "[100000003 100000001]",
		"?status=all":       "[100000003 100000002 100000001]",
		"?customer_id=cus_01JQ0Z8M4T9V2X3W5Y6A7B8C9D": "[100000001]",
		"?customer_id=cus_01JQ0Z8M4T9V2X3W5Y6A7B8C9E": "[]",
		"?customer_id=nonsense":                       "[]",
		"?customer_id=":                               "[]",
		"?customer_id=%ff":                            "[]",
		"?status=all&unknown=1":                       "[100000003 100000002 100000001]",
	} {
		got := f.call("GET", "/accounts"+query, "")
		is.Equal(got.status, 200)
		is.Equal(got.get("has_more"), false)
		is.Equal(got.get("next_cursor"), nil)
		if fmt.Sprint(numbersOf(got)) != want {
			t.Errorf("%s: %v, not %s", query, numbersOf(got), want)
		}
	}
	for query, want := range map[string]string{
		"?status=degraded": "400 invalid_field_value status", "?status=": "400 invalid_field_value status",
		"?limit=0": "400 invalid_limit limit", "?limit=101": "400 invalid_limit limit", "?cursor=x": "400 invalid_cursor cursor",
	} {
		is.Equal(f.call("GET", "/accounts"+query, "").code(), want)
	}
	golden(t, "account_list", f.call("GET", "/accounts?customer_id=cus_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "").body)
}

func TestAccountsComeInPagesWhenAPageIsWanted(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	var want []string
	for i := range 30 {
		n := fmt.Sprint(200000000 + i)
		f.connect(f.tenant, n)
		want = append([]string{n}, want...)
	}
	is.Equal(numbersOf(f.call("GET", "/accounts", "")), want) // all, though a page has 25 elsewhere
	var got []string
	cursor := ""
	for range 10 {
		page := f.call("GET", "/accounts?limit=7"+cursor, "")
		got = append(got, numbersOf(page)...)
		if page.get("has_more") == false {
			break
		}
		cursor = "&cursor=" + page.text("next_cursor")
	}
	is.Equal(got, want)
	is.Equal(f.call("GET", "/accounts?limit=7&status=all"+cursor, "").code(), "400 invalid_cursor cursor") // bound to its filters
	is.Equal(len(numbersOf(f.call("GET", "/accounts?"+strings.TrimPrefix(cursor, "&"), ""))), 2)           // the rest, all of it
}

func TestARemovedAccountIsInNoList(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	f.exec(`UPDATE accounts SET deleted_at = 1`)
	is.Equal(len(numbersOf(f.call("GET", "/accounts?status=all", ""))), 0)
}
