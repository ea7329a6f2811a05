package api

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/jobs/guard"
	"confab/storage"
	"confab/storage/storagetest"
)

// withPush lets the server have notifications, on addresses of this machine too.
func withPush(o *testOptions) {
	o.PublicURL = "https://confab.test"
	o.Fetch = guard.New(guard.Options{})
}

func deviceBody(t *testing.T, endpoint string) string {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"endpoint":%q,"expirationTime":null,"keys":{"p256dh":%q,"auth":"BTBZMqHH6r4Tts7J_aSIgg"}}`,
		endpoint, base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()))
}

func TestADeviceIsSwitchedOnAndOff(t *testing.T) {
	is := is.New(t)
	f := serve(t, withPush)
	agent := f.signedIn(f.tenant, storage.RoleAgent)
	is.Equal(f.visit(agent, "GET", "/devices", "").get("data.public_key"), nil) // a GET makes none
	key := f.visit(agent, "POST", "/devices/start", "").text("data.public_key")
	raw, err := base64.RawURLEncoding.DecodeString(key)
	is.NoErr(err)
	_, err = ecdh.P256().NewPublicKey(raw)
	is.NoErr(err)
	is.Equal(f.visit(agent, "POST", "/devices/start", "").text("data.public_key"), key) // once
	is.Equal(f.visit(agent, "GET", "/devices", "").text("data.public_key"), key)

	body := deviceBody(t, "https://192.0.100.7/send/1")
	is.Equal(f.visit(agent, "POST", "/devices/test", "").code(), "404 resource_not_found")
	got := f.visit(agent, "POST", "/devices", body)
	is.Equal(got.status, 201)
	is.True(storage.ValidID(storage.PrefixDevice, got.text("data.id")))
	is.Equal(f.visit(agent, "POST", "/devices", body).text("data.id"), got.text("data.id")) // the same, which was notified of the same
	count := func() []int { return storagetest.Select[int](t, f.dir, `SELECT count(*) FROM push_devices`) }
	is.Equal(count(), []int{1})

	is.Equal(f.visit(agent, "POST", "/devices/test", "").status, 202)
	is.Equal(storagetest.Select[string](t, f.dir, `SELECT kind FROM jobs`), []string{"push.send"})

	other := f.signedIn(f.tenant, storage.RoleAgent)
	is.Equal(f.visit(other, "DELETE", "/devices", body).code(), "404 resource_not_found") // nobody else's
	is.Equal(f.visit(agent, "DELETE", "/devices", `{"endpoint":"https://192.0.100.7/send/1"}`).get("data.deleted"), true)
	is.Equal(count(), []int{0})

	for i := range storage.MaxDevices {
		is.Equal(f.visit(agent, "POST", "/devices", deviceBody(t, fmt.Sprint("https://192.0.100.7/send/", i))).status, 201)
	}
	is.Equal(f.visit(agent, "POST", "/devices", deviceBody(t, "https://192.0.100.7/send/more")).code(), "402 quota_exceeded")
	is.Equal(f.visit(other, "POST", "/devices", body).status, 201)
	is.Equal(f.visit(agent, "DELETE", "/sessions/"+agent.Session.ID, "").status, 200)
	is.Equal(count(), []int{1}) // they go with the session
}

// TestTheFirstDeviceMakesTheKey: without one nothing could be sent to it.
func TestTheFirstDeviceMakesTheKey(t *testing.T) {
	is := is.New(t)
	f := serve(t, withPush)
	agent := f.signedIn(f.tenant, storage.RoleAgent)
	is.Equal(f.visit(agent, "POST", "/devices", deviceBody(t, "https://192.0.100.7/send/1")).status, 201)
	is.True(f.visit(agent, "GET", "/devices", "").get("data.public_key") != nil)
}

func TestABadDeviceIsRefused(t *testing.T) {
	is := is.New(t)
	f := serve(t, withPush)
	agent := f.signedIn(f.tenant, storage.RoleAgent)
	good := deviceBody(t, "https://192.0.100.7/send/1")
	for body, want := range map[string]string{
		`{}`:                                   "400 missing_required_field endpoint",
		`{"endpoint":"https://192.0.100.7/x"}`: "400 missing_required_field keys",
		`{"endpoint":"https://192.0.100.7/x","keys":{}}`:                "400 missing_required_field keys.p256dh",
		`{"endpoint":"https://192.0.100.7/x","keys":{"p256dh":"x"}}`:    "400 missing_required_field keys.auth",
		strings.Replace(good, "BTBZ", "BT", 1):                          "400 invalid_field_value keys.auth",
		strings.Replace(good, `"p256dh":"B`, `"p256dh":"A`, 1):          "400 invalid_field_value keys.p256dh",
		strings.Replace(good, "https:", "http:", 1):                     "400 invalid_field_value endpoint",
		strings.Replace(good, "192.0.100.7", "127.0.0.1", 1):            "400 invalid_field_value endpoint",
		strings.Replace(good, "192.0.100.7", "10.0.0.1", 1):             "400 invalid_field_value endpoint",
		strings.Replace(good, "send/1", "#x", 1):                        "400 invalid_field_value endpoint",
		strings.Replace(good, "send/1", strings.Repeat("x", 2048), 1):   "400 invalid_field_value endpoint",
		strings.Replace(good, `"endpoint":"https:`, `"endpoint":"x`, 1): "400 invalid_field_value endpoint",
	} {
		is.Equal(f.visit(agent, "POST", "/devices", body).code(), want)
	}
	is.Equal(storagetest.Select[int](t, f.dir, `SELECT count(*) FROM push_devices`), []int{0})

	plain := serve(t, withPush, func(o *testOptions) { o.PublicURL = "http://chat.example.com" })
	agent = plain.signedIn(plain.tenant, storage.RoleAgent)
	is.True(strings.Contains(plain.visit(agent, "GET", "/devices", "").text("data.problem"), "https"))
	is.Equal(plain.visit(agent, "POST", "/devices", good).code(), "400 invalid_field_value endpoint")
	local := serve(t, withPush, func(o *testOptions) { o.PublicURL = "http://127.0.0.1:8080" })
	agent = local.signedIn(local.tenant, storage.RoleAgent)
	is.Equal(local.visit(agent, "GET", "/devices", "").get("data.problem"), nil)
}

func TestAPersonChoosesAvailabilityAndNotifications(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	agent := f.signedIn(f.tenant, storage.RoleAgent)
	own := f.visit(agent, "GET", "/profile", "")
	is.Equal([]any{own.get("data.available"), own.get("data.notify_about")}, []any{true, "mine_and_unassigned"})
	own = f.visit(agent, "PATCH", "/profile", `{"available":false,"notify_about":"mentions"}`)
	is.Equal([]any{own.status, own.get("data.available"), own.get("data.notify_about")}, []any{200, false, "mentions"})
	for body, want := range map[string]string{
		`{"available":null}`: "400 invalid_field_value available", `{"available":"no"}`: "400 invalid_field_value available",
		`{"notify_about":"all"}`: "400 invalid_field_value notify_about", `{"notify_about":null}`: "400 invalid_field_value notify_about",
	} {
		is.Equal(f.visit(agent, "PATCH", "/profile", body).code(), want)
	}
}

func TestAPersonChoosesALanguage(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	agent := f.signedIn(f.tenant, storage.RoleAgent)
	is.Equal(f.visit(agent, "GET", "/profile", "").get("data.language"), nil)
	for _, chosen := range []any{"en", "es", "pt-BR", "id", "ar", nil} {
		body, err := json.Marshal(map[string]any{"language": chosen})
		is.NoErr(err)
		is.Equal(f.visit(agent, "PATCH", "/profile", string(body)).get("data.language"), chosen)
		is.Equal(f.visit(f.again(agent), "GET", "/profile", "").get("data.language"), chosen)
	}
	for _, body := range []string{`{"language":"fr"}`, `{"language":"pt"}`, `{"language":""}`, `{"language":["es"]}`, `{"language":5}`} {
		is.Equal(f.visit(agent, "PATCH", "/profile", body).code(), "400 invalid_field_value language")
	}
	is.Equal(f.visit(f.again(agent), "GET", "/profile", "").get("data.language"), nil)
}

func TestAnAdminSetsHowATeamsConversationsAreAssigned(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	admin := f.signedIn(f.tenant, storage.RoleAdmin)
	path := "/teams/" + f.tenant.Team.PublicID
	got := f.visit(admin, "PATCH", path, `{"assignment":"round_robin","assignment_limit":20}`)
	is.Equal([]any{got.status, got.get("data.assignment"), got.get("data.assignment_limit")}, []any{200, "round_robin", 20.0})
	is.Equal(f.audited(admin), []string{"user team.updated " + f.tenant.Team.PublicID})
	got = f.visit(admin, "PATCH", path, `{"name":"Day shift","assignment_limit":null}`)
	is.Equal([]any{got.get("data.name"), got.get("data.assignment"), got.get("data.assignment_limit")}, []any{"Day shift", "round_robin", nil})
	is.Equal(f.visit(admin, "GET", "/teams", "").get("data").([]any)[0].(map[string]any)["name"], "Day shift")
	for body, want := range map[string]string{
		`{}`: "400 missing_required_field name", `{"assignment":"fair"}`: "400 invalid_field_value assignment",
		`{"assignment":null}`: "400 invalid_field_value assignment", `{"assignment_limit":0}`: "400 invalid_field_value assignment_limit",
		`{"assignment_limit":1.5}`: "400 invalid_field_value assignment_limit", `{"name":" "}`: "400 invalid_field_value name",
	} {
		is.Equal(f.visit(admin, "PATCH", path, body).code(), want)
	}
}
