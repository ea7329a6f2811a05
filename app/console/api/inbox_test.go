package api

import (
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestTheInboxCountsAndFilters(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	a := f.connect(f.tenant, number)
	who := f.signedIn(f.tenant, storage.RoleAgent)
	label := f.labelOf(f.tenant, a.TeamID, "VIP")
	var ids []string
	for i, state := range []struct {
		status string
		mine   bool
		unread int
	}{{"open", true, 0}, {"open", false, 2}, {"open", false, 0}, {"resolved", true, 0}, {"pending", false, 1}} {
		person := f.contact(a, "+1555000111"+string(rune('0'+i)))
		said := f.say(person, received("wamid."+string(rune('0'+i))))
		ids = append(ids, said[0].ConversationID)
		f.exec(`UPDATE conversations SET status = ?, unread_count = ?, assignee_id = ? WHERE id = ?`, state.status, state.unread, map[bool]any{true: who.User.ID, false: nil}[state.mine], ids[i])
	}
	f.call("POST", "/"+number+"/conversations/"+ids[2]+"/labels", attach(label))

	counts := f.visit(who, "GET", "/"+number+"/counts", "").get("data").(map[string]any)
	is.Equal(counts, map[string]any{"open": 4.0, "mine": 1.0, "unassigned": 3.0, "waiting": 0.0, "mentions": 0.0, "unread": 2.0, "snoozed": 0.0, "resolved": 1.0, "all": 5.0})
	is.Equal(f.visit(who, "GET", "/waiting", "").get("data"), []any{})
	f.exec(`UPDATE conversations SET waiting_since = 1 WHERE id IN (?, ?)`, ids[0], ids[1])
	is.Equal(f.visit(who, "GET", "/waiting", "").get("data"), []any{map[string]any{"phone_number_id": number, "waiting": 2.0}})

	for query, want := range map[string][]string{
		"assigned_to=" + who.User.ID:                  {ids[3], ids[0]},
		"assigned_to=" + who.User.ID + "&status=open": {ids[0]},
		"assigned_to=none&status=open":                {ids[2], ids[1]},
		"assigned_to=none&status=pending,open":        {ids[4], ids[2], ids[1]},
		"status=open,pending,open":                    {ids[4], ids[2], ids[1], ids[0]},
		"unread=true":                                 {ids[4], ids[1]},
		"unread=true&status=open":                     {ids[1]},
		"label_id=" + label:                           {ids[2]},
		"label_id=lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D":     nil,
		"assigned_to=01JQ0Z8M4T9V2X3W5Y6A7B8C9D":      nil,
	} {
		got := f.call("GET", "/"+number+"/conversations?"+query, "")
		var found []string
		for _, c := range got.get("data").([]any) {
			found = append(found, c.(map[string]any)["id"].(string))
		}
		is.Equal(found, want) // query
	}
	is.Equal(f.call("GET", "/"+number+"/conversations?assigned_to=x", "").code(), "400 invalid_field_value assigned_to")
	is.Equal(f.call("GET", "/"+number+"/conversations?unread=1", "").code(), "400 invalid_field_value unread")
	is.Equal(f.call("GET", "/"+number+"/conversations?label_id=x", "").code(), "400 invalid_field_value label_id")

	last := f.call("GET", "/"+number+"/conversations/"+ids[0], "").get("data.last_message").(map[string]any)
	is.Equal(last["direction"], "inbound")
	is.Equal(last["status"], "delivered")
	is.Equal(last["source"], "app")
	is.Equal(last["sent_by"], nil)
}

// What happened to a conversation is listed with who did it, newest first.
func TestTheChangesOfAConversationAreListed(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	a := f.connect(f.tenant, number)
	who := f.signedIn(f.tenant, storage.RoleAgent)
	label := f.labelOf(f.tenant, a.TeamID, "VIP")
	said := f.say(f.contact(a, "+15550001111"), received("wamid.1"))
	path := "/" + number + "/conversations/" + said[0].ConversationID

	f.call("POST", path+"/labels", attach(label))
	f.call("POST", path+"/labels", attach(label)) // which changes nothing
	f.visit(who, "PATCH", "/v1"+path, `{"status":"resolved","assigned_to":"`+who.User.ID+`"}`)
	f.visit(who, "PATCH", "/v1"+path, `{"status":"pending"}`)
	f.visit(who, "PATCH", "/v1"+path, `{"status":"open","assigned_to":null}`)
	f.visit(who, "DELETE", "/v1"+path+"/labels/"+label, "")

	var lines []string
	for _, one := range f.visit(who, "GET", path+"/changes", "").get("data").([]any) {
		change := one.(map[string]any)
		lines = append(lines, change["type"].(string)+" by "+change["by"].(map[string]any)["type"].(string))
	}
	is.Equal(lines, []string{
		"unlabeled by user", "reopened by user", "assigned by user", "pending by user", "resolved by user", "assigned by user", "labeled by api",
	})
	first := f.visit(who, "GET", path+"/changes?limit=1", "")
	is.Equal(first.get("data").([]any)[0].(map[string]any)["label"], "VIP")
	is.Equal(first.get("has_more"), true)
	is.Equal(f.visit(who, "GET", "/"+number+"/conversations/cnv_x/changes", "").code(), "404 resource_not_found")
}

func TestAConversationIsReadAndUnread(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	a := f.connect(f.tenant, number)
	who := f.signedIn(f.tenant, storage.RoleAgent)
	said := f.say(f.contact(a, "+15550001111"), received("wamid.1"), received("wamid.2"), written("text", "sent"))
	path := "/" + number + "/conversations/" + said[0].ConversationID
	f.exec(`UPDATE conversations SET unread_count = 2`)
	all := storagetest.Select[int](t, f.dir, `SELECT count(*) FROM jobs`)[0]

	got := f.visit(who, "POST", path+"/read", "")
	is.Equal(got.status, 200)
	is.Equal(got.get("data.unread_count"), 0.0)
	is.Equal(storagetest.Select[string](t, f.dir, `SELECT status FROM messages WHERE provider_id = 'wamid.2'`), []string{"read"})
	is.Equal(storagetest.Select[int](t, f.dir, `SELECT count(*) FROM jobs`)[0], all+1) // one receipt
	is.Equal(f.visit(who, "POST", path+"/read", "").status, 200)
	is.Equal(storagetest.Select[int](t, f.dir, `SELECT count(*) FROM jobs`)[0], all+1) // and no second

	is.Equal(f.visit(who, "POST", path+"/unread", "").get("data.unread_count"), 1.0)
	is.Equal(f.visit(who, "POST", path+"/unread", "").get("data.unread_count"), 1.0)
	is.Equal(f.visit(who, "POST", "/"+number+"/conversations/cnv_x/read", "").code(), "404 resource_not_found")

	silent := f.say(f.contact(a, "+15550002222"), written("text", "sent"))
	is.Equal(f.visit(who, "POST", "/"+number+"/conversations/"+silent[0].ConversationID+"/unread", "").get("data.unread_count"), 0.0) // nothing came in
}

func TestReadingTellsNobodyWhereTheSettingsSaySo(t *testing.T) {
	is := is.New(t)
	f := serve(t, func(o *testOptions) { o.ReadReceipts = false })
	a := f.connect(f.tenant, number)
	who := f.signedIn(f.tenant, storage.RoleAgent)
	said := f.say(f.contact(a, "+15550001111"), received("wamid.1"))
	f.exec(`UPDATE conversations SET unread_count = 1`)
	before := storagetest.Select[int](t, f.dir, `SELECT count(*) FROM jobs`)[0]
	is.Equal(f.visit(who, "POST", "/"+number+"/conversations/"+said[0].ConversationID+"/read", "").get("data.unread_count"), 0.0)
	is.Equal(storagetest.Select[int](t, f.dir, `SELECT count(*) FROM jobs`)[0], before)
}

// A message read in the console is read, also where the number may not send a receipt.
func TestWhatIsReadWhereNothingCanBeSentIsRead(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	a := f.connect(f.tenant, number)
	who := f.signedIn(f.tenant, storage.RoleAgent)
	m := f.say(f.contact(a, "+15550001111"), received("wamid.1"))[0]
	f.exec(`UPDATE conversations SET unread_count = 1`)
	f.exec(`UPDATE accounts SET status = 'degraded'`)
	f.db.DropCaches()

	got := f.visit(who, "POST", "/"+number+"/conversations/"+m.ConversationID+"/read", "")
	is.Equal(got.status, 200)
	is.Equal(got.get("data.unread_count"), 0.0)
	is.Equal(storagetest.Select[int](t, f.dir, `SELECT count(*) FROM jobs WHERE kind = 'receipt'`), []int{0})
}
