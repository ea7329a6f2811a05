package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/matryer/is"

	"confab/storage"
)

// killable is a sandbox as a process of its own, which can be killed.
type killable struct {
	t              *testing.T
	dir            string
	listen, played string
	BaseURL        string `json:"base_url"`
	SimulatorURL   string `json:"simulator_url"`
	APIKey         string `json:"api_key"`
	AccessToken    string `json:"access_token"`
	PhoneNumberID  string `json:"phone_number_id"`
	cmd            *exec.Cmd
}

func startKillable(t *testing.T) *killable {
	t.Helper()
	s := &killable{t: t, dir: filepath.Join(t.TempDir(), "data"), listen: freeAddress(t), played: freeAddress(t)}
	s.start()
	text, err := os.ReadFile(filepath.Join(s.dir, "sandbox.json"))
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start starts the process and waits until it answers.
func (s *killable) start() {
	s.t.Helper()
	cmd := confab(s.t, "sandbox", "--listen", s.listen, "--simulator-listen", s.played, "--data-dir", s.dir)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.cmd = cmd
	s.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGKILL)
		cmd.Wait()
	})
	for _, address := range []string{s.listen + "/readyz", s.played + "/_sim/settings"} {
		up := until(func() bool {
			res, err := http.Get("http://" + address)
			if err == nil {
				res.Body.Close()
			}
			return err == nil
		})
		if !up {
			s.t.Fatal("the sandbox did not start")
		}
	}
}

// kill ends the process as a power cut would.
func (s *killable) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// call makes one request that must succeed.
func (s *killable) call(method, url, body string) []byte {
	s.t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.APIKey)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		s.t.Fatalf("%s %s: %d %s %v", method, url, res.StatusCode, text, err)
	}
	return text
}

func (s *killable) read(path string, into any) {
	s.t.Helper()
	if err := json.Unmarshal(s.call("GET", s.BaseURL+path, ""), into); err != nil {
		s.t.Fatal(err)
	}
}

// says lets a person write.
func (s *killable) says(from, name, text string) {
	s.t.Helper()
	s.call("POST", s.SimulatorURL+"/_sim/inbound", fmt.Sprintf(`{"phone_number_id":%q,"from":%q,"name":%q,"type":"text","text":{"body":%q}}`, s.PhoneNumberID, from, name, text))
}

// offersLabel waits until the list can be narrowed to a label.
func (c *colleague) offersLabel(name string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`[...document.querySelectorAll(".list-pane option")].some(o => o.textContent === %q)`, name))
}

// The server is killed while two look on and one writes; much happens before they are
// connected again. Afterwards both see the stored messages, nothing is doubled, no text is lost.
func TestAKilledServerLosesNothingOnScreen(t *testing.T) {
	parallelBrowser(t)
	s := startKillable(t)
	s.says("15550002222", "Bo Berg", "hello")
	var looking [2]*colleague
	for i := range looking {
		c := &colleague{window: openWindow(t), t: t, is: is.New(t)}
		c.Do(chromedp.EmulateViewport(1280, 800))
		c.Visit("http://" + s.listen + "/console/inbox?tab=all")
		c.openConversation("Ana Ruiz")
		eval[any](c.window, `void (window.same = true)`)
		looking[i] = c
	}
	writing := looking[0]
	s.call("POST", s.BaseURL+"/labels", `{"name":"before"}`)
	writing.Fill("textbox", "Message", "Before")
	writing.Press(kb.Enter)
	writing.state("Before", "delivered")
	looking[1].state("Before", "delivered")
	for _, c := range looking {
		c.offersLabel("before")
	}

	s.kill()
	writing.Fill("textbox", "Message", "Into the dark")
	writing.Press(kb.Enter)
	writing.state("Into the dark", "queued")
	writing.Fill("textbox", "Message", "Half a thou")
	writing.WaitFor(`document.querySelector(".connection").textContent.includes("your text is safe")`)
	looking[1].WaitFor(`document.querySelector(".connection").textContent.includes("Reconnecting")`)

	s.start()
	for i := range 5 {
		s.says("15550001111", "Ana Ruiz", fmt.Sprintf("question %d", i))
		s.says("15550002222", "Bo Berg", fmt.Sprintf("greeting %d", i))
	}
	s.says("15550003333", "Cleo", "new here")
	s.call("POST", s.BaseURL+"/labels", `{"name":"after"}`)
	s.call("POST", s.BaseURL+"/"+s.PhoneNumberID+"/messages", `{"messaging_product":"chat","to":"+15550001111","type":"text","text":{"body":"by the API"}}`)

	open := eval[string](writing.window, `location.pathname.split("/").pop()`)
	for _, c := range looking {
		c.article("Into the dark")
		c.article("question 4")
		c.offersLabel("before")
		c.offersLabel("after")
		c.WaitFor(`window.same && document.querySelectorAll("[id^=outbox]").length === 0 && document.querySelector(".connection").textContent === ""`)
		agrees(t, "the thread", c.threadOf, func() []shownMessage { return storedThread(s.read, s.PhoneNumberID, open) })
		agrees(t, "the list", c.listOf, func() []shownRow { return storedList(s.read, s.PhoneNumberID) })
	}
	count := 0
	for _, m := range storedThread(s.read, s.PhoneNumberID, open) {
		if m.Text == "Into the dark" {
			count++
		}
	}
	writing.is.Equal(count, 1)
	writing.is.Equal(eval[string](writing.window, `document.querySelector("textarea").value`), "Half a thou")
}

// Two laptops sleep for ten minutes: the connection is dead without notice, while much
// is changed. Awake, both show the stored state; what was written before goes, once, and what
// was being written is still there.
func TestAfterASleepTheScreenEqualsTheDatabase(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.label("VIP")
	ana := s.says(number, "15550001111", "Ana Ruiz", textOf("hi"))
	bo := s.says(number, "15550002222", "Bo Berg", textOf("hello"))
	w := newWire(t, s.app.Config.Server.Listen)
	var looking [2]*colleague
	for i, email := range []string{"mira@example.com", "eva@example.com"} {
		c := s.signedIn(t, "Ada", email, storage.RoleAgent)
		c.Visit("http://" + w.listener.Addr().String() + "/console/inbox?tab=all")
		c.openConversation("Ana Ruiz")
		eval[any](c.window, `void (window.same = true)`)
		looking[i] = c
	}
	s.becomesTrue(func() bool { return s.streams() == "2" && s.conversation(number, ana)["unread_count"] == 0.0 })

	w.freeze()
	for _, c := range looking {
		c.offline(true)
	}
	writing := looking[0]
	writing.Fill("textbox", "Message", "Before I close it")
	writing.Press(kb.Enter)
	writing.state("Before I close it", "queued")
	writing.Fill("textbox", "Message", "Half a thou")

	at := s.app.URL() + "/v1/" + number + "/conversations/"
	for i := range 45 { // more than a page
		s.says(number, "15550001111", "Ana Ruiz", textOf(fmt.Sprintf("question %d", i)))
	}
	s.await(number, s.send(number, "+15550001111", `"type":"text","text":{"body":"by the API"}`), isStatus("read"))
	s.says(number, "15550003333", "Cleo", textOf("new here"))
	s.call("PATCH", at+bo, `{"status":"resolved"}`)
	s.call("POST", at+bo+"/labels", `{"label_id":"`+s.label("Gift")+`"}`)

	for _, c := range looking {
		eval[any](c.window, `void (now => { Date.now = () => now() + 600_000 })(Date.now.bind(Date))`)
		c.offline(false)
	}
	for _, c := range looking {
		c.article("question 44")
		c.article("Before I close it")
		c.WaitFor(`window.same && document.querySelectorAll("[id^=outbox]").length === 0 && document.querySelector(".connection").textContent === ""`)
		agrees(t, "the list", c.listOf, func() []shownRow { return storedList(s.read, number) })
		agrees(t, "the thread", c.threadOf, func() []shownMessage { return c.endOf(storedThread(s.read, number, ana)) })
	}
	sent := 0
	for _, m := range storedThread(s.read, number, ana) {
		if m.Text == "Before I close it" {
			sent++
		}
	}
	writing.is.Equal(sent, 1)
	writing.written("Half a thou")
}
