package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"confab/app/tools/rig"
)

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
func runConsoles(args []string) error {
	var o consoleOptions
	if err := json.Unmarshal([]byte(args[1]), &o); err != nil {
		return err
	}

	failed := make(chan error, o.Count+1)
	for i := range o.Count {
		one := console{o.Server, o.Cookies[i%len(o.Cookies)], o.Number, make(chan struct{}, 1)}
		hints, err := one.open()
		if err != nil {
			return err
		}
		go func() { failed <- one.read(hints) }()
		if o.Follow {
			go func() { failed <- one.follow(context.Background()) }()
		}
	}

	go func() {
		page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
		failed <- http.ListenAndServe(args[0], page)
	}()
	return <-failed
}

// open opens the stream, and returns when it is ready.
func (c *console) open() (*stream, error) {
	return openStream(c.server, "/console/api/stream", "Cookie: "+c.cookie, "event: ready")
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
func (c *console) follow(ctx context.Context) error {
	client := rig.Client{Base: "http://" + c.server}
	path := fmt.Sprintf("/console/api/v1/%s/conversations?status=open&limit=%d", c.number, listRows)
	for range c.hinted {
		time.Sleep(hintPause)
		var answer json.RawMessage // it must be JSON
		if err := client.CallContext(ctx, rig.Request{Method: "GET", Path: path, Cookie: c.cookie}, &answer); err != nil {
			return err
		}
	}
	return nil
}
