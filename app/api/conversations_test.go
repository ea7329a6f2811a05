package api

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestAConversationIsShownWithAllThatBelongsToIt(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	c := f.contact(account, "+15551234567")
	said := f.say(c, received("wamid.1"))
	path := conversations + "/" + said[0].ConversationID
	is.Equal(f.call("GET", path, "").get("data.service_window_expires_at"), nil) // storage alone does not know that the person wrote
	f.exec(`UPDATE conversations SET unread_count = 3, last_inbound_at = 1767323045678, last_message_at = 1767323045678`)
	f.call("PATCH", contacts+"/"+c.ID, `{"name":"Ana Ruiz"}`)
	f.call("POST", path+"/labels", attach(f.label("VIP")))
	user := f.user(f.tenant, "Ada")
	f.exec(`UPDATE users SET email = 'ada@example.com'`)
	is.Equal(f.call("PATCH", path, `{"assigned_to":"`+user.ID+`"}`).status, 200)
	shown := f.call("GET", path, "")
	golden(t, "conversation", shown.body)
	is.Equal(shown.get("data.last_inbound_at"), "2026-01-02T03:04:05.678Z")
	is.Equal(shown.get("data.service_window_expires_at"), "2026-01-03T03:04:05.678Z")
	is.Equal(shown.get("data.unread_count"), 3.0)
	golden(t, "conversation_list", f.call("GET", conversations, "").body)
}

func TestAConversationNamesWhoHasNoNumberByID(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	made := f.call("POST", contacts, `{"bsuid":"US.77"}`)
	said := f.say(storage.Contact{ID: made.text("data.id"), AccountID: account.ID}, received("wamid.1"))
	shown := f.call("GET", conversations+"/"+said[0].ConversationID, "").get("data.contact").(map[string]any)
	is.Equal(shown["bsuid"], "US.77")
	_, hasParent := shown["parent_bsuid"]
	is.True(!hasParent)
}

// Each step changes the conversation as it was left by the one before.
func TestAConversationChangesAndTellsOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t)
		account := f.connect(f.tenant, number)
		path := conversations + "/" + f.say(f.contact(account, "+15551234567"), received("wamid.1"))[0].ConversationID
		ada, bob := f.user(f.tenant, "Ada").ID, f.user(f.tenant, "Bob").ID
		for _, step := range []struct {
			body             string
			status, assignee any
			told             string
		}{
			{`{"status":"open"}`, "open", nil, ""},
			{`{"status":"pending"}`, "pending", nil, ""},
			{`{"status":"resolved"}`, "resolved", nil, "conversation.closed"},
			{`{"status":"resolved"}`, "resolved", nil, ""}, // it was already
			{`{"status":"resolved","assigned_to":null}`, "resolved", nil, ""},
			{`{"status":"open"}`, "open", nil, ""},
			{`{"assigned_to":"` + ada + `"}`, "open", ada, "conversation.assigned"},
			{`{"assigned_to":"` + ada + `"}`, "open", ada, ""},
			{`{"assigned_to":"` + bob + `","status":"pending"}`, "pending", bob, "conversation.assigned"},
			{`{"assigned_to":null}`, "pending", nil, "conversation.assigned"},
			{`{"assigned_to":null}`, "pending", nil, ""},
			{`{"assigned_to":"` + ada + `","status":"resolved","unknown":1}`, "resolved", ada, "conversation.assigned; conversation.closed"},
			{`{"status":"pending"}`, "pending", ada, ""},
			{`{"status":"resolved"}`, "resolved", ada, "conversation.closed"},
		} {
			time.Sleep(time.Second)
			before := f.call("GET", path, "")
			got := f.call("PATCH", path, step.body)
			is.Equal(got.status, 200)
			is.Equal(got.get("data.status"), step.status)
			is.Equal(got.get("data.assignee.id"), step.assignee)
			is.Equal(f.told(f.tenant), step.told)
			changed := before.get("data.status") != step.status || before.get("data.assignee.id") != step.assignee
			is.Equal(got.text("data.updated_at") == storage.Now().String(), changed) // and only then
			is.Equal(f.call("GET", path, "").get("data"), got.get("data"))
		}
	})
}

func TestAnAssignmentTellsWhoHadItBefore(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	path := conversations + "/" + f.say(f.contact(account, "+15551234567"), received("wamid.1"))[0].ConversationID
	ada, bob := f.user(f.tenant, "Ada").ID, f.user(f.tenant, "Bob").ID
	team := f.tenant.Team.PublicID
	for _, step := range []struct{ to, user, team, previous any }{
		{`"` + ada + `"`, ada, team, nil}, {`"` + bob + `"`, bob, team, ada}, {`null`, nil, nil, bob},
	} {
		f.call("PATCH", path, fmt.Sprintf(`{"assigned_to":%s,"status":"pending"}`, step.to))
		event := f.lastEvent()
		is.Equal(event.get("data.assignee"), map[string]any{"user_id": step.user, "team_id": step.team, "previous_user_id": step.previous})
		is.Equal(event.get("data.conversation"), map[string]any{
			"id": strings.TrimPrefix(path, conversations+"/"), "object": "conversation", "status": "pending", "phone_number_id": number,
		})
	}
	f.call("PATCH", path, `{"status":"resolved"}`)
	is.Equal(f.lastEvent().get("data.conversation"), map[string]any{
		"id": strings.TrimPrefix(path, conversations+"/"), "object": "conversation", "status": "resolved", "closed_by_user_id": nil, "phone_number_id": number,
	})
}

func TestEveryRuleOfAConversation(t *testing.T) {
	f, account := serveNumber(t)
	path := conversations + "/" + f.say(f.contact(account, "+15551234567"), received("wamid.1"))[0].ConversationID
	stranger := f.user(storagetest.Seed(t, f.db, "Other"), "Eve").ID
	before := f.call("GET", path, "").get("data")
	for body, want := range map[string]string{
		``:                                   "400 missing_required_field status",
		`{}`:                                 "400 missing_required_field status",
		`{"assignee":null,"labels":[]}`:      "400 missing_required_field status",
		`{"STATUS":"resolved"}`:              "400 missing_required_field status",
		`{"status":null}`:                    "400 invalid_field_value status",
		`{"status":""}`:                      "400 invalid_field_value status",
		`{"status":"closed"}`:                "400 invalid_field_value status",
		`{"status":"Open"}`:                  "400 invalid_field_value status",
		`{"status":1}`:                       "400 invalid_field_value status",
		`{"status":"x","assigned_to":"x"}`:   "400 invalid_field_value status",
		`{"assigned_to":""}`:                 "400 invalid_field_value assigned_to",
		`{"assigned_to":"x"}`:                "400 invalid_field_value assigned_to",
		`{"assigned_to":7}`:                  "400 invalid_field_value assigned_to",
		`{"assigned_to":{}}`:                 "400 invalid_field_value assigned_to",
		`{"assigned_to":"` + stranger + `"}`: "400 invalid_field_value assigned_to",
		`{"assigned_to":"` + f.db.NewID("") + `"}`: "400 invalid_field_value assigned_to",
		`{"status":"resolved","assigned_to":"x"}`:  "400 invalid_field_value assigned_to", // not half of it either
		`[]`: "400 invalid_json",
	} {
		t.Run(body, func(t *testing.T) {
			is := is.New(t)
			is.Equal(f.in(t).call("PATCH", path, body).code(), want)
		})
	}
	is := is.New(t)
	is.Equal(f.call("GET", path, "").get("data"), before)
	is.Equal(f.told(f.tenant), "")
}

// threads are a number's conversations, each with a last message and an update of
// its own.
func serveThreads(t testing.TB) (f *fixture, people, all []string) {
	f, account := serveNumber(t)
	people = f.insertContacts(account, 0, 5, true)
	for i, c := range people {
		var id string
		storagetest.View(t, f.db, func(rx *storage.Rx) error {
			v, err := rx.ConversationOf(c)
			id = v.ID
			return err
		})
		at := func(ms int) storage.Time {
			return storage.At(time.Date(2026, 1, 2, 3, 4, 5, ms*int(time.Millisecond), time.UTC))
		}
		said := []storage.Time{at(20), 0, at(40), at(20), 0}[i]
		f.exec(`UPDATE conversations SET last_message_at = ?, updated_at = ?, status = ? WHERE id = ?`,
			said, at(100+i), []string{"open", "pending", "resolved", "open", "open"}[i], id)
		all = append(all, id)
	}
	return f, people, all
}

func TestAListOfConversationsHasItsOrderAndFilters(t *testing.T) {
	f, people, all := serveThreads(t)
	for query, want := range map[string][]int{
		"":                        {2, 3, 0, 4, 1}, // the newest message first, those without any last, then by id
		"status=open":             {3, 0, 4},
		"status=resolved":         {2},
		"status=pending":          {1},
		"contact_id=" + people[3]: {3},
		"contact_id=" + people[3] + "&status=pending":                       nil,
		"contact_id=" + f.db.NewID("ctc_"):                                  nil,
		"updated_since=2026-01-02T03:04:05.102Z":                            {4, 3}, // strictly after, the last updated first
		"updated_since=2026-01-02T03:04:05.1019Z":                           {4, 3, 2},
		"updated_since=2026-01-02T03:04:05Z":                                {4, 3, 2, 1, 0},
		"updated_since=" + url.QueryEscape("2026-01-02T05:04:05.102+02:00"): {4, 3},
		"updated_since=2026-01-02T03:04:05Z&status=open":                    {4, 3, 0},
		"updated_since=2026-01-02T03:04:05Z&contact_id=" + people[0]:        {0},
		"updated_since=2026-01-02T03:04:05.100Z&contact_id=" + people[0]:    nil,
		"updated_since=2099-01-01T00:00:00Z":                                nil,
		"unknown=1&Status=x":                                                {2, 3, 0, 4, 1},
	} {
		t.Run(query, func(t *testing.T) {
			is := is.New(t)
			f := f.in(t)
			var ids []string
			for _, i := range want {
				ids = append(ids, all[i])
			}
			is.Equal(f.call("GET", conversations+"?"+query, "").ids(), ids)
			is.Equal(f.walk(conversations+"?limit=1&"+query, nil), ids)
			is.Equal(f.walk(conversations+"?limit=2&"+query, nil), ids)
		})
	}
	is := is.New(t)
	first := f.call("GET", conversations+"?limit=1", "")
	for _, query := range []string{"status=open&", "updated_since=2026-01-02T03:04:05Z&", "contact_id=" + people[0] + "&"} {
		is.Equal(f.call("GET", conversations+"?"+query+"cursor="+first.text("next_cursor"), "").code(), "400 invalid_cursor cursor")
	}
}

func TestABadFilterOfConversationsIsNamed(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	for _, tt := range []struct{ name, values string }{
		{"status", "|all|Open|open,|open,all|open,%20pending"}, {"contact_id", "|x|cnv_" + f.db.NewID("")}, {"updated_since", "|0|2026-01-02"},
	} {
		for value := range strings.SplitSeq(tt.values, "|") {
			is.Equal(f.call("GET", conversations+"?"+tt.name+"="+value, "").code(), "400 invalid_field_value "+tt.name)
		}
	}
	is.Equal(f.call("GET", conversations+"?limit=0", "").code(), "400 invalid_limit limit")
	is.Equal(f.call("GET", conversations, "").get("data"), []any{}) // not null
}

func TestAnUnchangedListOfConversationsIsNotSentAgain(t *testing.T) {
	is := is.New(t)
	f, people, all := serveThreads(t)
	get := func(query string, tags ...string) answer {
		t.Helper()
		var header []string
		for _, tag := range tags {
			header = append(header, "If-None-Match: "+tag)
		}
		return f.call("GET", conversations+query, "", header...)
	}
	tag := get("").header.Get("ETag")
	is.True(strings.HasPrefix(tag, `W/"`))
	is.Equal(get("").header.Get("ETag"), tag)
	for _, held := range [][]string{{tag}, {`"x", ` + tag}, {"*"}, {`W/"x"`, tag}, {strings.TrimPrefix(tag, "W/")}} {
		got := get("", held...)
		is.Equal(got.status, 304)
		is.Equal(got.body, "")
		is.Equal(got.header.Get("ETag"), tag)
		is.True(got.header.Get("X-Request-Id") != "")
	}
	is.Equal(get("", `"x"`).status, 200)
	is.Equal(f.call("HEAD", conversations, "", "If-None-Match: "+tag).status, 304)
	is.Equal(f.call("GET", conversations+"?limit=2", "", "If-None-Match: "+tag).status, 200) // other items
	is.True(get("?limit=2").header.Get("ETag") != get("?limit=2&status=open").header.Get("ETag"))

	label := f.label("VIP")
	user := f.user(f.tenant, "Ada")
	for name, change := range map[string]func(){
		"status":   func() { f.call("PATCH", conversations+"/"+all[0], `{"status":"resolved"}`) },
		"assignee": func() { f.call("PATCH", conversations+"/"+all[1], `{"assigned_to":"`+user.ID+`"}`) },
		"label":    func() { f.call("POST", conversations+"/"+all[2]+"/labels", attach(label)) },
		"name":     func() { f.call("PATCH", contacts+"/"+people[3], `{"name":"Ana"}`) },
		"message":  func() { f.call("POST", messages, storagetest.Swap(t, hello, "+15551234567", "+15550000004")) },
		"unread":   func() { f.exec(`UPDATE conversations SET unread_count = 7 WHERE id = ?`, all[4]) },
		"another":  func() { f.call("POST", messages, hello) },
	} {
		held := get("").header.Get("ETag")
		change()
		got := get("", held)
		if got.status != 200 {
			t.Errorf("%s: it was not sent again", name)
		}
		is.Equal(get("", got.header.Get("ETag")).status, 304)
	}
	held := get("").header.Get("ETag")
	f.call("PATCH", conversations+"/"+all[0], `{"status":"resolved"}`) // as it was
	f.call("PATCH", contacts+"/"+people[3], `{"email":"ana@example.com"}`)
	f.call("PATCH", "/labels/"+label, `{"name":"VIP"}`)
	is.Equal(get("", held).status, 304) // nothing that it shows
	f.call("DELETE", contacts+"/"+people[1], "")
	is.Equal(get("", held).status, 200)
}

func TestAConversationIsUpdatedWithItsLabels(t *testing.T) {
	is := is.New(t)
	f, _, all := serveThreads(t)
	label, other := f.label("VIP"), f.label("Spam")
	f.call("POST", conversations+"/"+all[1]+"/labels", attach(label))
	f.call("POST", conversations+"/"+all[2]+"/labels", attach(other))
	for _, change := range []string{`{"name":"Gold"}`, `{"color":"sky"}`} {
		f.exec(`UPDATE conversations SET updated_at = 1000`)
		f.call("PATCH", "/labels/"+label, change)
		is.Equal(f.call("GET", conversations+"?updated_since=1970-01-01T00:00:01Z", "").ids(), []string{all[1]})
	}
	got := f.call("GET", conversations+"/"+all[1], "")
	is.Equal(got.get("data.labels"), []any{map[string]any{"id": label, "name": "Gold", "color": "sky"}})
}

func TestMessagesOfAConversationOrAContactAreFound(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	ada, bob := f.contact(account, "+15551234567"), f.contact(account, "+15557654321")
	first := f.say(ada, received("wamid.1"), written("text", "sent"), received("wamid.2"))
	f.say(bob, received("wamid.3"))
	var want []string
	for _, m := range slices.Backward(first) {
		want = append(want, m.ID)
	}
	is.Equal(f.call("GET", messages+"?conversation_id="+first[0].ConversationID, "").ids(), want)
	is.Equal(f.call("GET", messages+"?contact_id="+ada.ID, "").ids(), want)
	is.Equal(f.call("GET", messages+"?contact_id="+ada.ID+"&direction=inbound", "").ids(), []string{first[2].ID, first[0].ID})
	got := f.call("GET", messages+"?contact_id="+bob.ID, "")
	is.Equal(got.get("data").([]any)[0].(map[string]any)["from"], "+15557654321")
}
