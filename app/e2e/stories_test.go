package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
)

// storyRounds is how often each story is played.
var storyRounds = flag.Int("stories", 1, "play each story so many times")

// TestTheStoriesThatComeWithUsHold plays each beside an app that does what it says.
func TestTheStoriesThatComeWithUsHold(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"first-contact", "failed-payment-reminder", "opt-out", "webhook-outage", "broadcast-paused-template"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range *storyRounds {
				p := newPlayground(t)
				newStoryApp(t, p)
				out := run(t, "sandbox", "play", name, "--data-dir", p.dir)
				is.New(t).True(strings.HasPrefix(out, name+": all "))
				p.stop()
			}
		})
	}
}

// storyApp is an app that gets its events by webhook.
type storyApp struct {
	*playground
	subscription, broadcast string
	wasAway                 atomic.Bool
}

func newStoryApp(t *testing.T, p *playground) {
	t.Helper()
	a := &storyApp{playground: p}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	a.subscription = p.call("POST", "/webhook_subscriptions", `{"url":"`+server.URL+`","events":["message.received"]}`)["id"].(string)
}

// ServeHTTP answers what people write.
func (a *storyApp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var event struct {
		Entry []struct {
			Changes []struct {
				Value struct {
					Messages []struct {
						From string
						Text struct{ Body string }
					}
				}
			}
		}
	}
	if json.Unmarshal(body, &event) != nil || len(event.Entry) == 0 {
		return // the test event of a new subscription
	}
	m := event.Entry[0].Changes[0].Value.Messages[0]

	switch m.Text.Body {
	case "Is anybody there?":
		if !a.wasAway.Swap(true) {
			w.WriteHeader(http.StatusGone)
			go a.comeBack()
			return
		}
	case "remind me":
		a.post("/messages", `{"messaging_product":"chat","to":"+%s","scheduled_at":"%s","type":"template","template":{"name":"order_update",
			"language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"Leo"},{"type":"text","text":"A-1"}]}]}}`, m.From, a.in(24*time.Hour))
	case "schedule":
		a.broadcast = a.post("/broadcasts", `{"name":"Spring","scheduled_at":"%s","audience":{"recipients":[{"to":"+15550004001"},{"to":"+15550004002"},{"to":"+15550004003"}]},
			"template":{"name":"spring_offer","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"there"}]}]}}`, a.in(time.Hour))["id"].(string)
	case "resume":
		at := "/" + a.state.PhoneNumberID + "/broadcasts/" + a.broadcast
		until(func() bool { return a.call("GET", at, "")["status"] == "paused" })
		a.post("/broadcasts/"+a.broadcast+"/resume", "{}")
		return
	default:
		return
	}
	a.post("/messages", `{"messaging_product":"chat","to":"+%s","type":"text","text":{"body":"Gladly."}}`, m.From)
}

// comeBack enables the subscription again once hours have passed, and replays what was missed.
func (a *storyApp) comeBack() {
	until(func() bool { return !strings.Contains(a.sim("GET", "/clock", "", 200), `"offset_ms":0`) })
	at := "/webhook_subscriptions/" + a.subscription
	until(func() bool { return a.call("GET", at, "")["status"] == "disabled" })
	a.call("PATCH", at, `{"status":"active"}`)
	a.call("POST", "/webhook_deliveries/bulk_replay", `{"subscription_id":"`+a.subscription+`","status":"dead"}`)
}

// post calls the API of the number.
func (a *storyApp) post(path, body string, values ...any) map[string]any {
	return a.call("POST", "/"+a.state.PhoneNumberID+path, fmt.Sprintf(body, values...))
}

// in is a time to come, by the clock of the sandbox.
func (a *storyApp) in(wait time.Duration) string {
	var clock moved
	a.read("/clock", &clock)
	return clock.Now.Add(wait).UTC().Format(time.RFC3339)
}

// TestAStoryThatDoesNotHoldSaysWhatCameInstead and one that cannot be read says where.
func TestAStoryThatDoesNotHoldSaysWhatCameInstead(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPlayground(t)
	write := func(lines ...string) string {
		path := filepath.Join(t.TempDir(), "story.jsonl")
		is.NoErr(os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
		return path
	}
	play := func(lines ...string) string {
		return refused(t, "sandbox", "play", write(lines...), "--data-dir", p.dir)
	}
	const hello = `{"as":"hello","do":"inbound","with":{"from":"+15550002222","type":"text","text":{"body":"hi"}}}`

	words := play(hello, `{"expect":{"event":{"type":"message.received","payload":{"svc":{"contact":{"name":"Bo"}}}}},"within":"1s"}`)
	is.True(strings.Contains(words, "line 2: no event within 1s"))
	is.True(strings.Contains(words, `payload.svc.contact.name is `) && strings.Contains(words, `, not "Bo"`))
	is.True(strings.Contains(words, `type is "contact.created", not "message.received"`) || strings.Contains(words, "message.received"))
	is.True(strings.Contains(play(hello, `{"expect":{"message":{"to":"15550002222"}},"within":"100ms"}`), "No message came at all."))

	// What came before a step does not count, and each item only once; lists match in length.
	received := `{"expect":{"event":{"type":"message.received"}},"within":"2s"}`
	is.True(strings.Contains(play(hello, received, received), "line 3: no event within 2s"))
	again := strings.Replace(hello, "hi", "again", 1)
	is.True(strings.Contains(play(hello, received, `{"do":"clock","with":{"advance":"1s"}}`, received), "line 4"))
	run(t, "sandbox", "play", write(hello, received, again, received), "--data-dir", p.dir)
	run(t, "sandbox", "play", write(`{"do":"preferences","with":{"number":15550002222,"marketing":"stop"}}`), "--data-dir", p.dir)
	list := `{"expect":{"event":{"payload":{"entry":[{"changes":[{"value":{"messages":[{"id":"$hello"}%s]}}]}]}}},"within":"2s"}`
	run(t, "sandbox", "play", write("# a comment", "", hello, fmt.Sprintf(list, "")), "--data-dir", p.dir)
	is.True(strings.Contains(play(hello, fmt.Sprintf(list, ",{}")), "has 1 items, not 2"))

	// A time counts by the clock of the sandbox.
	began := time.Now()
	run(t, "sandbox", "play", write(`{"do":"clock","with":{"advance":"1h"}}`, `{"at":"1h1s","do":"clock","with":{"advance":"1s"}}`), "--data-dir", p.dir)
	is.True(time.Since(began) >= time.Second)

	for line, wrong := range map[string]string{
		`{"do":"sing"}`: "line 1: do must be one of", `{"do":"inbound","expect":{}}`: "either do or expect", `{}`: "either do or expect",
		`{"expect":{"event":{},"call":{}}}`: "expect has one of", `{"expect":{"song":{}}}`: "cannot expect", `{"do":"inbound","who":1}`: "unknown field",
		`{"do":"status","with":{"status":"read"}}`: "with has no id", `{"do":"inbound","with":{"from":"$x"}}`: "no earlier line", `hello`: "line 1",
		`{"expect":{"event":{}},"within":"soon"}`: "line 1", ``: "empty",
	} {
		if words := play(line); !strings.Contains(words, wrong) {
			t.Errorf("%s: %s", line, words)
		}
	}
	is.True(strings.Contains(refused(t, "sandbox", "play", "no-such-story", "--data-dir", p.dir), "no such file"))
}

// TestAStoryPlaysBesideACommand and fails when either does.
func TestAStoryPlaysBesideACommand(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "story.jsonl")
	is.NoErr(os.WriteFile(path, []byte(`{"expect":{"event":{"type":"message.received"}},"within":"30s"}`), 0o600))
	self := confab(t)
	status := func(command ...string) (int, string) {
		cmd := confab(t, append([]string{"sandbox", "exec", "--story", path, "--"}, command...)...)
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}

	code, out := status(self.Path, "trigger", "inbound")
	is.Equal(code, 0)
	is.True(strings.Contains(out, "wamid."))
	code, _ = status("sh", "-c", "exit 7")
	is.Equal(code, 7)

	is.NoErr(os.WriteFile(path, []byte(`{"expect":{"message":{"to":"nobody"}},"within":"100ms"}`), 0o600))
	code, out = status("true")
	is.Equal(code, 1)
	is.True(strings.Contains(out, "story: line 1: no message within 100ms"))
	code, _ = status("sh", "-c", "sleep 1; exit 9")
	is.Equal(code, 9)

	// A signal ends the story when there is no command any more.
	is.NoErr(os.WriteFile(path, []byte(`{"expect":{"message":{"to":"nobody"}},"within":"10m"}`), 0o600))
	ran := filepath.Join(t.TempDir(), "pid")
	cmd := confab(t, "sandbox", "exec", "--story", path, "--", "sh", "-c", "echo $$ > "+ran)
	is.NoErr(cmd.Start())
	is.True(until(func() bool {
		pid, err := os.ReadFile(ran)
		return err == nil && len(pid) > 1 && exec.Command("kill", "-0", strings.TrimSpace(string(pid))).Run() != nil
	}))
	is.NoErr(cmd.Process.Signal(syscall.SIGTERM))
	cmd.Wait()
	is.Equal(cmd.ProcessState.ExitCode(), 128+int(syscall.SIGTERM))
}
