package api

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage/storagetest"
)

// Large bodies wait for room, of which an organization has a part. Small ones need none.
func TestLargeBodiesShareARoom(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	other := storagetest.Seed(t, f.db, "Other")
	post := func(key, name string, padding int) answer {
		return f.callAs(key, "POST", "/labels", `{"name":"`+name+`"}`+strings.Repeat(" ", padding))
	}
	const large, small = 500 << 10, smallBody - 100
	us := f.tenant.Organization.ID

	is.NoErr(f.api.bodies.take(t.Context(), us, maxBodiesOfOne)) // as bodies do that never end
	is.Equal(post(f.tenant.Secret, "a", small).status, 201)
	is.Equal(post(other.Secret, "b", large).status, 201)
	f.api.bodies.patience = time.Millisecond
	refused := post(f.tenant.Secret, "c", large)
	is.Equal(refused.code(), "503 service_unavailable")
	is.Equal(refused.header.Get("Retry-After"), "1")

	f.api.bodies.patience = time.Hour
	waited := make(chan answer)
	go func() { waited <- post(f.tenant.Secret, "d", large) }()
	f.api.bodies.give(us, maxBodiesOfOne)
	is.Equal((<-waited).status, 201)
	is.True(f.api.bodies.all.TryAcquire(maxBodies)) // all of it was given back
	is.True(f.api.bodies.one(us).TryAcquire(maxBodiesOfOne))
}

// Whoever waits for the room of all gives back that of its organization.
func TestRoomThatWasNotGotIsGivenBack(t *testing.T) {
	is := is.New(t)
	room := newBodyRoom()
	is.True(room.all.TryAcquire(maxBodies))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	is.True(room.take(ctx, 1, maxTableBody) != nil)
	is.True(room.one(1).TryAcquire(maxBodiesOfOne))
}

// So does the JSON that stands in a form beside a file, once.
func TestAPartOfAFormNeedsRoom(t *testing.T) {
	is := is.New(t)
	f, _, _ := serveBroadcasts(t)
	part := `{"name":"x"}` + strings.Repeat(" ", 500<<10)
	us := f.tenant.Organization.ID
	f.api.bodies.patience = time.Millisecond

	is.NoErr(f.api.bodies.take(t.Context(), us, maxBodiesOfOne))
	is.Equal(f.uploadPeople(part, "to\n+15551234567\n").code(), "503 service_unavailable")
	f.api.bodies.give(us, maxBodiesOfOne)
	is.Equal(f.uploadPeople(part, "to\n+15551234567\n").status, 400)
	is.True(f.api.bodies.all.TryAcquire(maxBodies))
}
