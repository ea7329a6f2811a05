package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app"
	"confab/app/simulator"
	"confab/jobs/webhook"
	"confab/storage"
	"confab/storage/storagetest"
)

// playground is a sandbox in a process of its own.
type playground struct {
	t      testing.TB
	dir    string
	env    []string
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	state  struct {
		BaseURL       string `json:"base_url"`
		ConsoleURL    string `json:"console_url"`
		SimulatorURL  string `json:"simulator_url"`
		APIKey        string `json:"api_key"`
		PhoneNumberID string `json:"phone_number_id"`
		Organization  string `json:"organization_id"`
	}
}

// newPlayground starts a sandbox in a new directory.
func newPlayground(t testing.TB) *playground {
	t.Helper()
	p := &playground{t: t, dir: filepath.Join(t.TempDir(), "sandbox")}
	p.start()
	return p
}

// start starts the process, and waits until it answers.
func (p *playground) start() {
	p.t.Helper()
	p.cmd, p.stderr = confab(p.t, "sandbox", "--data-dir", p.dir, "--listen", "127.0.0.1:0", "--simulator-listen", "127.0.0.1:0"), &bytes.Buffer{}
	p.cmd.Stderr, p.cmd.Env = p.stderr, append(p.cmd.Env, p.env...)
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	cmd := p.cmd
	p.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })

	answers := until(func() bool {
		text, err := os.ReadFile(filepath.Join(p.dir, "sandbox.json"))
		if err != nil || json.Unmarshal(text, &p.state) != nil {
			return false
		}
		res, err := http.Get(p.state.BaseURL + "/health")
		if err != nil {
			return false
		}
		res.Body.Close()
		return strings.Contains(p.sim("GET", "/messages?direction=inbound", "", 200), "wamid") // somebody has written
	})
	if !answers {
		p.t.Fatal("the sandbox did not start: ", p.stderr)
	}
}

// stop ends the process as a person would.
func (p *playground) stop() {
	p.t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		p.t.Fatal(err, p.stderr)
	}
}

// call calls the API of the server, and returns what is in data.
func (p *playground) call(method, path, body string) map[string]any {
	p.t.Helper()
	var answer struct{ Data map[string]any }
	text := p.ask(method, p.state.BaseURL+path, body, 0)
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		p.t.Fatal(err, text)
	}
	return answer.Data
}

// sim calls the control surface, which must answer with a status.
func (p *playground) sim(method, path, body string, status int) string {
	p.t.Helper()
	return p.ask(method, p.state.SimulatorURL+"/_sim"+path, body, status)
}

func (p *playground) ask(method, url, body string, status int) string {
	p.t.Helper()
	header := []string{"Authorization: Bearer " + p.state.APIKey, "Content-Type: application/json"}
	if body == "" {
		header = header[:1]
	}
	got := askWith(p.t, method, url, body, header...)
	if status == 0 && got.status >= 300 || status != 0 && got.status != status {
		p.t.Fatalf("%s %s: %d %s", method, url, got.status, got.body)
	}
	return got.body
}

// moved is the answer to a move.
type moved struct {
	Now      time.Time `json:"now"`
	OffsetMS int64     `json:"offset_ms"`
	Started  *int      `json:"started"`
}

// read reads what the control surface answers.
func (p *playground) read(path string, out any) {
	p.t.Helper()
	if text := p.sim("GET", path, "", 200); json.Unmarshal([]byte(text), out) != nil {
		p.t.Fatal(text)
	}
}

// move moves the clock ahead.
func (p *playground) move(by string) (m moved) {
	p.t.Helper()
	began := time.Now()
	text := p.sim("POST", "/clock", `{"advance":"`+by+`"}`, 200)
	if took := time.Since(began); took > 10*time.Second {
		p.t.Errorf("the move took %s", took)
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.Started == nil {
		p.t.Fatal(err, text)
	}
	return m
}

func TestASandboxsClockMovesServerAndSimulatorTogether(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPlayground(t)
	of := "/" + p.state.PhoneNumberID
	const day = 24 * time.Hour

	// A later send, a snooze, a key that ends, and a window that is open.
	later := time.Now().Add(20 * time.Hour).UTC().Format(time.RFC3339)
	text := func(at string) string {
		return `{"messaging_product":"chat","to":"+15550001111","type":"text","text":{"body":"` + at + `"}` + `%s}`
	}
	scheduled := p.call("POST", of+"/messages", fmt.Sprintf(text("later"), `,"scheduled_at":"`+later+`"`))["id"].(string)
	var conversations struct{ Data []struct{ ID string } }
	is.NoErr(json.Unmarshal([]byte(p.ask("GET", p.state.BaseURL+of+"/conversations", "", 200)), &conversations))
	conversation := of + "/conversations/" + conversations.Data[0].ID
	p.call("PATCH", conversation, `{"snoozed_until":"`+later+`"}`)
	key := run(t, "keys", "create", "--org", p.state.Organization, "--expires-in", "20h", "--data-dir", p.dir)

	m := p.move("23h")
	is.True(m.Now.Sub(time.Now().Add(23*time.Hour)).Abs() < time.Minute)
	is.Equal(m.OffsetMS, (23 * time.Hour).Milliseconds())
	is.True(*m.Started >= 2) // the send and the snooze, at least
	is.True(until(func() bool { return p.call("GET", of+"/messages/"+scheduled, "")["status"] == "delivered" }))
	is.True(until(func() bool { return p.call("GET", conversation, "")["snoozed_until"] == nil }))
	is.Equal(askWith(t, "GET", p.state.BaseURL+"/me", "", "Authorization: Bearer "+key).status, 401)

	// The window is still open, and closes with the next hours, on both sides.
	p.call("POST", of+"/messages", fmt.Sprintf(text("in time"), ""))
	p.move("2h")
	is.Equal(p.call("GET", conversation, "")["service_window_expires_at"] == nil ||
		p.call("GET", conversation, "")["service_window_expires_at"].(string) < m.Now.Add(2*time.Hour).UTC().Format(time.RFC3339), true)
	late := p.call("POST", of+"/messages", fmt.Sprintf(text("too late"), ""))["id"].(string)
	is.True(until(func() bool { return p.call("GET", of+"/messages/"+late, "")["status"] == "failed" })) // 131047
	made, err := time.Parse(time.RFC3339, p.call("GET", of+"/messages/"+late, "")["created_at"].(string))
	is.NoErr(err)
	is.True(made.Sub(time.Now().Add(25*time.Hour)).Abs() < time.Minute) // what follows counts from the new time

	// A command has the same time: a link of ten minutes is not over when it is made.
	fresh := run(t, "keys", "create", "--org", p.state.Organization, "--expires-in", "1h", "--data-dir", p.dir)
	is.Equal(askWith(t, "GET", p.state.BaseURL+"/me", "", "Authorization: Bearer "+fresh).status, 200)
	is.True(strings.Contains(run(t, "trigger", "clock", "--data-dir", p.dir), "25h0m0s"))

	// Never back, and at most 400 days in all.
	for body, word := range map[string]string{
		`{"advance":"-1h"}`: "negative", `{"advance":"400d"}`: "400 days", `{"advance":"2562047h"}`: "400 days", `{}`: "required",
		`{"advance":"soon"}`: "duration", `{"advance":3600}`: "duration", `{"advance":""}`: "duration",
	} {
		answer := p.sim("POST", "/clock", body, 400)
		is.True(strings.Contains(answer, word) && strings.Contains(answer, `"param":"advance"`))
	}
	is.True(strings.Contains(p.sim("GET", "/clock", "", 200), `"offset_ms":90000000`))

	// A restart keeps it; the badge and the page show it; nobody else serves the directory.
	p.stop()
	for _, args := range [][]string{{"serve"}, {"serve", "--listen", "127.0.0.1:0"}} {
		words := refused(t, append(args, "--data-dir", p.dir)...)
		is.True(strings.Contains(words, "25h0m0s") && strings.Contains(words, "confab sandbox"))
	}
	replicated := confab(t, "sandbox", "--data-dir", p.dir, "--listen", "127.0.0.1:0", "--simulator-listen", "127.0.0.1:0")
	replicated.Env = append(replicated.Env, "CONFAB_REPLICA__URL=file://"+filepath.Join(t.TempDir(), "replica"))
	words, err := replicated.CombinedOutput()
	is.True(err != nil)
	is.True(strings.Contains(string(words), "replica"))
	p.start()
	is.True(strings.Contains(p.sim("GET", "/clock", "", 200), `"offset_ms":90000000`))
	page := askWith(t, "GET", p.state.ConsoleURL+"phone", "", "Sec-Fetch-Site: none")
	if !strings.Contains(page.body, ">Sandbox &#43;1d 1h<") {
		t.Error(page.status, page.body)
	}

	// What is old by the new time is deleted, at once: nothing doubts a clock that was moved.
	p.move("60d")
	is.True(until(func() bool {
		return len(storagetest.Select[int](t, p.dir, `SELECT 1 FROM events WHERE created_at < ?`, time.Now().Add(2*day).UnixMilli())) == 0
	}))
}

// TestWebhooksAreSignedByTheRealTime: a receiver knows no other.
func TestWebhooksAreSignedByTheRealTime(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPlayground(t)
	to := newReceiver(t, nil)
	made := p.call("POST", "/webhook_subscriptions", `{"url":"`+to.URL+`","events":["message.received"]}`)
	p.move("100d")
	p.sim("POST", "/inbound", `{"from":"+15550002222","type":"text","text":{"body":"hi"}}`, 200)
	got := <-to.came
	is.NoErr(webhook.Verify(got.header.Get("X-Svc-Signature"), got.body, time.Now(), made["initial_secret"].(string)))
	stamp, err := strconv.ParseInt(got.header.Get("webhook-timestamp"), 10, 64)
	is.NoErr(err)
	is.True(time.Since(time.Unix(stamp, 0)).Abs() < time.Minute)
}

// TestCodesTokensAndLimitsKeepTheRealTime: those who make the codes and tokens know no other.
func TestCodesTokensAndLimitsKeepTheRealTime(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	clock, p := &storage.MovableClock{}, newIdentityProvider(t)
	clock.Advance(100 * 24 * time.Hour)
	s := startStage(t, func(o *app.Options, _ *simulator.Server) { o.Clock = clock }, p.configure)
	ada, _ := s.joined("ada@example.com", storage.RoleAgent)
	codes, _ := ada.addCodes()
	b := s.browser()
	is.Equal(b.signIn("ada@example.com", goodPassword).location.Path, "/console/sign-in/second")
	is.Equal(b.second(codes.code(0)).status, 303)
	p.as("one", "ada@example.com", true)
	is.Equal(s.browser().signInByProvider().status, 303)

	limits := askWith(t, "GET", s.app.URL()+"/v1/me", "", "Authorization: Bearer "+s.tenant.Secret).header
	full, err := strconv.ParseInt(limits.Get("X-RateLimit-Reset"), 10, 64)
	is.NoErr(err)
	is.True(time.Until(time.Unix(full, 0)).Abs() < time.Minute)
}

// TestWhatIsNoSandboxHasNoClockToMove: neither a server nor the simulator alone.
func TestWhatIsNoSandboxHasNoClockToMove(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	for _, path := range []string{"/_sim/clock", "/v1/_sim/clock", "/console/api/sim/clock"} {
		is.True(askWith(t, "POST", s.app.URL()+path, `{"advance":"25h"}`, "Content-Type: application/json").status >= 400)
	}
	admin, _ := s.joined("ada@example.com", "admin")
	is.Equal(admin.play("POST", "clock", `{"advance":"25h"}`).status, 404)
	alone := askWith(t, "POST", s.simURL+"/_sim/clock", `{"advance":"25h"}`, "Content-Type: application/json")
	is.Equal(alone.status, 409)
	is.True(strings.Contains(askWith(t, "GET", s.simURL+"/_sim/clock", "").body, `"offset_ms":0`))
}
