package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

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
