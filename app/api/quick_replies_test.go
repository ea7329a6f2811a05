package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestAQuickReplyLivesFromCreateToDelete(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	made := f.call("POST", "/quick_replies", `{"shortcut":"hello","text":"Hello {{name}}"}`)
	is.Equal(made.status, 201)
	id := made.text("data.id")
	is.True(storage.ValidID(storage.PrefixQuickReply, id))
	is.Equal(made.get("data.object"), "quick_reply")
	is.Equal(made.get("data.team_id"), f.tenant.Team.PublicID)
	is.Equal(made.get("data.shortcut"), "hello")
	is.Equal(made.get("data.text"), "Hello {{name}}")
	is.Equal(made.get("data.created_at"), made.get("data.updated_at"))

	path := "/quick_replies/" + id
	is.Equal(f.call("GET", path, "").get("data"), made.get("data"))
	is.Equal(f.call("GET", "/quick_replies", "").get("data"), []any{made.get("data")})
	is.Equal(f.call("PATCH", path, `{"text":"Hi"}`).get("data.shortcut"), "hello")
	is.Equal(f.call("PATCH", path, `{"shortcut":"hi","team_id":"team_x"}`).get("data.text"), "Hi")
	is.Equal(f.call("GET", path, "").get("data.team_id"), f.tenant.Team.PublicID)

	is.Equal(f.call("DELETE", path, "").get("data"), map[string]any{"id": id, "object": "quick_reply", "deleted": true})
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		is.Equal(f.call(method, path, "").code(), "404 resource_not_found")
	}
	is.Equal(f.call("POST", "/quick_replies", `{"shortcut":"hi","text":"x"}`).status, 201) // the shortcut is free again
}

func TestEveryRuleOfAQuickReply(t *testing.T) {
	f := serve(t)
	const bad = "400 invalid_field_value "
	for _, rule := range []struct{ field, value, post, patch string }{
		{"shortcut", `"a"`, "201", "200"},
		{"shortcut", `"0_-z"`, "201", "200"},
		{"shortcut", `"` + strings.Repeat("x", 30) + `"`, "201", "200"},
		{"shortcut", `"` + strings.Repeat("x", 31) + `"`, bad + "shortcut", bad + "shortcut"},
		{"shortcut", `""`, bad + "shortcut", bad + "shortcut"},
		{"shortcut", `"Hi"`, bad + "shortcut", bad + "shortcut"},
		{"shortcut", `"a b"`, bad + "shortcut", bad + "shortcut"},
		{"shortcut", `"a\n"`, bad + "shortcut", bad + "shortcut"},
		{"shortcut", `"ä"`, bad + "shortcut", bad + "shortcut"},
		{"shortcut", `7`, bad + "shortcut", bad + "shortcut"},
		{"shortcut", `null`, "400 missing_required_field shortcut", bad + "shortcut"},
		{"text", `"` + strings.Repeat("ä", 4096) + `"`, "201", "200"},
		{"text", `"` + strings.Repeat("ä", 4097) + `"`, bad + "text", bad + "text"},
		{"text", `""`, bad + "text", bad + "text"},
		{"text", `["x"]`, bad + "text", bad + "text"},
		{"text", `null`, "400 missing_required_field text", bad + "text"},
		{"team_id", `""`, bad + "team_id", "200"},
		{"team_id", `"team_x"`, "404 resource_not_found", "200"},
		{"unknown", `{}`, "201", "200"},
	} {
		t.Run(rule.field+" "+rule.value[:min(len(rule.value), 20)], func(t *testing.T) {
			is := is.New(t)
			tenant := storagetest.Seed(t, f.db, "Acme")
			got := f.callAs(tenant.Secret, "POST", "/quick_replies", `{"shortcut":"first","text":"x","`+rule.field+`":`+rule.value+`}`)
			is.Equal(got.code(), rule.post)
			if got.status != 201 {
				is.Equal(f.callAs(tenant.Secret, "GET", "/quick_replies", "").get("data"), []any{})
				got = f.callAs(tenant.Secret, "POST", "/quick_replies", `{"shortcut":"first","text":"x"}`)
			}
			path := "/quick_replies/" + got.text("data.id")
			is.Equal(f.callAs(tenant.Secret, "PATCH", path, `{"text":"y","`+rule.field+`":`+rule.value+`}`).code(), rule.patch)
		})
	}
}

func TestShortcutsAreUniqueInTheirTeam(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	is.Equal(f.call("POST", "/quick_replies", `{"shortcut":"hi","text":"x"}`).status, 201)
	is.Equal(f.call("POST", "/quick_replies", `{"shortcut":"hi","text":"y"}`).code(), "400 invalid_field_value shortcut")
	other := f.call("POST", "/quick_replies", `{"shortcut":"bye","text":"y"}`)
	is.Equal(f.call("PATCH", "/quick_replies/"+other.text("data.id"), `{"shortcut":"hi"}`).code(), "400 invalid_field_value shortcut")

	second := storage.Team{OrganizationID: f.tenant.Organization.ID, Name: "Support"}
	storagetest.Update(t, f.db, func(tx *storage.Tx) error { return tx.InsertTeam(&second) })
	is.Equal(f.call("POST", "/quick_replies", `{"shortcut":"hi","text":"y"}`).code(), "400 missing_required_field team_id")
	is.Equal(f.call("POST", "/quick_replies", `{"shortcut":"hi","text":"y","team_id":"`+second.PublicID+`"}`).status, 201)
}

func TestATeamHasABoundedNumberOfQuickReplies(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	storagetest.Update(t, f.db, func(tx *storage.Tx) error {
		for i := range maxQuickReplies {
			q := storage.QuickReply{OrganizationID: f.tenant.Organization.ID, TeamID: f.tenant.Team.ID, Shortcut: fmt.Sprint(i), Text: "x"}
			if err := tx.InsertQuickReply(&q); err != nil {
				return err
			}
		}
		return nil
	})
	is.Equal(f.call("POST", "/quick_replies", `{"shortcut":"hi","text":"y"}`).code(), "400 invalid_field_value quick_replies")
}

// Buttons and lists are checked as those of a message are, with the text above them.
func TestQuickRepliesHoldButtons(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	const buttons = `{"type":"button","action":{"buttons":[{"type":"reply","reply":{"id":"s","title":"Small"}}]}}`
	made := f.call("POST", "/quick_replies", `{"shortcut":"size","text":"Which?","interactive":`+buttons+`}`)
	is.Equal(made.status, 201)
	is.True(strings.Contains(made.body, `"interactive":`+buttons))
	path := "/quick_replies/" + made.text("data.id")
	is.True(strings.Contains(f.call("GET", path, "").body, `"interactive":`+buttons))
	is.True(strings.Contains(f.call("POST", "/quick_replies", `{"shortcut":"plain","text":"Hi","interactive":null}`).body, `"interactive":null`))

	for body, want := range map[string]string{
		`{"interactive":{"type":"cta_url","action":{}}}`:                                        "400 invalid_field_value interactive.type",
		`{"interactive":{"type":"button","action":{"buttons":[]}}}`:                             "400 invalid_field_value interactive.action.buttons",
		`{"interactive":{"type":"button"}}`:                                                     "400 missing_required_field interactive.action",
		`{"interactive":"x"}`:                                                                   "400 invalid_field_value interactive",
		`{"interactive":{"type":"list","action":{"button":"Choose","sections":[{"rows":[]}]}}}`: "400 invalid_field_value interactive.action.sections[0].rows",
		`{"text":"` + strings.Repeat("x", 1025) + `"}`:                                          "400 invalid_field_value interactive.body.text", // above buttons there is less room
	} {
		if got := f.call("PATCH", path, body); !strings.HasPrefix(got.code(), want) {
			t.Errorf("%s: %s", body, got.code())
		}
	}
	is.True(strings.Contains(f.call("PATCH", path, `{"interactive":null}`).body, `"interactive":null`))
	is.Equal(f.call("PATCH", path, `{"text":"`+strings.Repeat("x", 4096)+`"}`).status, 200)
}
