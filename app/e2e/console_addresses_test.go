package e2e

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

// sendJSON calls the API of the console as its pages do.
func (b *browser) sendJSON(method, path, body string) seen {
	b.s.t.Helper()
	return askWith(b.s.t, method, b.base+path, body, "Content-Type: application/json", "Sec-Fetch-Site: same-origin", "Cookie: "+b.cookieLine())
}

// A link is for the person who reads the mail of an address. When that was wrong, the one who
// reads it must not be let in.
func TestANewAddressEndsTheLinksThatWentToTheOldOne(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	dir := s.app.Config.DataDir
	admin, _ := s.joined("admin@example.com", storage.RoleAdmin)
	join := url.Values{"name": {"Ada"}, "password": {goodPassword}}
	ended := func(link string) {
		t.Helper()
		is.Equal(s.browser().open("GET", link, nil).status, 410)
		is.Equal(s.browser().open("POST", link, join).status, 410)
	}

	// Somebody who is invited, by the console and by the command.
	ada, link := s.invitePerson("wrong@example.com", storage.RoleAgent)
	is.Equal(admin.sendJSON("PATCH", "/console/api/people/"+ada.ID, `{"name":"Ada L"}`).status, 200)
	is.Equal(admin.sendJSON("PATCH", "/console/api/people/"+ada.ID, `{"email":"Wrong@example.com"}`).status, 200)
	is.Equal(s.browser().open("GET", link, nil).status, 200) // the same address, and another name
	changed := admin.sendJSON("PATCH", "/console/api/people/"+ada.ID, `{"email":"ada@example.com"}`)
	is.Equal(changed.status, 200)
	is.True(strings.Contains(changed.body, `"status":"no_sign_in"`)) // a new link is needed, and said to be
	ended(link)

	bo, link := s.invitePerson("wrong@example.com", storage.RoleAgent)
	run(t, "users", "set", bo.ID, "--email", "bo@example.com", "--data-dir", dir)
	ended(link)

	// Somebody who has a password, and asked for a reset.
	eve, _ := s.joined("eve@example.com", storage.RoleAgent)
	reset := strings.TrimPrefix(run(t, "users", "reset", "eve@example.com", "--data-dir", dir), s.app.URL())
	run(t, "users", "set", "eve@example.com", "--role", "agent", "--data-dir", dir)
	is.Equal(s.browser().open("GET", reset, nil).status, 200)
	run(t, "users", "set", "eve@example.com", "--email", "eve@example.org", "--data-dir", dir)
	ended(reset)
	status, _ := eve.me() // who is signed in stays so
	is.Equal(status, 200)

	var made struct{ Data struct{ Link, ID string } }
	invited := admin.sendJSON("POST", "/console/api/people", `{"name":"Cy","email":"c@example.com"}`)
	is.NoErr(json.Unmarshal([]byte(invited.body), &made))
	again := admin.sendJSON("POST", "/console/api/people/"+made.Data.ID+"/reset", `{}`)
	is.NoErr(json.Unmarshal([]byte(again.body), &made))
	is.Equal(admin.sendJSON("PATCH", "/console/api/people/"+made.Data.ID, `{"email":"cy@example.com"}`).status, 200)
	ended(strings.TrimPrefix(made.Data.Link, s.app.URL()))
}
