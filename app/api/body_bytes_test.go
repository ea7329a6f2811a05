package api

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/app/limit"
	"confab/storage/storagetest"
)

// fillBodies takes all the room that an organization has for bodies, as those do that never
// end.
func (f *fixture) fillBodies(organization int64) *limit.Permit {
	f.t.Helper()
	held, err := f.api.Bodies.Acquire(f.t.Context(), limit.Organization(organization, ""), rest.MaxBodiesOfOne, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return held
}

// checkBodiesReleased fails if something still has room for its body.
func (f *fixture) checkBodiesReleased() {
	f.t.Helper()
	if used := f.api.Bodies.Used(); used != 0 {
		f.t.Errorf("%d bytes of bodies are still held", used)
	}
}

// Large bodies wait for room, of which an organization has a part. Small ones need none.
func TestLargeBodiesShareARoom(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	other := storagetest.Seed(t, f.db, "Other")
	post := func(key, name string, padding int) answer {
		return f.callAs(key, "POST", "/labels", `{"name":"`+name+`"}`+strings.Repeat(" ", padding))
	}
	const large, small = 500 << 10, rest.SmallBody - 100

	held := f.fillBodies(f.tenant.Organization.ID)
	is.Equal(post(f.tenant.Secret, "a", small).status, 201)
	is.Equal(post(other.Secret, "b", large).status, 201)
	f.api.Bodies.Patience = time.Millisecond
	refused := post(f.tenant.Secret, "c", large)
	is.Equal(refused.code(), "503 service_unavailable")
	is.Equal(refused.header.Get("Retry-After"), "1")

	f.api.Bodies.Patience = time.Hour
	waited := make(chan answer)
	go func() { waited <- post(f.tenant.Secret, "d", large) }()
	held.Release()
	is.Equal((<-waited).status, 201)
	f.checkBodiesReleased()
}

// So does the JSON that stands in a form beside a file, once.
func TestAPartOfAFormNeedsRoom(t *testing.T) {
	is := is.New(t)
	f, _, _ := serveBroadcasts(t)
	part := `{"name":"x"}` + strings.Repeat(" ", 500<<10)
	f.api.Bodies.Patience = time.Millisecond

	held := f.fillBodies(f.tenant.Organization.ID)
	is.Equal(f.uploadPeople(part, "to\n+15551234567\n").code(), "503 service_unavailable")
	held.Release()
	is.Equal(f.uploadPeople(part, "to\n+15551234567\n").status, 400)
	f.checkBodiesReleased()
}
