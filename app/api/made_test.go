package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
)

// One person cannot fill the disk by hand. Others, and keys, go on.
func TestAPersonMakesSoMuchADay(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	agent, colleague := f.signedIn(ours.Tenant, storage.RoleAgent), f.signedIn(ours.Tenant, storage.RoleAgent)
	by := &rest.Request{User: &agent.User, Org: agent.Organization}
	is.NoErr(f.api.CountMade(by, "contacts", contactsADay, contactsADay))
	is.NoErr(f.api.CountMade(by, "files", filesADay, filesADay))

	contacts, media := "/v1/"+ours.number+"/contacts", "/v1/"+ours.number+"/media"
	refused := f.visit(agent, "POST", contacts, `{"phone_number":"+15550009991"}`)
	is.Equal(refused.code(), "429 rate_limit_exceeded")
	is.True(refused.header.Get("Retry-After") != "")
	body, kind := formOf(part{"file", "note.txt", "text/plain", strings.Repeat("a note ", 100_000)})
	is.Equal(f.visit(agent, "POST", media, body, "Content-Type: "+kind).code(), "429 rate_limit_exceeded")

	is.Equal(f.visit(colleague, "POST", contacts, `{"phone_number":"+15550009991"}`).status, 201)
	is.Equal(f.visit(colleague, "POST", media, body, "Content-Type: "+kind).status, 201)
	is.Equal(f.callAs(ours.Secret, "POST", "/"+ours.number+"/contacts", `{"phone_number":"+15550009992"}`).status, 201)

	by.User = &colleague.User
	is.NoErr(f.api.CountMade(by, "bytes of files", bytesADay-700_000, bytesADay))
	is.Equal(f.visit(colleague, "POST", media, body, "Content-Type: "+kind).code(), "429 rate_limit_exceeded")
}
