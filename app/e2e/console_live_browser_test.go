package e2e

import (
	"io"
	"net"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// streams is how many consoles have a stream open.
func (s *stage) streams() string {
	s.t.Helper()
	body := ask(s.t, "GET", "http://"+s.app.Config.Server.Listen+"/metrics", nil).body
	found := regexp.MustCompile(`confab_streams\{class="console"\} (\d+)`).FindStringSubmatch(body)
	if found == nil {
		return ""
	}
	return found[1]
}

func TestTabsOfABrowserShareOneStream(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	c := s.consoleAt(t, storage.RoleAdmin, "settings/labels", "Labels")
	c.is.True(until(func() bool { return s.streams() == "1" }))
	shows := func(tab, name string) {
		c.WaitFor(tab + `.document.querySelector("table")?.textContent.includes("` + name + `")`)
	}
	eval[any](c.window, `void (window.second = window.open(location.href, "second"))`)
	c.WaitFor(`second.document.querySelector("h1")?.textContent === "Labels"`)
	s.label("both")
	shows("window", "both")
	shows("second", "both")
	c.is.Equal(eval[int](c.window, `second.performance.getEntriesByType("resource").filter(e => e.name.endsWith("api/stream")).length`), 0)
	c.is.Equal(s.streams(), "1")

	// The tab that leads is left: the other takes the lead, and passes on to the first.
	c.open("settings/labels", "Labels")
	eval[any](c.window, `void (window.second = window.open("", "second"))`)
	s.label("handed over")
	shows("window", "handed over")
	shows("second", "handed over")
	c.is.True(until(func() bool { return s.streams() == "1" }))
	eval[any](c.window, `second.close()`)
	c.WaitFor(`second.closed`)
	s.label("alone")
	shows("window", "alone")
	c.is.True(until(func() bool { return s.streams() == "1" }))
	c.is.Equal(eval[string](c.window, `document.querySelector(".connection").textContent`), "")
	c.calm()
}

// wire forwards connections to the server until it is cut.
type wire struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	conns map[net.Conn]string // what it is: a stream, frozen, or another
	isCut bool
}

func newWire(t *testing.T, target string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener, target: target, conns: make(map[net.Conn]string)}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go w.forward(conn)
		}
	}()
	t.Cleanup(func() { listener.Close(); w.cut() })
	return w
}

func (w *wire) forward(client net.Conn) {
	server, err := net.Dial("tcp", w.target)
	if err != nil {
		client.Close()
		return
	}
	w.mu.Lock()
	isCut := w.isCut
	w.conns[client] = ""
	w.mu.Unlock()
	if !isCut {
		go func() { io.Copy(server, client); server.Close() }()
		buffer := make([]byte, 32<<10)
		for {
			n, err := server.Read(buffer)
			w.mu.Lock()
			if strings.Contains(string(buffer[:n]), "text/event-stream") {
				w.conns[client] = "stream"
			}
			frozen := w.conns[client] == "frozen"
			w.mu.Unlock()
			if frozen && err == nil {
				continue // it never arrives
			}
			if _, failed := client.Write(buffer[:n]); failed != nil || err != nil {
				break
			}
		}
	}
	w.mu.Lock()
	delete(w.conns, client)
	w.mu.Unlock()
	client.Close()
	server.Close()
}

// cut closes all connections, and refuses new ones.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = true
	for conn := range w.conns {
		conn.Close()
	}
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = false
}

// freeze lets nothing arrive any more on the streams that are open.
func (w *wire) freeze() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for conn, what := range w.conns {
		if what == "stream" {
			w.conns[conn] = "frozen"
		}
	}
}

func TestAConsoleComesBackByItself(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	w := newWire(t, s.app.Config.Server.Listen)
	c := &colleague{window: openWindow(t), t: t, is: is.New(t), stage: s}
	_, link := s.invitePerson("ada@example.com", storage.RoleAdmin)
	base := "http://" + w.listener.Addr().String()
	c.Visit(base + link)
	c.Fill("textbox", "New password", goodPassword)
	c.Click("button", "Start")
	c.heading("Inbox")
	c.Visit(base + "/console/settings/labels")
	c.Find("heading", "No labels yet")
	c.is.True(until(func() bool { return s.streams() == "1" }))
	eval[any](c.window, `void (window.same = true)`)
	shows := func(name string) {
		c.WaitFor(`window.same && document.querySelector("table")?.textContent.includes("` + name + `") && document.querySelector(".connection").textContent === ""`)
	}

	w.cut()
	c.WaitFor(`document.querySelector(".connection").textContent.includes("Reconnecting… your text is safe")`)
	s.label("while it was gone")
	w.mend()
	shows("while it was gone")

	// A connection that is there and dead: the laptop slept, and nothing was noticed.
	c.is.True(until(func() bool { return s.streams() == "1" }))
	w.freeze()
	s.label("while it slept")
	eval[any](c.window, `void (now => { Date.now = () => now() + 60_000 })(Date.now.bind(Date))`)
	shows("while it slept")
	s.label("awake")
	shows("awake")
	for _, text := range c.Errors() {
		c.is.True(strings.Contains(text, "ERR_")) // that it was gone
	}
}

func TestWhoIsSignedOutFindsTheWayBack(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	c := s.console(t, storage.RoleAgent)
	user := func() (u storage.User) {
		storagetest.View(t, s.app.DB, func(rx *storage.Rx) (err error) {
			u, err = rx.UserBySignIn("agent@example.com")
			return err
		})
		return u
	}
	c.open("settings/profile?from=here", "Profile")
	c.is.True(until(func() bool { return s.streams() == "1" }))
	c.is.Equal(len(c.links("Settings")), 3)
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return makeAdmin(tx, user().ID) })
	c.WaitFor(`document.querySelectorAll("nav[aria-label=Settings] a").length > 3`) // the page has come anew, for an admin
	c.is.True(until(func() bool { return s.streams() == "1" }))
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.DisableUser(user().ID) })
	c.Find("button", "Sign in")
	c.is.Equal(c.at(), "sign-in?next=settings%2Fprofile%3Ffrom%3Dhere")
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error { return tx.EnableUser(user().ID) })
	c.Fill("textbox", "Email", "agent@example.com")
	c.Fill("textbox", "Password", goodPassword)
	c.Click("button", "Sign in")
	c.heading("Profile")
	c.calm("status of 401")
}

func TestColleaguesMeetInAConversation(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.heard(number, `"type":"text","text":{"body":"hi"}`)
	conversation := storagetest.Select[string](t, s.app.Config.DataDir, `SELECT id FROM conversations`)[0]
	ada, bo := s.console(t, storage.RoleAdmin), s.console(t, storage.RoleAgent)
	shows := func(c *colleague, text string) {
		t.Helper()
		c.WaitFor(`document.body.innerText.includes("` + text + `")`)
	}
	ada.openAddress("inbox/" + conversation)
	ada.Find("textbox", "Message")
	bo.openAddress("inbox/" + conversation)
	shows(bo, "Mira Kovač is looking at this too")
	ada.Fill("textbox", "Message", "Hel")
	shows(bo, "Mira Kovač is typing")
	ada.open("settings/profile", "Profile") // the page is left
	bo.WaitFor(`!document.body.innerText.includes("Mira Kovač is")`)

	// Events come too, those that one may read.
	s.heard(number, `"type":"text","text":{"body":"again"}`)
	bo.article("again")
	bo.calm()
	ada.calm()
}

// Two browsers look on while the server is killed. When it is back, both show what the
// database holds, without a reload.
func TestConsolesEqualTheDatabaseAfterAKill(t *testing.T) {
	parallelBrowser(t)
	s := newServer(t)
	org := regexp.MustCompile(`org_\w+`).FindString(run(t, "orgs", "list", "--data-dir", s.dir))
	var both []*colleague
	for _, email := range []string{"ada@example.com", "bo@example.com"} {
		link, err := url.Parse(run(t, "users", "invite", "--org", org, "--name", "Ada", "--email", email, "--role", "admin", "--data-dir", s.dir))
		if err != nil {
			t.Fatal(err)
		}
		c := &colleague{window: openWindow(t), t: t, is: is.New(t)}
		c.Visit("http://" + s.address + link.Path)
		c.Fill("textbox", "New password", goodPassword)
		c.Click("button", "Start")
		c.heading("Inbox")
		c.Visit("http://" + s.address + "/console/settings/labels")
		c.Find("heading", "No labels yet")
		eval[any](c.window, `void (window.same = true)`)
		both = append(both, c)
	}
	show := func(names ...string) {
		for _, c := range both {
			for _, name := range names {
				c.WaitFor(`window.same && document.querySelector("table")?.textContent.includes("` + name + `")`)
			}
		}
	}
	s.mustSend("POST", "/v1/labels", `{"name":"before"}`)
	show("before")
	s.kill()
	for _, c := range both {
		c.WaitFor(`document.querySelector(".connection").textContent.includes("Reconnecting")`)
	}
	s.start()
	s.mustSend("POST", "/v1/labels", `{"name":"after"}`)
	show("before", "after")
	for _, c := range both {
		c.WaitFor(`document.querySelector(".connection").textContent === ""`)
	}
}
