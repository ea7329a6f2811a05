package main

import (
	"bytes"
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
func (b *bench) consoles(o *installation) {
	// Each person has one console: what a person may ask for in a second is limited.
	var cookies []string
	for i := range openConsoles {
		cookies = append(cookies, o.signIn(fmt.Sprint("person", i)))
	}

	// One that has hashed a password has free memory, which would hide what consoles take.
	o.Stop()
	o.Start()
	closeFirst := o.openConsoles(cookies, 1) // what the first needs is not what each needs
	before := o.Memory()
	closeIdle := o.openConsoles(cookies, idleConsoles)
	after := o.idleMemory()
	closeFirst()
	closeIdle()
	b.table.addLimited("P18", fmt.Sprintf("memory of %d idle consoles", idleConsoles), megabytes(after-before), 15, " MB", "")

	// The work of the consoles, which is done in the browsers of people otherwise, is on the same cores.
	b.measureSendsBeside(o, 64, fmt.Sprintf("%d consoles are open", openConsoles), 0.9,
		func() func() { return o.openConsoles(cookies, openConsoles) })
	b.table.addLimited("P18", fmt.Sprintf("memory under this load with %d consoles, at most", openConsoles),
		megabytes(o.PeakMemory()), 250, " MB", "")
}

// signIn lets a person join the organization, and returns the cookie of its session.
func (o *installation) signIn(name string) (cookie string) {
	link := o.Command("users", "invite", "--org", o.org, "--name", name, "--email", name+"@example.com", "--role", "admin")
	form := url.Values{"name": {name}, "password": {"a horse that is hard to guess"}}.Encode()
	req := rig.Must(http.NewRequest("POST", o.URL()+link[strings.Index(link, "/console/"):], strings.NewReader(form)))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res := rig.Must(http.DefaultTransport.RoundTrip(req)) // which does not follow where it leads
	defer res.Body.Close()

	for _, c := range res.Cookies() {
		if strings.HasPrefix(c.Name, "confab_session") && c.Value != "" {
			cookie = c.Name + "=" + c.Value
		}
	}
	rig.Require(cookie != "", "an invitation was answered %s, without a session", res.Status)
	return cookie
}

// openConsoles opens consoles without browsers: the stream of each, and the list of conversations
// that it reads again when some have changed. The sessions are used in rotation. It returns what
// closes them.
func (s *server) openConsoles(cookies []string, count int) (closeConsoles func()) {
	var all []*stream
	for i := range count {
		one := openStream(s.Address, "/console/api/stream", "Cookie: "+cookies[i%len(cookies)], "event: ready")
		rig.Require(one != nil, "too many consoles are open")
		all = append(all, one)
	}
	awaitEnd := rig.Go(func() {
		rig.RunParallel(count, func(i int) { s.followHints(all[i], cookies[i%len(cookies)]) })
	})
	return func() {
		closeAll(all)
		awaitEnd()
	}
}

// hintPause is how long a console waits for more hints before it reads, and listRows how
// many rows it reads: both as in the modules of the inbox.
const (
	hintPause = 30 * time.Millisecond
	listRows  = 50
)

// followHints reads the list of conversations again whenever some have changed, until the stream is closed.
func (s *server) followHints(hints *stream, cookie string) {
	path := fmt.Sprintf("/console/api/v1/%s/conversations?status=open&limit=%d", s.number, listRows)
	for {
		line, err := hints.lines.ReadSlice('\n')
		if err != nil {
			return
		}
		if !bytes.HasPrefix(line, []byte(`data: {"kind":"conversation"`)) {
			continue
		}

		hints.SetReadDeadline(time.Now().Add(hintPause))
		for err == nil {
			_, err = hints.lines.ReadSlice('\n')
		}
		hints.SetReadDeadline(time.Time{})
		var answer json.RawMessage // it must be JSON
		rig.Client{Base: s.URL()}.Send(rig.Request{Method: "GET", Path: path, Cookie: cookie}, &answer)
	}
}
