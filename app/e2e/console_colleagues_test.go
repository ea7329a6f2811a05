package e2e

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

// Agents see colleagues by name. Nothing they may read has another's address.
func TestAgentsReadNoAddressOfAColleague(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	number := s.connect()
	agent, own := s.joined("agent@example.com", storage.RoleAgent)
	admin, boss := s.joined("boss@example.com", storage.RoleAdmin)
	conversation := s.says(number, "15550001111", "Ana", textOf("hi"))
	is.Equal(admin.sendJSON("PATCH", "/console/api/v1/"+number+"/conversations/"+conversation, `{"assigned_to":"`+boss.ID+`"}`).status, 200)

	for _, path := range []string{
		"v1/me", "people", "people/" + boss.ID, "profile", "sessions", "v1/" + number + "/conversations", "v1/" + number + "/conversations/" + conversation,
		"v1/" + number + "/messages", "v1/labels", "v1/accounts", number + "/counts",
	} {
		got := agent.open("GET", "/console/api/"+path, nil)
		is.Equal(got.status, 200)
		if strings.Contains(got.body, "boss@example.com") {
			t.Errorf("%s shows an address: %s", path, got.body)
		}
	}
	me := agent.open("GET", "/console/api/v1/me", nil).body
	is.True(strings.Contains(me, "agent@example.com")) // their own
	is.True(strings.Contains(me, boss.ID) && strings.Contains(me, own.ID))
	is.True(strings.Contains(admin.open("GET", "/console/api/v1/me", nil).body, "agent@example.com"))
	is.True(strings.Contains(string(s.exchange("GET", s.app.URL()+"/v1/me", "")), "boss@example.com")) // a key acts for the organization
}
