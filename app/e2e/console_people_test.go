package e2e

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
)

// TestPeopleAreManagedBesideAServer: by the commands, with effect in the server that runs.
func TestPeopleAreManagedBesideAServer(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	org, dir := s.tenant.Organization.PublicID, s.app.Config.DataDir
	keys := func(args ...string) []string { // of the first row of a listing
		var rows []map[string]any
		is.NoErr(json.Unmarshal([]byte(run(t, append(args, "--json", "--data-dir", dir)...)), &rows))
		return slices.Sorted(maps.Keys(rows[0]))
	}
	link := run(t, "users", "invite", "--org", org, "--name", "Ada", "--email", "ada@example.com", "--role", "admin", "--data-dir", dir)
	path := strings.TrimPrefix(link, s.app.URL())
	b := s.browser()
	is.Equal(b.open("POST", path, url.Values{"name": {"Ada"}, "password": {goodPassword}}).status, 303)

	// Who can sign in is not invited again, and the list has the documented fields.
	is.True(strings.Contains(refused(t, "users", "invite", "--org", org, "--name", "Ada", "--email", "ADA@example.com", "--data-dir", dir), "reset"))
	is.Equal(keys("users", "list"), []string{"created_at", "email", "id", "last_sign_in_at", "name", "object", "organization_id", "role", "status", "team_id"})
	is.Equal(keys("users", "sessions", "ada@example.com"), []string{"created_at", "id", "ip", "last_seen_at", "object", "user_agent", "user_id"})
	is.Equal(keys("audit"), []string{"action", "actor", "at", "id", "ip", "object", "organization_id", "target"})

	// A reset leaves the old password until its link is used.
	reset := run(t, "users", "reset", "ada@example.com", "--data-dir", dir)
	other := s.browser()
	is.Equal(other.signIn("ada@example.com", goodPassword).status, 303)
	is.Equal(other.open("POST", strings.TrimPrefix(reset, s.app.URL()), url.Values{"name": {"Ada"}, "password": {"another good one"}}).status, 303)
	is.Equal(s.browser().signIn("ada@example.com", goodPassword).status, 401)
	status, _ := b.me()
	is.Equal(status, 401)

	// The last admin can be demoted here; it holds at the next request, as all of it does.
	is.Equal(other.open("GET", "/console/api/keys", nil).status, 200)
	run(t, "users", "set", "ada@example.com", "--role", "agent", "--data-dir", dir)
	is.Equal(other.open("GET", "/console/api/keys", nil).status, 403)
	run(t, "users", "signout", "ada@example.com", "--data-dir", dir)
	status, _ = other.me()
	is.Equal(status, 401)
	is.Equal(other.signIn("ada@example.com", "another good one").status, 303)
	run(t, "users", "disable", "ada@example.com", "--data-dir", dir)
	status, _ = other.me()
	is.Equal(status, 401)
	is.Equal(other.signIn("ada@example.com", "another good one").status, 401)
	run(t, "users", "enable", "ada@example.com", "--data-dir", dir)
	is.Equal(other.signIn("ada@example.com", "another good one").status, 303)
}

// Who tries too often is held up, so that a program that polls takes no cores from others.
func TestWhoPollsTheSignInIsHeldUp(t *testing.T) {
	is := is.New(t)
	s := newStage(t)
	s.joined("ada@example.com", storage.RoleAdmin)
	try := func() int {
		return askWith(t, "POST", s.app.URL()+"/console/sign-in", "email=ada%40example.com&password=a+wrong+password",
			"Content-Type: application/x-www-form-urlencoded").status
	}
	is.True(until(func() bool { return try() == 429 }))

	began, refused := time.Now(), 0
	for time.Since(began) < time.Second {
		if try() == 429 {
			refused++
		}
	}
	is.True(refused <= 5)
}
