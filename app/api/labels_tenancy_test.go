package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestOrganizationsCannotSeeEachOthersLabels(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	other := storagetest.Seed(t, f.db, "Other")
	mine := f.call("POST", "/labels", `{"name":"VIP","color":"red"}`)
	is.Equal(f.callAs(other.Secret, "POST", "/labels", `{"name":"VIP"}`).status, 201) // names do not collide
	path := "/labels/" + mine.text("data.id")
	before := f.call("GET", path, "").get("data")

	gone := "/labels/" + f.db.NewID(storage.PrefixLabel)
	for _, tt := range []struct{ method, body string }{{"GET", ""}, {"PATCH", `{"name":"Mine"}`}, {"PATCH", `{`}, {"PATCH", `{}`}, {"DELETE", ""}} {
		foreign := f.callAs(other.Secret, tt.method, path, tt.body)
		missing := f.callAs(other.Secret, tt.method, gone, tt.body)
		malformed := f.callAs(other.Secret, tt.method, "/labels/lbl_1", tt.body)
		is.Equal(foreign.code(), "404 resource_not_found")
		is.Equal(plainBody(foreign), plainBody(missing)) // indistinguishable
		is.Equal(plainBody(foreign), plainBody(malformed))
		is.Equal(foreign.header.Get("Content-Length"), missing.header.Get("Content-Length"))
	}
	is.Equal(f.call("GET", path, "").get("data"), before)
	list := f.callAs(other.Secret, "GET", "/labels", "")
	is.Equal(len(list.ids()), 1)
	is.True(!strings.Contains(list.body, mine.text("data.id")))
}

// plainBody is a body without what differs between any two requests.
func plainBody(a answer) string {
	return strings.ReplaceAll(a.body, a.header.Get("X-Request-Id"), "")
}

func TestAMalformedIdIsMissing(t *testing.T) {
	f := serve(t)
	id := f.call("POST", "/labels", `{"name":"VIP"}`).text("data.id")
	for _, bad := range []string{
		"x", "lbl_", strings.ToLower(id), id + "0", id[:len(id)-1], "lbl" + id[4:], "ctc_" + id[4:], id[:29] + "U", id[:29] + "é", " " + id, id + " ", "*", "%25",
		strings.Repeat("a", 5000),
	} {
		t.Run(bad[:min(len(bad), 40)], func(t *testing.T) {
			is := is.New(t)
			path := "/labels/" + strings.ReplaceAll(bad, " ", "%20")
			is.Equal(f.call("GET", path, "").code(), "404 resource_not_found")
			is.Equal(f.call("PATCH", path, `{"name":"x"}`).code(), "404 resource_not_found")
			is.Equal(f.call("DELETE", path, "").code(), "404 resource_not_found")
		})
	}
	is.New(t).Equal(f.labels(), 1)
}
