package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// crowdWith is a label on contacts and their conversations, more than one request may
// change, with the first of both.
func (f *fixture) crowdWith(name string, n int) (label, contact, conversation string) {
	f.t.Helper()
	label = f.label(name)
	a := f.connect(f.tenant, number)
	ids := f.insertContacts(a, 0, n, true)
	f.exec(`INSERT INTO contact_labels (contact_id, label_id, account_id, contact_created_at) SELECT id, ?, account_id, created_at FROM contacts`, label)
	f.exec(`INSERT INTO conversation_labels (conversation_id, label_id) SELECT id, ? FROM conversations`, label)
	storagetest.View(f.t, f.db, func(rx *storage.Rx) error {
		c, err := rx.ConversationOf(ids[0])
		contact, conversation = ids[0], c.ID
		return err
	})
	return label, contact, conversation
}

// counted is the result of a query for one number.
func (f *fixture) counted(query string, args ...any) int {
	f.t.Helper()
	return storagetest.Select[int](f.t, f.dir, query, args...)[0]
}

// TestALabelOfVeryManyIsGoneAtOnce has no worker for the job that takes the label off
// the rest: clients must not see the difference.
func TestALabelOfVeryManyIsGoneAtOnce(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	const many = 2000
	label, contact, conversation := f.crowdWith("VIP", many)
	is.Equal(len(f.call("GET", contacts+"?label_id="+label, "").ids()), 25)
	is.Equal(f.call("DELETE", "/labels/"+label, "").status, 200)
	is.True(f.counted(`SELECT count(*) FROM contact_labels`) > many/2) // the request has not done it all
	is.Equal(f.counted(`SELECT count(*) FROM jobs WHERE kind = 'label.detach'`), 1)

	for _, call := range []string{"GET /labels/" + label, "PATCH /labels/" + label, "DELETE /labels/" + label, "DELETE " + contacts + "/" + contact + "/labels/" + label} {
		method, path, _ := strings.Cut(call, " ")
		is.Equal(f.call(method, path, `{"name":"x"}`).code(), "404 resource_not_found")
	}
	is.Equal(f.call("POST", contacts+"/"+contact+"/labels", `{"label_id":"`+label+`"}`).code(), "404 resource_not_found")
	is.Equal(f.call("GET", "/labels", "").get("data"), []any{})
	for _, filter := range []string{"", "&search=1", "&updated_since=2000-01-01T00:00:00Z"} {
		list := f.call("GET", contacts+"?label_id="+label+filter, "")
		is.Equal(list.get("data"), []any{})
		is.Equal(list.get("has_more"), false)
	}
	for _, path := range []string{contacts + "/" + contact, conversations + "/" + conversation} {
		is.Equal(f.call("GET", path, "").get("data.labels"), []any{})
	}
	is.True(!strings.Contains(f.call("GET", contacts+"?limit=100", "").body, "VIP"))
	is.True(!strings.Contains(f.call("GET", conversations+"?limit=100", "").body, "VIP"))
	is.Equal(f.call("POST", "/labels", `{"name":"vip"}`).status, 201) // the name is free again
	is.Equal(f.told(f.tenant), "")
}

// TestALabelOfVeryManyIsRenamedAtOnce changes a label twice while the job is not run.
func TestALabelOfVeryManyIsRenamedAtOnce(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	const many = 2000
	label, _, conversation := f.crowdWith("VIP", many)
	f.exec(`UPDATE conversations SET updated_at = 1000`)
	for i := range 3 {
		is.Equal(f.call("PATCH", "/labels/"+label, fmt.Sprintf(`{"name":"VIP %d"}`, i)).status, 200)
	}
	is.True(f.counted(`SELECT count(*) FROM conversations WHERE updated_at = 1000`) > many/2)
	is.Equal(f.counted(`SELECT count(*) FROM jobs WHERE kind = 'label.touch'`), 1) // one does for all
	is.True(strings.Contains(f.call("GET", conversations+"/"+conversation, "").body, `"VIP 2"`))
}
