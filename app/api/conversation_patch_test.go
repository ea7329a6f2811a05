package api

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage/storagetest"
)

func TestAConversationIsSnoozed(t *testing.T) {
	is := is.New(t)
	f, a := serveNumber(t)
	said := f.say(f.contact(a, "+15551234567"), received("wamid.1"))
	other := f.say(f.contact(a, "+15551234568"), received("wamid.2"))
	conversation := conversations + "/" + said[0].ConversationID
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000Z07:00")

	got := f.call("PATCH", conversation, `{"snoozed_until":"`+until+`"}`)
	is.Equal(got.text("data.snoozed_until"), until)
	is.Equal(got.text("data.status"), "open")
	ids := func(query string) (all []string) {
		for _, c := range f.call("GET", conversations+query, "").get("data").([]any) {
			all = append(all, c.(map[string]any)["id"].(string))
		}
		return all
	}
	is.Equal(ids("?snoozed=true"), []string{said[0].ConversationID})
	is.Equal(ids("?snoozed=false"), []string{other[0].ConversationID})
	is.Equal(len(ids("")), 2)
	jobs := func() []string {
		return storagetest.Select[string](t, f.dir, `SELECT state FROM jobs WHERE kind = 'conversation.wake'`)
	}
	is.Equal(jobs(), []string{"due"})
	f.call("PATCH", conversation, `{"snoozed_until":"`+time.Now().Add(2*time.Hour).UTC().Format(time.RFC3339)+`"}`)
	is.Equal(jobs(), []string{"due"}) // the earlier one is gone

	for body, want := range map[string]string{
		`{"snoozed_until":"` + time.Now().Add(-time.Minute).UTC().Format(time.RFC3339) + `"}`:     "400 invalid_field_value snoozed_until",
		`{"snoozed_until":"` + time.Now().Add(366*24*time.Hour).UTC().Format(time.RFC3339) + `"}`: "400 invalid_field_value snoozed_until",
		`{"snoozed_until":"tomorrow"}`:                          "400 invalid_field_value snoozed_until",
		`{"snoozed_until":"` + until + `","status":"resolved"}`: "400 invalid_field_value snoozed_until",
		`{"seen":"` + said[0].ID + `"}`:                         "400 missing_required_field status",
	} {
		is.Equal(f.call("PATCH", conversation, body).code(), want) // body
	}

	is.Equal(f.call("PATCH", conversation, `{"snoozed_until":null}`).get("data.snoozed_until"), nil)
	is.Equal(jobs(), nil)
	f.call("PATCH", conversation, `{"snoozed_until":"`+until+`"}`)
	is.Equal(f.call("PATCH", conversation, `{"status":"resolved"}`).get("data.snoozed_until"), nil)
	is.Equal(f.call("PATCH", conversation, `{"snoozed_until":"`+until+`"}`).code(), "400 invalid_field_value snoozed_until")
}

func TestWhoHasNotSeenTheNewestMessageNeitherResolvesNorSnoozes(t *testing.T) {
	is := is.New(t)
	f, a := serveNumber(t)
	said := f.say(f.contact(a, "+15551234567"), received("wamid.1"), written("text", "sent"), received("wamid.2"))
	other := f.say(f.contact(a, "+15551234568"), received("wamid.3"))
	conversation := conversations + "/" + said[0].ConversationID
	seen := func(id string) string { return `"seen":"` + id + `"` }
	until := `"snoozed_until":"` + tomorrow() + `"`

	is.Equal(f.call("PATCH", conversation, `{"status":"resolved",`+seen(said[1].ID)+`}`).code(), "409 conversation_changed")
	is.Equal(f.call("PATCH", conversation, `{`+until+`,`+seen(said[0].ID)+`}`).code(), "409 conversation_changed")
	is.Equal(f.call("PATCH", conversation, `{"status":"resolved",`+until+`,`+seen(said[0].ID)+`}`).code(), "400 invalid_field_value snoozed_until")
	is.Equal(f.call("PATCH", conversation, `{"status":"resolved","assigned_to":"x",`+seen(said[0].ID)+`}`).code(), "400 invalid_field_value assigned_to")
	is.Equal(f.call("PATCH", conversation, `{"status":"resolved",`+seen(other[0].ID)+`}`).code(), "400 invalid_field_value seen")
	is.Equal(f.call("PATCH", conversation, `{"status":"resolved",`+seen("msg_01JQ0Z8M4T9V2X3W5Y6A7B8C9D")+`}`).code(), "400 invalid_field_value seen")
	is.Equal(f.call("PATCH", conversation, `{"status":"resolved","seen":"x"}`).code(), "400 invalid_field_value seen")
	is.Equal(f.call("PATCH", conversation, `{"status":"pending",`+seen(said[0].ID)+`}`).status, 200) // which ends nothing
	is.Equal(f.call("PATCH", conversation, `{"status":"resolved",`+seen(said[2].ID)+`}`).status, 200)
}

func TestWhoWaitsLongestIsFirst(t *testing.T) {
	is := is.New(t)
	f, a := serveNumber(t)
	var ids []string
	for i, phone := range []string{"+15551234561", "+15551234562", "+15551234563"} {
		said := f.say(f.contact(a, phone), received("wamid."+phone))
		ids = append(ids, said[0].ConversationID)
		f.exec(`UPDATE conversations SET waiting_since = ? WHERE id = ?`, []int{2000, 1000, 0}[i], ids[i])
	}
	list := func(query string) (all []string) {
		got := f.call("GET", conversations+query, "")
		is.Equal(got.status, 200)
		for _, c := range got.get("data").([]any) {
			all = append(all, c.(map[string]any)["id"].(string))
		}
		return all
	}
	is.Equal(list("?sort=waiting"), []string{ids[1], ids[0]})
	first := f.call("GET", conversations+"?sort=waiting&limit=1", "")
	is.Equal(first.get("data").([]any)[0].(map[string]any)["waiting_since"], "1970-01-01T00:00:01.000Z")
	is.Equal(list("?sort=waiting&limit=1&cursor="+first.text("next_cursor")), []string{ids[0]})
	is.Equal(list("?waiting=true"), []string{ids[1], ids[0]}) // by their newest message
	is.Equal(f.call("GET", conversations+"?sort=waiting&updated_since=2026-01-02T03:04:05Z", "").code(), "400 invalid_field_value sort")
	is.Equal(f.call("GET", conversations+"?sort=waiting&updated_since=1970-01-01T00:00:00Z", "").code(), "400 invalid_field_value sort")
	for i, want := range [][]string{{ids[0]}, {ids[1]}, nil} {
		contact := f.call("GET", conversations+"/"+ids[i], "").text("data.contact.id")
		is.Equal(list("?sort=waiting&contact_id="+contact), want) // only if it waits
	}
	is.Equal(f.call("GET", conversations+"?sort=newest", "").code(), "400 invalid_field_value sort")
	is.Equal(f.call("GET", conversations+"?waiting=false", "").code(), "400 invalid_field_value waiting")
	is.Equal(f.call("GET", conversations+"?snoozed=1", "").code(), "400 invalid_field_value snoozed")
	is.Equal(f.call("GET", conversations+"?mentioned=me", "").code(), "400 invalid_field_value mentioned") // a key is nobody
}
