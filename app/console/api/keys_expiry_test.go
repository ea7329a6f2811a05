package api

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
)

func TestAKeyOfTheConsoleExpiresWhenItsBodySays(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	admin := f.signedIn(f.tenant, storage.RoleAdmin)
	at := time.Now().Add(48 * time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
	is.Equal(f.visit(admin, "POST", "/keys", `{"expires_at":"`+at+`"}`).get("data.expires_at"), at)
	is.Equal(f.visit(admin, "POST", "/keys", `{"expires_at":null}`).get("data.expires_at"), nil)
	for _, bad := range []string{
		`"2020-01-02T03:04:05Z"`, `"tomorrow"`, `"` + time.Now().AddDate(10, 1, 0).Format(time.RFC3339) + `"`, `""`, `5`,
	} {
		is.Equal(f.visit(admin, "POST", "/keys", `{"expires_at":`+bad+`}`).code(), "400 invalid_field_value expires_at")
	}
	is.Equal(f.visit(admin, "POST", "/keys", `{"expires_at":"`+at+`","expires_in_hours":3}`).code(), "400 invalid_field_value expires_at")
}
