package e2e

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"confab/app"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// A secret that somebody writes into a path, where it does not belong, is in no log.
func TestASecretInAPathIsMasked(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	log := &lockedBuffer{}
	s := startStage(t, func(o *app.Options, _ *simulator.Server) {
		o.Log = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	person, _ := s.joined("ada@example.com", storage.RoleAdmin)
	_, link := s.invitePerson("bo@example.com", storage.RoleAgent)
	customer := s.call("POST", s.app.URL()+"/v1/customers", `{"name":"Bakery"}`)["id"].(string)
	made := s.call("POST", s.app.URL()+"/v1/customers/"+customer+"/setup_links", `{}`)
	setup := made["setup_url"].(string)
	setup = setup[strings.LastIndex(setup, "/")+1:]

	key, invitation := s.tenant.Secret, strings.TrimPrefix(link, "/console/welcome/")
	const signing = "whsec_AAECAwQFBgcICQoLDA0O/xAREhMU+RYXGBkaGxwdHh8="
	const token = "EAAGm0PX4ZCpsBO7kQJxN3vZBqLr2yTd8hWcUeFgS1aVnRjYiKo"
	const small, sandbox, plain = "correcthorsebatterystapleandsomemore", "sim_B2C3D4E5F6G7H2J3K4M5N6P7QR", "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ"
	secrets := map[string]string{
		"word of small letters": small[4:], "sandbox's token": sandbox[4:], "base64": plain[4:],
		"API key": key[len(storage.KeyPrefix):], "setup token": setup[len("csl_"):], "signing secret": "xAREhMU+RYXGBkaGxwdHh8", "beginning of a signing secret": "AAECAwQFBgcI",
		"link of an invitation": invitation, "session": person.session(), "provider's token": token,
	}
	for _, base := range []string{"/v1/", "/v1/labels/", "/v1/customers/", "/v1/106540352242922/messages/", "/v1/customers/" + customer + "/setup_links/", "/console/api/v1/", "/console/api/people/", "/"} {
		for _, secret := range []string{
			key, key + "/messages", "x" + key, strings.Replace(key, "svc", "%73vc", 1), strings.ReplaceAll(key, "_", "%5F"), strings.ReplaceAll(key, "_", "%255F"),
			setup, strings.ReplaceAll(setup, "_", "%5f"), signing, "a%2F" + key, invitation, person.session(), token,
			small, sandbox, plain,
		} {
			for _, method := range []string{"GET", "POST"} {
				askWith(t, method, s.app.URL()+base+secret, "{}", "Authorization: Bearer "+key)
				person.sendJSON(method, base+secret, "{}")
			}
		}
	}
	askWith(t, "GET", s.app.URL()+"/v1/"+key, "") // by somebody without a key
	id := made["id"].(string)
	s.call("GET", s.app.URL()+"/v1/customers/"+customer+"/setup_links/"+id, "")

	// A path without a secret can still be read.
	rows := func() string {
		return strings.Join(storagetest.Select[string](t, s.app.Config.DataDir, `SELECT method || ' ' || path FROM api_log`), "\n")
	}
	is.True(until(func() bool { return strings.Contains(rows(), "GET /v1/customers/"+customer+"/setup_links/"+id) }))
	is.True(strings.Contains(log.String(), "/v1/customers/"+customer+"/setup_links/"+id))
	is.True(strings.Contains(rows(), "GET /v1/labels/svc_...")) // and which kind of secret it was
	for what, secret := range secrets {
		for where, text := range map[string]string{"log": log.String(), "API log": rows()} {
			if strings.Contains(strings.ReplaceAll(text, `\u002b`, "+"), secret) {
				t.Errorf("the %s shows the %s", where, what)
			}
		}
	}
}
