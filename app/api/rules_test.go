package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
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
	is.Equal(got.text("data.next_change_at")[:10], "2026-12-31") // the only day with hours
	is.Equal(f.callAs(ours.Secret, "GET", "/"+ours.number+"/hours", "").get("data"), got.get("data"))

	days := make([]string, 101)
	for i := range days {
		days[i] = `{"date":"` + time.Date(2027, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("2006-01-02") + `"}`
	}
	is.Equal(put(`{"timezone":"UTC","holidays":[`+strings.Join(days[1:], ",")+`]}`).status, 200)
	is.Equal(put(`{"timezone":"UTC","weekly":{"mon":null,"tue":[]}}`).get("data.weekly"), map[string]any{"tue": []any{}}) // null is as absent

	for body, param := range map[string]string{
		`{}`: "timezone", `{"timezone":"Mars/Base"}`: "timezone",
		`{"timezone":"UTC","holidays":[` + strings.Join(days, ",") + `]}`:                                                                                   "holidays",
		`{"timezone":"UTC","weekly":{"sun":[["00:00","01:00"],["01:00","02:00"],["02:00","03:00"],["03:00","04:00"],["04:00","05:00"],["05:00","06:00"]]}}`: "weekly.sun",
		`{"timezone":"UTC","weekly":{"sun":[["1","2"]],"mon":[["1","2"]],"wed":[["1","2"]],"fri":[["1","2"]]}}`:                                             "weekly.fri[0]", // always the same
		`{"timezone":"UTC","weekly":{"mon":[["09:00","12:00"],["11:00","13:00"]]}}`:                                                                         "weekly.mon[1]",
		`{"timezone":"UTC","weekly":{"mon":[["9:00","12:00"]]}}`:                                                                                            "weekly.mon[0]",
		`{"timezone":"UTC","weekly":{"mon":[["12:00","12:00"]]}}`:                                                                                           "weekly.mon[0]",
		`{"timezone":"UTC","holidays":[{"date":"2026-02-30"}]}`:                                                                                             "holidays[0].date",
		`{"timezone":"UTC","holidays":[{"date":"2026-02-03"},{"date":"2026-02-03"}]}`:                                                                       "holidays[1].date",
		`{"timezone":"UTC","weekly":{"mon":"x"}}`:                                                                                                           "weekly.mon",
		`{"timezone":"UTC","weekly":{"mon":[["09:00",5]]}}`:                                                                                                 "weekly.mon[0][1]",
		`{"timezone":"UTC","weekly":{"` + strings.Repeat("m", 65) + `":"x"}}`:                                                                               "weekly",
		`{"timezone":"UTC","weekly":{"day":null}}`:                                                                                                          "weekly",
		`{"timezone":"UTC","weekly":{"mon":[["24:00","24:00"]]}}`:                                                                                           "weekly.mon[0]",
		`{"timezone":"UTC","holidays":[{"date":"2026-02-03","spans":[["10:00","25:00"]]}]}`:                                                                 "holidays[0].spans[0]",
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

func TestOptOutWordsAreSetAndShown(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	path := "/" + ours.number + "/opt_out"
	var usual struct{ Data storage.OptOut }
	is.NoErr(json.Unmarshal([]byte(f.callAs(ours.Secret, "GET", path, "").body), &usual))
	is.Equal(*usual.Data.Enabled, false)
	is.Equal(usual.Data.Stop, []string{"STOP", "UNSUBSCRIBE", "BAJA", "PARAR", "SAIR", "BERHENTI", "STOPP", "ARRET", "إلغاء"})
	is.Equal(len(usual.Data.Start), len(usual.Data.Stop))

	got := f.callAs(ours.Secret, "PUT", path, `{"enabled":true,"stop":[" basta "],"stop_reply":"Bye"}`)
	is.Equal(got.get("data.stop"), []any{"basta"})
	is.Equal(len(got.get("data.start").([]any)), len(usual.Data.Start)) // those that are absent are the defaults
	is.Equal(f.callAs(ours.Secret, "GET", path, "").get("data"), got.get("data"))
	for body, param := range map[string]string{
		`{}`: "enabled", `{"enabled":true,"stop":[]}`: "stop", `{"enabled":true,"stop":["x"," "]}`: "stop[1]",
		`{"enabled":true,"stop":["x"],"start":["y","X!"]}`: "start[1]", `{"enabled":true,"stop_reply":""}`: "stop_reply",
	} {
		is.Equal(f.callAs(ours.Secret, "PUT", path, body).text("error.param"), param) // body
	}
}

func TestARuleIsChangedWithinItsBounds(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	call := func(method, path, body string) answer { return f.callAs(ours.Secret, method, path, body) }
	own := "/rules/" + ours.has["rules"]
	got := call("PATCH", own, `{"on":"conversation_idle","if":{"idle_minutes":5},"once_per":"day","stop":true,"enabled":false}`)
	is.Equal(got.status, 200)
	is.Equal(got.get("data.if.idle_minutes"), 5.0)
	is.Equal(got.get("data.enabled"), false)
	is.Equal(len(got.get("data.then").([]any)), 1) // as before
	for body, param := range map[string]string{
		`{}`: "name", `{"name":null}`: "name", `{"on":"message_received"}`: "if.idle_minutes", `{"if":{}}`: "if.idle_minutes",
		`{"if":{"idle_minutes":43201}}`: "if.idle_minutes", `{"then":[]}`: "then", `{"then":[{"resolve":false}]}`: "then[0].resolve",
		`{"then":[` + strings.Repeat(`{"resolve":true},`, 5) + `{"resolve":true}]}`: "then", `{"once_per":"week"}`: "once_per",
	} {
		is.Equal(call("PATCH", own, body).text("error.param"), param) // body
	}

	// One that was disabled because something is gone says so until it is enabled, which needs all of it.
	f.exec(`UPDATE rules SET enabled = 0, disabled_reason = 'label_gone' WHERE id = ?`, ours.has["rules"])
	is.Equal(call("PATCH", own, `{"name":"Still"}`).text("data.disabled_reason"), "label_gone")
	f.exec(`UPDATE rules SET actions = '[{"add_label":"lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}]' WHERE id = ?`, ours.has["rules"])
	is.Equal(call("PATCH", own, `{"enabled":true}`).text("error.param"), "then[0].add_label")
	is.Equal(call("PATCH", own, `{"enabled":true,"then":[{"resolve":true}]}`).get("data.disabled_reason"), nil)

	for i := range 99 {
		storagetest.Update(t, f.db, func(tx *storage.Tx) error {
			return tx.InsertRule(&storage.Rule{
				OrganizationID: ours.Organization.ID, Name: fmt.Sprint(i), On: storage.OnMessageReceived, OncePer: storage.OncePerDay,
				Then: storage.RuleActions{{Resolve: new(true)}},
			})
		})
	}
	refused := call("POST", "/rules", `{"name":"101st","on":"message_received","then":[{"resolve":true}]}`)
	is.Equal(refused.code(), "402 quota_exceeded")
	is.Equal(len(f.walk("/rules?limit=30", func() {})), 100)
}

func TestWhatARuleDidIsListed(t *testing.T) {
	is := is.New(t)
	f, ours, theirs := serveEverything(t)
	for i := range 3 {
		storagetest.Update(t, f.db, func(tx *storage.Tx) error {
			return tx.InsertFiring(&storage.Firing{
				RuleID: ours.has["rules"], AccountID: 1, ConversationID: ours.has["conversations"], MessageID: ours.has["messages"],
				Scope: fmt.Sprint(i), Actions: storage.JSON(`[{"action":"add_label","outcome":"refused","reason":"label_gone"}]`),
			})
		})
	}
	got := f.callAs(ours.Secret, "GET", "/rules/"+ours.has["rules"]+"/firings?limit=2", "")
	first := got.get("data").([]any)[0].(map[string]any)
	is.Equal(first["object"], "rule_firing")
	is.Equal(first["rule_id"], ours.has["rules"])
	is.Equal(first["actions"], []any{map[string]any{"action": "add_label", "outcome": "refused", "reason": "label_gone"}})
	is.True(got.text("next_cursor") != "")
	is.Equal(f.callAs(theirs.Secret, "GET", "/rules/"+ours.has["rules"]+"/firings", "").status, 404)
}

func TestADryRunShowsWhatWouldMatchAndChangesNothing(t *testing.T) {
	is := is.New(t)
	f, a := serveNumber(t)
	ana := f.contact(a, "+15550001111")
	said := make([]storage.Message, 30)
	for i := range said {
		said[i] = received(fmt.Sprint("wamid.", i))
		said[i].Content = storage.JSON([]string{`{"body":"What is the PRICE?"}`, `{"body":"hi"}`}[i%2])
	}
	f.say(ana, said...)
	f.say(ana, storage.Message{Direction: storage.Inbound, Type: "reaction", Status: storage.MessageDelivered, Source: "app", Content: storage.JSON(`{}`)},
		written("text", "sent"))
	before, since := f.effects(), time.Now().Add(-time.Hour).Format(time.RFC3339)
	try := func(rule string) answer {
		return f.call("POST", "/rules/dry_run", `{"since":"`+since+`","rule":`+rule+`}`)
	}

	got := try(`{"name":"x","on":"message_received","if":{"text":{"match":"contains","any":["price"]}},"then":[{"note":"x"},{"resolve":true}]}`)
	is.Equal(got.status, 200)
	is.Equal(got.get("data.examined"), 30.0)
	is.Equal(got.get("data.matched"), 15.0)
	is.Equal(got.get("data.truncated"), false)
	first := got.get("data.examples").([]any)[0].(map[string]any)
	is.Equal(first["actions"], []any{map[string]any{"action": "note"}, map[string]any{"action": "resolve"}})
	is.Equal(first["message_id"], said[28].ID) // the newest
	is.Equal(len(try(`{"name":"x","on":"message_received","then":[{"note":"x"}]}`).get("data.examples").([]any)), 20)
	is.Equal(try(`{"name":"x","on":"conversation_opened","then":[{"note":"x"}]}`).get("data.matched"), 1.0)
	is.Equal(try(`{"name":"x","on":"message_received","if":{"first_contact":true},"then":[{"note":"x"}]}`).get("data.matched"), 1.0)
	is.Equal(try(`{"name":"x","on":"message_received","if":{"assigned":true},"then":[{"note":"x"}]}`).get("data.matched"), 0.0)
	is.Equal(try(`{"name":"x","on":"conversation_idle","if":{"idle_minutes":5},"then":[{"note":"x"}]}`).get("data.matched"), 0.0)
	f.exec(`UPDATE messages SET created_at = created_at - 600000`)
	is.Equal(try(`{"name":"x","on":"conversation_idle","if":{"idle_minutes":5},"then":[{"note":"x"}]}`).get("data.matched"), 1.0)
	is.Equal(try(`{"name":"x","on":"message_received","then":[{"add_label":"lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}]}`).text("error.param"), "rule.then[0].add_label")
	is.Equal(f.effects(), before)
}

// The clock of a sandbox can be moved: what is 30 days ago is what it says.
func TestADryRunGoesByTheClockOfTheDatabase(t *testing.T) {
	is := is.New(t)
	moved := time.Now().Add(90 * 24 * time.Hour)
	for ago, allowed := range map[time.Duration]bool{
		0: true, time.Hour: true, 30 * 24 * time.Hour: true, 31 * 24 * time.Hour: false, 90 * 24 * time.Hour: false, -time.Hour: false,
	} {
		since := `"since":"` + moved.Add(-ago).Format(time.RFC3339) + `"`
		var stored dryRunSince
		is.Equal(rest.Decode([]byte(`{`+since+`}`), storage.At(moved), &stored) == nil, allowed) // of a stored rule, ago
		var other dryRunBody
		body := `{"rule":{"name":"x","on":"message_received","then":[{"resolve":true}]},` + since + `}`
		is.Equal(rest.Decode([]byte(body), storage.At(moved), &other) == nil, allowed) // of another
	}
}

// While somebody holds a conversation, no bot but the holder writes in it.
func TestABotWritesOnlyWhereNobodyElseHolds(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	one, other := f.bot(ours.Tenant, "one"), f.bot(ours.Tenant, "other")
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
	told := f.lastEvent()
	is.Equal(told.text("data.note"), "Yours")
	is.Equal(told.text("data.from.type")+" "+told.text("data.from.id"), "agent one")
	is.Equal(told.text("data.to.type")+" "+told.text("data.to.id"), "user "+ours.user)
	is.Equal(told.text("data.by.type")+" "+told.text("data.by.id")[:4], "key key_")
	is.Equal(told.text("data.conversation_id")+" "+told.text("data.phone_number_id"), ours.has["conversations"]+" "+ours.number)
	is.Equal(f.callAs(one, "POST", "/"+ours.number+"/messages", text).code(), "409 conversation_held")
	is.Equal(f.callAs(ours.Secret, "PATCH", path, `{"status":"resolved"}`).text("data.holder.type"), "none")
	is.Equal(f.callAs(other, "POST", "/"+ours.number+"/messages", text).status, 200)
	is.Equal(f.callAs(ours.Secret, "GET", "/"+ours.number+"/conversations?holder=agent", "").ids(), []string{ours.has["conversations"]})
}
