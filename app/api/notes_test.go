package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage/storagetest"
)

func TestANoteIsWrittenChangedFoundAndDeleted(t *testing.T) {
	is := is.New(t)
	f, a := serveNumber(t)
	said := f.say(f.contact(a, "+15551234567"), received("wamid.1"))
	user := f.user(f.tenant, "Ada").ID
	conversation := "/106540352242922/conversations/" + said[0].ConversationID
	before := f.call("GET", conversation, "").get("data").(map[string]any)

	made := f.call("POST", conversation+"/notes", `{"text":"Refund approved, @Ada","mentions":["`+user+`","`+user+`"]}`)
	is.Equal(made.status, 201)
	is.Equal(made.text("data.object"), "note")
	is.Equal(made.text("data.conversation_id"), said[0].ConversationID)
	is.Equal(made.get("data.mentions"), []any{user}) // once
	is.Equal(made.get("data.author"), map[string]any{"type": "key", "id": f.tenant.Key.ID, "name": nil})
	note := conversation + "/notes/" + made.text("data.id")
	is.Equal(f.call("GET", note, "").get("data"), made.get("data"))
	f.call("POST", conversation+"/notes", `{"text":"Second"}`)

	texts := func(query string) (all []string) {
		for _, n := range f.call("GET", conversation+"/notes"+query, "").get("data").([]any) {
			all = append(all, n.(map[string]any)["text"].(string))
		}
		return all
	}
	is.Equal(texts(""), []string{"Second", "Refund approved, @Ada"})
	is.Equal(texts("?search=refund+appr"), []string{"Refund approved, @Ada"})
	is.Equal(texts("?search=nothing"), nil)

	// A note is no message, and the conversation stays as it was.
	is.Equal(f.call("GET", conversation, "").get("data"), before)
	is.Equal(len(f.call("GET", messages, "").get("data").([]any)), 1)

	is.Equal(f.call("PATCH", note, `{"text":"Paid","mentions":null}`).get("data.mentions"), []any{})
	is.Equal(f.call("GET", note, "").text("data.text"), "Paid")
	is.Equal(f.call("DELETE", note, "").get("data.deleted"), true)
	is.Equal(f.call("GET", note, "").status, 404)
	is.Equal(storagetest.Select[string](t, f.dir, `SELECT type FROM events WHERE type LIKE 'note.%' ORDER BY seq`),
		[]string{"note.created", "note.created", "note.updated", "note.deleted"})

	foreign := f.user(storagetest.Seed(t, f.db, "Other"), "Eve").ID
	for body, want := range map[string]string{
		`{"text":"x","mentions":["` + foreign + `"]}`: "400 invalid_field_value mentions[0]",
		`{}`:          "400 missing_required_field text",
		`{"text":""}`: "400 invalid_field_value text",
		`{"text":"` + strings.Repeat("ü", 4097) + `"}`:                                      "400 invalid_field_value text",
		`{"text":"x","mentions":["` + user + `","01JQ0Z8M4T9V2X3W5Y6A7B8C9D"]}`:             "400 invalid_field_value mentions[1]",
		`{"text":"x","mentions":[` + strings.Repeat(`"`+user+`",`, 20) + `"` + user + `"]}`: "400 invalid_field_value mentions",
	} {
		is.Equal(f.call("POST", conversation+"/notes", body).code(), want) // body
	}
}

// Whatever belongs to a contact goes with it, and with a number.
func TestNotesGoWithTheirContact(t *testing.T) {
	is := is.New(t)
	f, a := serveNumber(t)
	person := f.contact(a, "+15551234567")
	said := f.say(person, received("wamid.1"))
	user := f.user(f.tenant, "Ada").ID
	f.call("POST", "/106540352242922/conversations/"+said[0].ConversationID+"/notes", `{"text":"x","mentions":["`+user+`"]}`)
	is.Equal(f.counted(`SELECT count(*) FROM unread_mentions`), 1)
	is.Equal(f.call("DELETE", "/106540352242922/contacts/"+person.ID, "").status, 200)
	is.Equal(f.counted(`SELECT (SELECT count(*) FROM notes) + (SELECT count(*) FROM unread_mentions)`), 0)
}
