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
	made := func(what string, n, aDay int64) {
		_, err := f.api.LimitMade(by, []rest.Made{{What: what, N: n, ADay: aDay}}, func() (rest.Reply, error) { return rest.Reply{}, nil })
		is.NoErr(err)
	}
	made("contacts", contactsADay, contactsADay)
	made("files", filesADay, filesADay)

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
	made("bytes of files", bytesADay-700_000, bytesADay)
	is.Equal(f.visit(colleague, "POST", media, body, "Content-Type: "+kind).code(), "429 rate_limit_exceeded")
}

// What was refused was not made, however often somebody tries.
func TestWhatFailsDoesNotCountForTheDay(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	agent := f.signedIn(ours.Tenant, storage.RoleAgent)
	contacts := "/v1/" + ours.number + "/contacts"
	is.Equal(f.visit(agent, "POST", contacts, `{"phone_number":"+15550009991"}`).status, 201)
	by := &rest.Request{User: &agent.User, Org: agent.Organization}
	for range contactsADay + 5 {
		_, err := f.api.LimitMade(by, []rest.Made{{What: "contacts", N: 1, ADay: contactsADay}}, func() (rest.Reply, error) { return rest.Reply{}, storage.ErrNotFound })
		is.True(err == storage.ErrNotFound)
	}
	is.Equal(f.visit(agent, "POST", contacts, `{"phone_number":"+15550009991"}`).code(), "409 contact_already_exists phone_number")
	is.Equal(f.visit(agent, "POST", contacts, `{"phone_number":"+15550009992"}`).status, 201)
}
