package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

// A mention waits for the person until they open the conversation, and for nobody else.
func TestAMentionIsUnreadUntilTheConversationIsOpened(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	a := f.connect(f.tenant, number)
	ada, ben := f.signedIn(f.tenant, storage.RoleAgent), f.signedIn(f.tenant, storage.RoleAgent)
	said := f.say(f.contact(a, "+15550001111"), received("wamid.1"))
	f.say(f.contact(a, "+15550001112"), received("wamid.2"))
	path := "/" + number + "/conversations/" + said[0].ConversationID

	made := f.visit(ada, "POST", "/v1"+path+"/notes", `{"text":"@Ben look","mentions":["`+ben.User.ID+`","`+ada.User.ID+`"]}`)
	is.Equal(made.status, 201)
	is.Equal(made.text("data.author.type")+" "+made.text("data.author.id"), "user "+ada.User.ID)
	is.Equal(f.visit(ada, "GET", "/"+number+"/counts", "").get("data.mentions"), 0.0) // not for who wrote it
	count := func() any { return f.visit(ben, "GET", "/"+number+"/counts", "").get("data.mentions") }
	is.Equal(count(), 1.0)
	listed := f.visit(ben, "GET", "/v1/"+number+"/conversations?mentioned=me", "").get("data").([]any)
	is.Equal(len(listed), 1)
	is.Equal(listed[0].(map[string]any)["id"], said[0].ConversationID)

	f.visit(ada, "POST", path+"/read", "")
	is.Equal(count(), 1.0)
	f.visit(ben, "POST", path+"/read", "")
	is.Equal(count(), 0.0)
	is.Equal(len(f.visit(ben, "GET", "/v1/"+number+"/conversations?mentioned=me", "").get("data").([]any)), 0)

	// Naming somebody anew is another mention, and taking the name back ends it.
	note := "/v1" + path + "/notes/" + made.text("data.id")
	f.visit(ada, "PATCH", note, `{"mentions":[]}`)
	f.visit(ada, "PATCH", note, `{"mentions":["`+ben.User.ID+`"]}`)
	is.Equal(count(), 1.0)
	f.visit(ada, "PATCH", note, `{"mentions":[]}`)
	is.Equal(count(), 0.0)
}

func TestOnlyTheAuthorAndAdminsChangeANote(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	a := f.connect(f.tenant, number)
	ada, ben, admin := f.signedIn(f.tenant, storage.RoleAgent), f.signedIn(f.tenant, storage.RoleAgent), f.signedIn(f.tenant, storage.RoleAdmin)
	said := f.say(f.contact(a, "+15550001111"), received("wamid.1"))
	notes := "/v1/" + number + "/conversations/" + said[0].ConversationID + "/notes"
	note := notes + "/" + f.visit(ada, "POST", notes, `{"text":"mine"}`).text("data.id")

	is.Equal(f.visit(ben, "PATCH", note, `{"text":"yours"}`).code(), "403 permission_denied")
	is.Equal(f.visit(ben, "DELETE", note, "").code(), "403 permission_denied")
	is.Equal(f.visit(ben, "GET", note, "").text("data.text"), "mine")
	is.Equal(f.visit(ada, "PATCH", note, `{"text":"still mine"}`).status, 200)
	is.Equal(f.visit(admin, "PATCH", note, `{"text":"ours"}`).text("data.author.id"), ada.User.ID)
	key := strings.TrimPrefix(note, "/v1")
	is.Equal(f.call("PATCH", key, `{"text":"by a key"}`).text("data.author.id"), ada.User.ID)
	is.Equal(f.visit(admin, "DELETE", note, "").status, 200)
	note = f.visit(ada, "POST", notes, `{"text":"another"}`).text("data.id")
	is.Equal(f.call("DELETE", strings.TrimPrefix(notes, "/v1")+"/"+note, "").status, 200)
}

func TestAViewIsItsOwnersUnlessAnAdminSharesIt(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	ada, ben, admin := f.signedIn(f.tenant, storage.RoleAgent), f.signedIn(f.tenant, storage.RoleAgent), f.signedIn(f.tenant, storage.RoleAdmin)
	own := f.visit(ada, "POST", "/v1/views", `{"name":"Mine","filter":{"assigned_to":"me"}}`)
	is.Equal(own.get("data.shared"), false)
	is.Equal(own.text("data.owner_id"), ada.User.ID)
	path := "/v1/views/" + own.text("data.id")

	is.Equal(f.visit(ben, "GET", path, "").status, 404)
	is.Equal(f.visit(admin, "DELETE", path, "").status, 404)
	is.Equal(f.call("GET", "/views", "").get("data"), []any{}) // a key sees the shared
	is.Equal(f.visit(ada, "PATCH", path, `{"shared":true}`).code(), "403 permission_denied")
	is.Equal(f.visit(ada, "POST", "/v1/views", `{"name":"All","shared":true}`).code(), "403 permission_denied")

	shared := f.visit(admin, "POST", "/v1/views", `{"name":"All","shared":true}`).text("data.id")
	is.Equal(f.visit(ben, "GET", "/v1/views/"+shared, "").status, 200)
	is.Equal(f.visit(ben, "PATCH", "/v1/views/"+shared, `{"name":"x"}`).code(), "403 permission_denied")
	is.Equal(f.visit(ben, "DELETE", "/v1/views/"+shared, "").code(), "403 permission_denied")
	is.Equal(f.call("DELETE", "/views/"+shared, "").status, 200)

	for i := range 49 {
		is.Equal(f.visit(ada, "POST", "/v1/views", fmt.Sprintf(`{"name":"v%d"}`, i)).status, 201)
	}
	is.Equal(f.visit(ada, "POST", "/v1/views", `{"name":"one more"}`).code(), "402 quota_exceeded")
	is.Equal(f.visit(ben, "POST", "/v1/views", `{"name":"the first"}`).status, 201)
}
