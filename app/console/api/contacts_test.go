package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// That somebody wrote lets them be messaged, and says nothing of marketing.
func TestConsentIsToldInTwoFacts(t *testing.T) {
	is := is.New(t)
	f, ours, theirs := serveEverything(t)
	agent := f.signedIn(ours.Tenant, storage.RoleAgent)
	path := "/contacts/" + ours.has["contacts"] + "/history"
	is.Equal(f.visit(f.signedIn(theirs.Tenant, storage.RoleAdmin), "GET", path, "").code(), "404 resource_not_found")

	facts := func() []any {
		got := f.visit(agent, "GET", path, "")
		return []any{got.get("data.consent.given"), got.get("data.consent.by"), got.get("data.marketing")}
	}
	f.exec(`UPDATE contacts SET opted_in = 0 WHERE id = ?`, ours.has["contacts"])
	is.Equal(facts(), []any{false, nil, "unknown"})
	f.exec(`UPDATE contacts SET opted_in = 1 WHERE id = ?`, ours.has["contacts"])
	is.Equal(facts(), []any{true, "message", "unknown"})
	storagetest.Update(t, f.db, func(tx *storage.Tx) error { return tx.MarkOptedOut(ours.has["contacts"]) })
	is.Equal(facts(), []any{true, "message", "stopped"})
	f.exec(`UPDATE contacts SET marketing_opted_out = 0`)
	f.exec(`UPDATE messages SET direction = 'outbound'`)
	is.Equal(facts(), []any{true, "record", "allowed"})

	got := f.visit(agent, "GET", path, "").body
	for _, part := range []string{`"type":"added"`, `"type":"conversation"`, `"type":"broadcast"`, `"name":"Sale"`, `"type":"note"`, `"text":"Own"`} {
		is.True(strings.Contains(got, part)) // what happened
	}
}
