package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"confab/app/tools/rig"
)

const (
	// openConsoles are open while messages are sent.
	openConsoles = 20
	// idleConsoles are opened to see what they take.
	idleConsoles = 100
)

// consoles measures what people at the console cost those who send, and how much memory
// their streams take.
func (b *bench) consoles(ctx context.Context, o *installation) {
	// Each person has one console: what a person may ask for in a second is limited.
	var cookies []string
	for i := range openConsoles {
		cookies = append(cookies, o.signIn(ctx, fmt.Sprint("person", i)))
	}

	// One that has hashed a password has free memory, which would hide what consoles take.
	o.Stop()
	o.Start()
	b.measureIdleConsoles(ctx, o, cookies)
	b.measureSendsWithConsoles(ctx, o, cookies)
	b.table.addLimited(megabytes(o.Process().PeakMemory()), 250, " MB", row{
		id:   "P18",
		what: fmt.Sprintf("memory under this load with %d consoles, at most", openConsoles),
	})
}

// signIn lets a person join the organization, and returns the cookie of its session.
func (o *installation) signIn(ctx context.Context, name string) (cookie string) {
	link := o.Command("users", "invite", "--org", o.org, "--name", name, "--email", name+"@example.com", "--role", "admin")
	form := url.Values{"name": {name}, "password": {"a horse that is hard to guess"}}
	joins := o.URL() + link[strings.Index(link, "/console/"):]
	req := rig.Must(http.NewRequestWithContext(ctx, "POST", joins, strings.NewReader(form.Encode())))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res := rig.Must(http.DefaultTransport.RoundTrip(req)) // which does not follow where it leads
	defer res.Body.Close()

	for _, c := range res.Cookies() {
		if strings.HasPrefix(c.Name, "confab_session") && c.Value != "" {
			cookie = c.Name + "=" + c.Value
		}
	}
	if cookie == "" {
		rig.Check(fmt.Errorf("an invitation was answered %s, without a session", res.Status))
	}
	return cookie
}

// openConsoles runs consoles in a process of their own, and returns when all of them are
// connected. Those that follow read again what has changed.
func (b *bench) openConsoles(s *server, cookies []string, count int, follow bool) *rig.Service {
	return b.self.StartService("consoles", string(rig.Must(json.Marshal(consoleOptions{s.Address, cookies, s.number, count, follow}))))
}

// measureIdleConsoles measures how much memory consoles take on which nothing happens.
func (b *bench) measureIdleConsoles(ctx context.Context, o *installation, cookies []string) {
	first := b.openConsoles(o.server, cookies, 1, false) // what the first needs is not what each needs
	defer first.Kill()
	before := o.Process().Memory()
	all := b.openConsoles(o.server, cookies, idleConsoles, false)
	defer all.Kill()

	used := o.Process().CPUTime()
	after := o.idleMemory(ctx)
	b.table.addLimited(megabytes(after-before), 15, " MB", row{
		id:     "P18",
		what:   fmt.Sprintf("memory of %d idle consoles", idleConsoles),
		detail: fmt.Sprintf("%.1f %% of a core", 100*(o.Process().CPUTime()-used).Seconds()/idleDelay.Seconds()),
	})
}

// measureSendsWithConsoles compares sends while consoles are open with sends without:
// consoles that only read their streams, and consoles that read their lists again as those
// in browsers do. They are in another process, whose work is on the same cores.
func (b *bench) measureSendsWithConsoles(ctx context.Context, o *installation, cookies []string) {
	newSeries := func(follow bool) *series {
		var open *rig.Service
		s := b.newSends(o.server, 64, append(o.processes(), process{"consoles", func() time.Duration { return open.CPUTime() }})...)
		s.prepare = func(context.Context) { open = b.openConsoles(o.server, cookies, openConsoles, follow) }
		s.cleanUp = func() { open.Kill() }
		return s
	}

	without := b.newSends(o.server, 64, o.processes()...)
	without.name = "that without"
	idle, following := newSeries(false), newSeries(true)
	b.measureAll(ctx, without, idle, following)
	what := fmt.Sprintf("POST message accepted, 64 connections, while %d consoles are open ", openConsoles)
	b.table.addRatio(idle, without, 0.9, row{id: "P18", what: what + "that do not read their lists again"})
	b.table.addRatio(following, without, 0.9, row{id: "P18", what: what + "that read their lists again"})
}

// consoleOptions are the consoles that a process opens.
type consoleOptions struct {
	Server  string   // its address
	Cookies []string // of the sessions, used in rotation
	Number  string   // whose inbox is open
	Count   int
	Follow  bool // read again what has changed
}

// console is an open console without a browser: its stream, and the list of conversations
// that it reads again.
type console struct {
	server, cookie, number string
	hinted                 chan struct{} // holds a value when conversations have changed
}

// runConsoles opens consoles, serves a page when all of them are connected, and goes on
// until it is killed. The arguments are an address to listen on and the options as JSON.
func runConsoles(args []string) {
	var o consoleOptions
	rig.Check(json.Unmarshal([]byte(args[1]), &o))

	failed := make(chan error, o.Count+1)
	for i := range o.Count {
		one := console{o.Server, o.Cookies[i%len(o.Cookies)], o.Number, make(chan struct{}, 1)}
		hints := one.open()
		go func() { failed <- one.read(hints) }()
		if o.Follow {
			go func() { failed <- rig.Catch(func() { one.follow(context.Background()) }) }()
		}
	}

	go func() {
		page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
		failed <- http.ListenAndServe(args[0], page)
	}()
	rig.Check(<-failed)
}

func (c *console) open() *stream {
	return rig.Must(openStream(c.server, "/console/api/stream", "Cookie: "+c.cookie, "event: ready"))
}

// read reads the stream, and looks out for hints.
func (c *console) read(hints *stream) error {
	hint := []byte(`data: {"kind":"conversation"`)
	for {
		line, err := hints.lines.ReadSlice('\n')
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(line, hint) {
			continue
		}
		select {
		case c.hinted <- struct{}{}:
		default:
		}
	}
}

// hintPause is how long a console waits for more hints before it reads, and listRows how
// many rows it reads: both as in the modules of the inbox.
const (
	hintPause = 30 * time.Millisecond
	listRows  = 50
)

// follow reads the list of conversations again whenever some have changed.
func (c *console) follow(ctx context.Context) {
	client := rig.Client{Base: "http://" + c.server}
	path := fmt.Sprintf("/console/api/v1/%s/conversations?status=open&limit=%d", c.number, listRows)
	for range c.hinted {
		time.Sleep(hintPause)
		var answer json.RawMessage // it must be JSON
		client.CallContext(ctx, rig.Request{Method: "GET", Path: path, Cookie: c.cookie}, &answer)
	}
}
