package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"confab/storage"
	"confab/storage/storagetest"
)

// insertLabels stores n labels in one transaction, so with one created_at, and
// returns their ids, oldest first.
func (f *fixture) insertLabels(tenant storagetest.Tenant, n int) (ids []string) {
	f.t.Helper()
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error {
		ids = nil
		for range n {
			l := storage.Label{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, Name: tx.NewID(""), Color: "gray"}
			if err := tx.InsertLabel(&l); err != nil {
				return err
			}
			ids = append(ids, l.ID)
		}
		return nil
	})
	return ids
}

// ids are those of a list's answer.
func (a answer) ids() (ids []string) {
	list, _ := a.get("data").([]any)
	for _, item := range list {
		ids = append(ids, item.(map[string]any)["id"].(string))
	}
	return ids
}

func TestAListIsNewestFirstAndHas25Items(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	empty := f.call("GET", "/labels", "")
	is.Equal(empty.get("data"), []any{}) // not null
	is.Equal(empty.get("has_more"), false)
	is.Equal(empty.get("next_cursor"), nil)

	want := append(f.insertLabels(f.tenant, 13), f.insertLabels(f.tenant, 13)...)
	slices.Reverse(want)
	first := f.call("GET", "/labels", "")
	is.Equal(first.ids(), want[:25])
	is.Equal(first.get("has_more"), true)
	last := f.call("GET", "/labels?cursor="+first.text("next_cursor"), "")
	is.Equal(last.ids(), want[25:])
	is.Equal(last.get("has_more"), false)
	is.Equal(last.get("next_cursor"), nil)
	is.Equal(f.call("GET", "/labels?limit=26", "").ids(), want)
	is.Equal(f.call("GET", "/labels?limit=26", "").get("has_more"), false) // exactly all of them
	is.Equal(f.call("GET", "/labels?limit=1", "").ids(), want[:1])
}

func TestAListHoldsTheLabelsOfEveryTeam(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	second := f.tenant
	second.Team = storage.Team{OrganizationID: f.tenant.Organization.ID, Name: "Second"}
	storagetest.Update(t, f.db, func(tx *storage.Tx) error { return tx.InsertTeam(&second.Team) })
	f.insertLabels(f.tenant, 1)
	f.insertLabels(second, 1)
	is.Equal(len(f.call("GET", "/labels", "").ids()), 2)
}

func TestACursorIsGoodForNothingElse(t *testing.T) {
	f := serve(t)
	other := storagetest.Seed(t, f.db, "Other")
	f.insertLabels(f.tenant, 3)
	f.insertLabels(other, 3)
	cursor := f.call("GET", "/labels?limit=1", "").text("next_cursor")
	foreign := f.callAs(other.Secret, "GET", "/labels?limit=1", "").text("next_cursor")
	is.New(t).Equal(len(f.call("GET", "/labels?limit=2&cursor="+cursor, "").ids()), 2) // another limit is no other list
	f.newCustomer("Bakery")
	f.newCustomer("Butcher")
	for name, bad := range map[string]string{
		"another organization's": foreign,
		"another list's":         f.call("GET", "/customers?limit=1", "").text("next_cursor"),
		"cut":                    cursor[:len(cursor)-1],
		"longer":                 cursor + "A",
		"padded":                 cursor + "=",
		"with another letter":    strings.ToUpper(cursor),
		"with a line break":      cursor + "%0A",
		"garbage":                "hello",
		"an id":                  f.insertLabels(f.tenant, 1)[0],
		"empty":                  "",
		"null":                   "null",
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got := f.call("GET", "/labels?limit=1&cursor="+bad, "")
			is.Equal(got.code(), "400 invalid_cursor cursor")
			is.Equal(got.get("error.type"), "invalid_request_error")
		})
	}
}

func TestACursorOutlivesARestartAndItsRow(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	ids := f.insertLabels(f.tenant, 3)
	cursor := f.call("GET", "/labels?limit=1", "").text("next_cursor")
	is.Equal(f.call("DELETE", "/labels/"+ids[2], "").status, 200)
	f.restart()
	is.Equal(f.call("GET", "/labels?limit=5&cursor="+cursor, "").ids(), []string{ids[1], ids[0]})
}

func TestPagingVisitsEachLabelOnceWhileOthersAreMade(t *testing.T) {
	f := serve(t)
	rapid.Check(t, func(rt *rapid.T) {
		is := is.New(rt)
		tenant := storagetest.Seed(t, f.db, "Acme")
		var want []string
		for range rapid.IntRange(0, 3).Draw(rt, "batches") {
			want = append(want, f.insertLabels(tenant, rapid.IntRange(1, 6).Draw(rt, "labels"))...)
		}
		slices.Reverse(want)
		inserts := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 4).Draw(rt, "inserts")
		var got []string
		for page, cursor := 0, ""; ; page++ {
			limit := rapid.IntRange(1, 8).Draw(rt, "limit")
			answer := f.callAs(tenant.Secret, "GET", fmt.Sprintf("/labels?limit=%d%s", limit, cursor), "")
			got = append(got, answer.ids()...)
			is.True(len(answer.ids()) <= limit)
			is.Equal(answer.get("has_more") == true, answer.text("next_cursor") != "")
			if answer.get("has_more") != true {
				break
			}
			is.Equal(len(answer.ids()), limit)
			cursor = "&cursor=" + answer.text("next_cursor")
			if n := inserts[page%len(inserts)]; n > 0 {
				f.insertLabels(tenant, n)
			}
		}
		is.Equal(got, want) // in order, each once, and none that came later
	})
}
