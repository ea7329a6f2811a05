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

func TestTeamsAreMadeInTheConsoleUpToABound(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	admin := f.signedIn(f.tenant, storage.RoleAdmin)
	for body, want := range map[string]string{
		`{}`: "400 missing_required_field name", `{"name":""}`: "400 invalid_field_value name",
		`{"name":"` + strings.Repeat("x", maxTeamName+1) + `"}`: "400 invalid_field_value name",
	} {
		is.Equal(f.visit(admin, "POST", "/teams", body).code(), want)
	}
	got := f.visit(admin, "POST", "/teams", `{"name":"Night shift"}`)
	is.Equal([]any{got.status, got.get("data.name")}, []any{201, "Night shift"})
	is.Equal(f.audited(admin), []string{"user team.created " + got.get("data.id").(string)})

	storagetest.Update(t, f.db, func(tx *storage.Tx) error {
		for range maxTeams - 2 {
			if err := tx.InsertTeam(&storage.Team{OrganizationID: f.tenant.Organization.ID, Name: "x"}); err != nil {
				return err
			}
		}
		return nil
	})
	is.Equal(f.visit(admin, "POST", "/teams", `{"name":"one more"}`).code(), "400 invalid_field_value name")
}
