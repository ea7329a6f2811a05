package e2e

import (
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

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

// A console has one stream for all of its tabs, comes back by itself when it is cut off, and
// leads who is signed out back to where they were.
func TestAConsoleKeepsItsStream(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	c := s.consoleAt(t, storage.RoleAdmin, "settings/labels", "Labels")
	c.tabsShareOneStream()
	c.calm()
	c.comesBackByItself()
	for _, text := range c.Errors() {
		c.is.True(strings.Contains(text, "ERR_")) // that it was gone
	}
	c.forget()
	c.isSignedOutAndBack("admin@example.com")
	c.calm("status of 401")
}

// oneStream waits until only one console has a stream open.
func (c *colleague) oneStream() {
	c.t.Helper()
	c.is.True(until(func() bool { return c.stage.streams() == "1" }))
}

func (c *colleague) tabsShareOneStream() {
	c.t.Helper()
	s := c.stage
	c.oneStream()
	shows := func(tab, name string) {
		c.t.Helper()
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
	c.oneStream()
	eval[any](c.window, `second.close()`)
	c.WaitFor(`second.closed`)
	s.label("alone")
	shows("window", "alone")
	c.oneStream()
	c.is.Equal(eval[string](c.window, `document.querySelector(".connection").textContent`), "")
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

func (c *colleague) comesBackByItself() {
	c.t.Helper()
	s := c.stage
	w := newWire(c.t, s.app.Config.Server.Listen)
	c.Visit("http://" + w.listener.Addr().String() + "/console/settings/labels")
	c.heading("Labels")
	c.oneStream()
	eval[any](c.window, `void (window.same = true)`)
	shows := func(name string) {
		c.t.Helper()
		c.WaitFor(`window.same && document.querySelector("table")?.textContent.includes("` + name + `") && document.querySelector(".connection").textContent === ""`)
	}

	w.cut()
	c.WaitFor(`document.querySelector(".connection").textContent.includes("Reconnecting… your text is safe")`)
	s.label("while it was gone")
	w.mend()
	shows("while it was gone")

	// A connection that is there and dead: the laptop slept, and nothing was noticed.
	c.oneStream()
	w.freeze()
	s.label("while it slept")
	eval[any](c.window, `void (now => { Date.now = () => now() + 60_000 })(Date.now.bind(Date))`)
	shows("while it slept")
	s.label("awake")
	shows("awake")
}

func (c *colleague) isSignedOutAndBack(email string) {
	c.t.Helper()
	s := c.stage
	var u storage.User
	storagetest.View(c.t, s.app.DB, func(rx *storage.Rx) (err error) {
		u, err = rx.UserBySignIn(email)
		return err
	})
	hasRole := func(role string) {
		c.t.Helper()
		u.Role = role
		storagetest.Update(c.t, s.app.DB, func(tx *storage.Tx) error { return tx.UpdateUser(&u) })
	}
	const links = `document.querySelectorAll("nav[aria-label=Settings] a").length`
	c.open("settings/profile?from=here", "Profile")
	c.oneStream()
	hasRole(storage.RoleAgent)
	c.WaitFor(links + ` === 3`) // the page has come anew, for an agent
	c.oneStream()
	hasRole(storage.RoleAdmin)
	c.WaitFor(links + ` > 3`)
	c.oneStream()

	storagetest.Update(c.t, s.app.DB, func(tx *storage.Tx) error { return tx.DisableUser(u.ID) })
	c.Find("button", "Sign in")
	c.is.Equal(c.at(), "sign-in?next=settings%2Fprofile%3Ffrom%3Dhere")
	storagetest.Update(c.t, s.app.DB, func(tx *storage.Tx) error { return tx.EnableUser(u.ID) })
	c.signIn(email)
	c.heading("Profile")
}
