package e2e

import (
	"testing"

	"github.com/matryer/is"
)

// What a command of another process changes is seen by the very next request,
// although the server keeps in memory what every message needs.
func TestWhatACommandChangesIsSeenByTheNextRequest(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := prepareServer(t)
	sim := simulate(t, s)
	sim.connect(s)
	s.start()
	post := func() string {
		t.Helper()
		r := s.mustSend("POST", "/v1/"+sim.Number+"/messages", `{"messaging_product":"chat","to":"+15550001111","type":"text","text":{"body":"hi"}}`)
		if r.status == 200 {
			return "accepted"
		}
		return r.body["error"].(map[string]any)["code"].(string)
	}
	me := s.mustSend("GET", "/v1/me", "").body["data"].(map[string]any)
	org := me["organization"].(map[string]any)["id"].(string)
	key := me["api_key"].(map[string]any)["id"].(string)
	for range 3 {
		is.Equal(post(), "accepted") // and all of it is in memory now
	}
	for _, step := range []struct {
		command []string
		want    string
	}{
		{[]string{"orgs", "suspend", org}, "organization_suspended"},
		{[]string{"orgs", "resume", org}, "accepted"},
		{[]string{"orgs", "set", org, "--subscription", "inactive"}, "subscription_inactive"},
		{[]string{"orgs", "set", org, "--subscription", "active"}, "accepted"},
		{[]string{"accounts", "disconnect", sim.Number}, "upstream_error"},
		{[]string{"keys", "revoke", key}, "revoked_api_key"},
	} {
		run(t, append(step.command, "--data-dir", s.dir)...)
		is.Equal(post(), step.want)
	}
	s.key = run(t, "keys", "create", "--org", org, "--data-dir", s.dir)
	is.Equal(post(), "upstream_error") // a new key works at once, if not the number
}
