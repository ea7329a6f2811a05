package main

import (
	"context"
	"encoding/json"
	"errors"
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
func (b *bench) consoles(ctx context.Context, o *installation) error {
	// Each person has one console: what a person may ask for in a second is limited.
	var cookies []string
	for i := range openConsoles {
		cookie, err := o.signIn(ctx, fmt.Sprint("person", i))
		if err != nil {
			return err
		}
		cookies = append(cookies, cookie)
	}

	// One that has hashed a password has free memory, which would hide what consoles take.
	if err := errors.Join(o.Stop(), o.Start()); err != nil {
		return err
	}
	if err := b.measureIdleConsoles(ctx, o, cookies); err != nil {
		return err
	}
	if err := b.measureSendsWithConsoles(ctx, o, cookies); err != nil {
		return err
	}

	peak, err := o.PeakMemory()
	if err != nil {
		return err
	}
	b.table.addLimited(megabytes(peak), 250, " MB", row{
		id:        "P18",
		what:      fmt.Sprintf("memory under this load with %d consoles, at most", openConsoles),
		callbacks: callbacksOff,
	})
	return nil
}

// signIn lets a person join the organization, and returns the cookie of its session.
func (o *installation) signIn(ctx context.Context, name string) (cookie string, err error) {
	link, err := o.Command("users", "invite", "--org", o.org, "--name", name, "--email", name+"@example.com", "--role", "admin")
	if err != nil {
		return "", err
	}

	form := url.Values{"name": {name}, "password": {"a horse that is hard to guess"}}
	req, err := http.NewRequestWithContext(ctx, "POST", o.URL()+link[strings.Index(link, "/console/"):], strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultTransport.RoundTrip(req) // which does not follow where it leads
	if err != nil {
		return "", err
	}
	defer res.Body.Close()

	for _, c := range res.Cookies() {
		if strings.HasPrefix(c.Name, "confab_session") && c.Value != "" {
			cookie = c.Name + "=" + c.Value
		}
	}
	if cookie == "" {
		err = fmt.Errorf("an invitation was answered %s, without a session", res.Status)
	}
	return cookie, err
}

// openConsoles runs consoles in a process of their own, and returns when all of them are
// connected. Those that follow read again what has changed.
func (b *bench) openConsoles(s *server, cookies []string, count int, follow bool) (*rig.Service, error) {
	options, err := json.Marshal(consoleOptions{s.Address, cookies, s.number, count, follow})
	if err != nil {
		return nil, err
	}
	return b.self.StartService("consoles", string(options))
}

// measureIdleConsoles measures how much memory consoles take on which nothing happens.
func (b *bench) measureIdleConsoles(ctx context.Context, o *installation, cookies []string) error {
	first, err := b.openConsoles(o.server, cookies, 1, false) // what the first needs is not what each needs
	if err != nil {
		return err
	}
	defer first.Kill()

	before, err := o.Memory()
	if err != nil {
		return err
	}
	all, err := b.openConsoles(o.server, cookies, idleConsoles, false)
	if err != nil {
		return err
	}
	defer all.Kill()

	used, err := o.CPUTime()
	if err != nil {
		return err
	}
	after, err := o.idleMemory(ctx)
	if err != nil {
		return err
	}
	later, err := o.CPUTime()
	if err != nil {
		return err
	}
	b.table.addLimited(megabytes(after-before), 15, " MB", row{
		id:     "P18",
		what:   fmt.Sprintf("memory of %d idle consoles", idleConsoles),
		detail: fmt.Sprintf("%.1f %% of a core", 100*(later-used).Seconds()/idleDelay.Seconds()),
	})
	return nil
}

// measureSendsWithConsoles compares sends while consoles are open with sends without:
// consoles that only read their streams, and consoles that read their lists again as those
// in browsers do. They are in another process, whose work is on the same cores.
func (b *bench) measureSendsWithConsoles(ctx context.Context, o *installation, cookies []string) error {
	newSeries := func(follow bool) *series {
		var open *rig.Service
		s := b.newSeries(load{address: o.Address, connections: 64, request: o.message}, o.awaitSent,
			append(o.processes(), process{"consoles", func() (time.Duration, error) { return open.CPUTime() }})...)
		s.prepare = func(context.Context) (err error) {
			open, err = b.openConsoles(o.server, cookies, openConsoles, follow)
			return err
		}
		s.cleanUp = func() { open.Kill() }
		return s
	}

	without := b.newSeries(load{address: o.Address, connections: 64, request: o.message}, o.awaitSent, o.processes()...)
	without.name = "that without"
	idle, following := newSeries(false), newSeries(true)
	if err := b.measureAll(ctx, without, idle, following); err != nil {
		return err
	}
	what := fmt.Sprintf("POST message accepted, 64 connections, while %d consoles are open ", openConsoles)
	b.table.addRatio(idle, without, 0.9, row{id: "P18", what: what + "that do not read their lists again", callbacks: callbacksOff})
	b.table.addRatio(following, without, 0.9, row{id: "P18", what: what + "that read their lists again", callbacks: callbacksOff})
	return nil
}
