package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestATeamIsChosenOnlyWhereThereIsAChoice(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	other := storagetest.Seed(t, f.db, "Other")
	first := f.tenant.Team.PublicID
	create := func(name, team string) answer {
		t.Helper()
		return f.call("POST", "/labels", `{"name":"`+name+`","team_id":`+team+`}`)
	}
	is.Equal(f.call("POST", "/labels", `{"name":"a"}`).get("data.team_id"), first) // the only one
	is.Equal(create("b", "null").get("data.team_id"), first)
	is.Equal(create("c", `"`+first+`"`).get("data.team_id"), first)

	second := storage.Team{OrganizationID: f.tenant.Organization.ID, Name: "Second"}
	storagetest.Update(t, f.db, func(tx *storage.Tx) error { return tx.InsertTeam(&second) })
	rows := f.labels()
	is.Equal(f.call("POST", "/labels", `{"name":"d"}`).code(), "400 missing_required_field team_id")
	is.Equal(create("d", "null").code(), "400 missing_required_field team_id")
	foreign := create("d", `"`+other.Team.PublicID+`"`)
	is.Equal(foreign.code(), "404 resource_not_found")
	for _, missing := range []string{f.db.NewID(storage.PrefixTeam), "team_1", "x", strings.ToLower(first), f.db.NewID(storage.PrefixLabel)} {
		got := create("d", `"`+missing+`"`)
		is.Equal(got.code(), "404 resource_not_found")
		is.Equal(plainBody(got), plainBody(foreign)) // a foreign team is a missing one
	}
	is.Equal(f.labels(), rows)
	is.Equal(create("d", `"`+second.PublicID+`"`).get("data.team_id"), second.PublicID)
}
