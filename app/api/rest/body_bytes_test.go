package rest

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/limit"
	"confab/storage/storagetest"
)

// fillBodies takes all the room that an organization has for bodies, as those do that never
// end.
func (f *fixture) fillBodies(organization int64) *limit.Permit {
	f.t.Helper()
	held, err := f.api.bodies.Acquire(f.t.Context(), limit.Organization(organization, ""), maxBodiesOfOne, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return held
}

// checkBodiesReleased fails if the tenant still has room for a body.
func (f *fixture) checkBodiesReleased() {
	f.t.Helper()
	f.api.bodies.Patience = time.Millisecond
	f.fillBodies(f.tenant.Organization.ID).Release()
}

// Large bodies wait for room, of which an organization has a part. Small ones need none.
func TestLargeBodiesShareARoom(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	other := storagetest.Seed(t, f.db, "Other")
	post := func(key, name string, padding int) answer {
		return f.callAs(key, "POST", "/labels", `{"name":"`+name+`"}`+strings.Repeat(" ", padding))
	}
	const large, small = 500 << 10, smallBody - 100

	held := f.fillBodies(f.tenant.Organization.ID)
	is.Equal(post(f.tenant.Secret, "a", small).status, 201)
	is.Equal(post(other.Secret, "b", large).status, 201)
	f.api.bodies.Patience = time.Millisecond
	refused := post(f.tenant.Secret, "c", large)
	is.Equal(refused.code(), "503 service_unavailable")
	is.Equal(refused.header.Get("Retry-After"), "1")

	f.api.bodies.Patience = time.Hour
	waited := make(chan answer)
	go func() { waited <- post(f.tenant.Secret, "d", large) }()
	held.Release()
	is.Equal((<-waited).status, 201)
	f.checkBodiesReleased()
}

// So does the JSON of a form that has a file too, once.
func TestAPartOfAFormNeedsRoom(t *testing.T) {
	is := is.New(t)
	f := serve(t, func(o *Options) { o.Files = storagetest.Files(t, t.TempDir()) })
	refuse := func(*Request) (Reply, error) { return Reply{}, Invalid("name", "is refused") }
	f.mount(At("POST", "/tables", refuse, 0, nil).TakesTable("table", "rows"))
	f.api.bodies.Patience = time.Millisecond

	held := f.fillBodies(f.tenant.Organization.ID)
	is.Equal(f.uploadTable().code(), "503 service_unavailable")
	held.Release()
	is.Equal(f.uploadTable().code(), "400 invalid_field_value name")
	f.checkBodiesReleased()
}

// uploadTable sends a form with a large JSON part and a file.
func (f *fixture) uploadTable() answer {
	f.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("table", `{"name":"x"}`+strings.Repeat(" ", 500<<10))
	file, _ := form.CreateFormFile("rows", "people.csv")
	_, _ = io.WriteString(file, "to\n+15551234567\n")
	_ = form.Close()

	req, err := http.NewRequest("POST", f.url+"/tables", &body)
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
	req.Header.Set("Content-Type", form.FormDataContentType())
	return f.do(req)
}
