package api

import (
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

func TestHoursAreSetAndShown(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	put := func(body string) answer { return f.callAs(ours.Secret, "PUT", "/"+ours.number+"/hours", body) }
	got := f.callAs(ours.Secret, "GET", "/"+ours.number+"/hours", "")
	is.Equal(got.get("data.open_now"), true) // always open without hours
	is.Equal(got.get("data.weekly"), nil)

	got = put(`{"timezone":"Europe/Madrid","weekly":{},"holidays":[{"date":"2026-12-31","spans":[["09:00","24:00"]]}]}`)
	is.Equal(got.status, 200)
	is.Equal(got.get("data.open_now"), false)
	is.Equal(f.callAs(ours.Secret, "GET", "/"+ours.number+"/hours", "").get("data"), got.get("data"))

	for body, param := range map[string]string{
		`{}`: "timezone", `{"timezone":"Mars/Base"}`: "timezone",
		`{"timezone":"UTC","weekly":{"mon":[["09:00","12:00"],["11:00","13:00"]]}}`:         "weekly.mon[1]",
		`{"timezone":"UTC","weekly":{"mon":[["9:00","12:00"]]}}`:                            "weekly.mon[0]",
		`{"timezone":"UTC","weekly":{"mon":[["12:00","12:00"]]}}`:                           "weekly.mon[0]",
		`{"timezone":"UTC","holidays":[{"date":"2026-02-30"}]}`:                             "holidays[0].date",
		`{"timezone":"UTC","holidays":[{"date":"2026-02-03"},{"date":"2026-02-03"}]}`:       "holidays[1].date",
		`{"timezone":"UTC","weekly":{"mon":[["24:00","24:00"]]}}`:                           "weekly.mon[0]",
		`{"timezone":"UTC","holidays":[{"date":"2026-02-03","spans":[["10:00","25:00"]]}]}`: "holidays[0].spans[0]",
	} {
		is.Equal(put(body).text("error.param"), param) // body
	}
}

func TestRulesAreOrderedAndChecked(t *testing.T) {
	is := is.New(t)
	f, ours, theirs := serveEverything(t)
	call := func(method, path, body string) answer { return f.callAs(ours.Secret, method, path, body) }
	const then = `,"then":[{"reply":{"text":"Hi"}}]}`

	second := call("POST", "/rules", `{"name":" Second ","on":"message_received"`+then)
	is.Equal(second.status, 201)
	is.Equal(second.text("data.name"), "Second")
	is.Equal(second.get("data.position"), 2.0)
	is.Equal(second.text("data.once_per"), "spell")

	got := call("POST", "/rules/reorder", `{"ids":["`+second.text("data.id")+`","`+ours.has["rules"]+`"]}`)
	is.Equal(got.status, 200)
	is.Equal(call("GET", "/rules/"+ours.has["rules"], "").get("data.position"), 2.0)
	is.Equal(call("POST", "/rules/reorder", `{"ids":["`+ours.has["rules"]+`"]}`).text("error.param"), "ids")

	for body, param := range map[string]string{
		`{"on":"message_received"` + then: "name", `{"name":" ","on":"message_received"` + then: "name",
		`{"name":"x"` + then: "on", `{"name":"x","on":"message_received"}`: "then",
		`{"name":"x","on":"conversation_idle"` + then:                                                    "if.idle_minutes",
		`{"name":"x","on":"message_received","if":{"idle_minutes":9}` + then:                             "if.idle_minutes",
		`{"name":"x","on":"message_received","if":{"text":{"match":"equals","any":[]}}` + then:           "if.text.any",
		`{"name":"x","on":"message_received","if":{"phone_number_ids":["` + theirs.number + `"]}` + then: "if.phone_number_ids[0]",
		`{"name":"x","on":"message_received","then":[{"add_label":"` + theirs.has["labels"] + `"}]}`:     "then[0].add_label",
		`{"name":"x","on":"message_received","then":[{"assign":"` + theirs.user + `"}]}`:                 "then[0].assign",
		`{"name":"x","on":"message_received","then":[{"reply":{}}]}`:                                     "then[0].reply.text",
		`{"name":"x","on":"message_received","then":[{"hand_over":{"to":{"type":"agent","id":"no"}}}]}`:  "then[0].hand_over.to.id",
	} {
		is.Equal(call("POST", "/rules", body).text("error.param"), param) // body
	}
	is.Equal(f.callAs(theirs.Secret, "GET", "/rules/"+ours.has["rules"], "").status, 404)
	is.Equal(call("DELETE", "/rules/"+second.text("data.id"), "").status, 200)
	is.Equal(call("GET", "/rules/"+ours.has["rules"], "").get("data.position"), 1.0)
}

// While somebody holds a conversation, no bot but the holder writes in it.
func TestABotWritesOnlyWhereNobodyElseHolds(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	bot := func(name string) string {
		k := storage.Key{OrganizationID: ours.Organization.ID, Agent: &name}
		var secret string
		is.NoErr(f.db.Update(t.Context(), func(tx *storage.Tx) (err error) { secret, err = tx.InsertKey(&k); return err }))
		return secret
	}
	one, other := bot("one"), bot("other")
	text := `{"messaging_product":"chat","to":"+15559990000","type":"text","text":{"body":"Hi"}}`
	path := "/" + ours.number + "/conversations/" + ours.has["conversations"]
	holder := func() any { return f.callAs(ours.Secret, "GET", path, "").get("data.holder.id") }

	is.Equal(f.callAs(one, "POST", "/"+ours.number+"/messages", text).status, 200) // takes hold
	is.Equal(holder(), "one")
	is.Equal(f.callAs(other, "POST", "/"+ours.number+"/messages", text).code(), "409 conversation_held")
	is.Equal(f.callAs(other, "POST", path+"/hand_over", `{"to":{"type":"agent","id":"other"}}`).code(), "409 conversation_held")
	is.Equal(f.callAs(ours.Secret, "POST", "/"+ours.number+"/messages", text).status, 200) // an ordinary key changes nothing
	is.Equal(holder(), "one")

	is.Equal(f.callAs(one, "POST", path+"/hand_over", `{"to":{"type":"user","id":"`+ours.user+`"},"note":"Yours"}`).text("data.assignee.id"), ours.user)
	is.Equal(f.callAs(one, "POST", "/"+ours.number+"/messages", text).code(), "409 conversation_held")
	is.Equal(f.callAs(ours.Secret, "PATCH", path, `{"status":"resolved"}`).text("data.holder.type"), "none")
	is.Equal(f.callAs(other, "POST", "/"+ours.number+"/messages", text).status, 200)
	is.Equal(f.callAs(ours.Secret, "GET", "/"+ours.number+"/conversations?holder=agent", "").ids(), []string{ours.has["conversations"]})
}
