package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"confab/app"
	"confab/app/config"
	"confab/storage"
)

func TestTheLogIsJSONUnlessItIsReadByPeople(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var out bytes.Buffer
	app.NewLogger(&out, config.Log{Level: "info"}).Info("serving", "url", "http://x")
	var line map[string]any
	is.NoErr(json.Unmarshal(out.Bytes(), &line)) // no terminal, no format: JSON
	is.Equal(line["msg"], "serving")
	is.Equal(line["level"], "INFO")

	out.Reset()
	app.NewLogger(&out, config.Log{Level: "warn", Format: "text"}).Info("serving")
	is.Equal(out.String(), "") // below the level
	app.NewLogger(&out, config.Log{Level: "warn", Format: "text"}).Warn("careful", "of", "that thing")
	is.True(strings.Contains(out.String(), `level=WARN msg=careful of="that thing"`))
}

// secretive is a server whose log is watched for secrets.
type secretive struct {
	*server
	sim     *simulated
	secrets map[string]string
}

// value is a field of an answer that must be there.
func (s *secretive) value(r reply, path ...string) string {
	s.t.Helper()
	at := any(r.body)
	for _, key := range path {
		m, ok := at.(map[string]any)
		if !ok {
			s.t.Fatalf("no %v in %v", path, r.body)
		}
		at = m[key]
	}
	text, ok := at.(string)
	if !ok || text == "" {
		s.t.Fatalf("no %v in %v", path, r.body)
	}
	return text
}

// TestSecretsNeverReachTheLog uses every kind of secret there is, rightly and
// wrongly, with the log at its most talkative.
func TestSecretsNeverReachTheLog(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := prepareServer(t)
	s := &secretive{server: p, sim: simulate(t, p)}
	s.sim.connect(p)
	s.env = append(s.env, "CONFAB_LOG__LEVEL=debug", "CONFAB_SECURITY__ALLOW_INSECURE_URLS=true", "CONFAB_SECURITY__ALLOW_CIDRS=127.0.0.0/8")
	s.start()
	master, err := os.ReadFile(filepath.Join(s.dir, storage.MasterKeyFile))
	is.NoErr(err)
	s.secrets = map[string]string{"API key": s.key, "access token": "storm-token", "app secret": stormSecret, "master key": strings.TrimSpace(string(master))}

	received := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { received <- r.Header.Get("X-Svc-Signature") }))
	defer receiver.Close()
	hook := s.mustSend("POST", "/v1/webhook_subscriptions", `{"url":"`+receiver.URL+`/hook-path-secret?token=hook-query-secret","events":["message.sent"],"custom_headers":{"X-Own":"header-secret"}}`)
	s.secrets["signing secret"], s.secrets["custom header"] = s.value(hook, "data", "initial_secret"), "header-secret"
	s.secrets["query of a webhook"] = "hook-query-secret"
	customer := s.value(s.mustSend("POST", "/v1/customers", `{"name":"Ana"}`), "data", "id")
	link := s.value(s.mustSend("POST", "/v1/customers/"+customer+"/setup_links", `{}`), "data", "setup_url")
	token := link[strings.LastIndex(link, "/")+1:]
	s.secrets["setup token"] = token
	s.fetch("GET", "/onboard/"+token)
	media, err := s.upload(s.sim.Number, "a note")
	is.NoErr(err)
	hosted := s.value(s.mustSend("GET", "/v1/"+s.sim.Number+"/media/"+media, ""), "data", "url")
	_, path, _ := strings.Cut(strings.TrimPrefix(hosted, "http://"), "/")
	status, _, _ := s.fetch("GET", "/"+path)
	is.Equal(status, 200)
	s.secrets["media token"] = strings.Split(path, "/")[1]
	s.fetch("GET", "/provider/webhook?hub.mode=subscribe&hub.verify_token=verify-secret&hub.challenge=1")
	s.fetch("GET", "/v1/labels?api_key=query-secret", "Authorization: Bearer svc_live_wrong-secret-of-a-client")
	s.secrets["token in a query"], s.secrets["wrong verify token"], s.secrets["wrong key"] = "query-secret", "verify-secret", "wrong-secret"
	s.mustSend("POST", "/v1/"+s.sim.Number+"/register", `{"pin":"739154"}`)
	s.secrets["PIN"] = "739154"
	insistOnMessage(t, p, s.sim.Number, "key-of-a-client", "+15550001111")
	signature := <-received
	s.secrets["signature"] = signature[strings.Index(signature, "v1=")+3:]
	is.NoErr(s.cmd.Process.Signal(syscall.SIGTERM)) // it ends what it has begun, and writes it down
	is.NoErr(<-s.ended)

	log := s.output.String()
	is.True(strings.Contains(log, `"msg":"webhook attempt"`)) // a line for each attempt
	is.True(strings.Contains(log, `"path":"/media/:token"`))  // and for each request, under its route
	for what, secret := range s.secrets {
		if strings.Contains(log, secret) {
			t.Errorf("the log shows the %s", what)
		}
	}
	for line := range strings.Lines(log) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Errorf("not JSON: %s", line)
		}
	}
}
