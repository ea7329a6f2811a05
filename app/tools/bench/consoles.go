package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

const (
	// openConsoles look on while messages are sent.
	openConsoles = 20
	// idleConsoles are opened to see what they take.
	idleConsoles = 100
)

// consoles measures what people who look on in the console cost those who send, and how
// much memory their streams take.
func (b *bench) consoles(ctx context.Context) error {
	o, _, err := b.openInstallation(ctx, 0)
	if err != nil {
		return err
	}
	defer o.close()

	// Each looks on for itself: what a person may ask for in a second is limited.
	var cookies []string
	for i := range openConsoles {
		cookie, err := o.signIn(ctx, fmt.Sprint("person", i))
		if err != nil {
			return err
		}
		cookies = append(cookies, cookie)
	}

	// One that has hashed a password has memory to spare, which would hide what consoles
	// take.
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
	b.table.add(row{
		id:        "P18",
		what:      fmt.Sprintf("memory under this load with %d consoles, at most", openConsoles),
		callbacks: callbacksOff,
		figure:    fmt.Sprintf("%.0f MB", megabytes(peak)),
		goal:      atMost(megabytes(peak), 250, " MB"),
	})
	return nil
}

// signIn lets a person join the organization, and returns the cookie of its session.
func (o *installation) signIn(ctx context.Context, name string) (cookie string, err error) {
	var token string
	err = o.db.Update(ctx, func(tx *storage.Tx) error {
		account, err := tx.AccountByNumber(o.number)
		if err != nil {
			return err
		}
		_, token, err = tx.InviteUser(storage.Invitee{
			OrganizationID: account.OrganizationID,
			DefaultTeamID:  account.TeamID,
			Name:           name,
			Email:          name + "@example.com",
			Role:           storage.RoleAdmin,
		})
		return err
	})
	if err != nil {
		return "", err
	}

	form := url.Values{"name": {name}, "password": {"a horse that nobody guesses"}}
	req, err := http.NewRequestWithContext(ctx, "POST", o.URL()+"/console/welcome/"+token, strings.NewReader(form.Encode()))
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
// connected. Those that follow read again what they are told has changed.
func (b *bench) openConsoles(s *server, cookies []string, count int, follow bool) (*rig.Service, error) {
	return b.self.StartService("look", "-server", s.Address, "-cookies", strings.Join(cookies, ","), "-number", s.number,
		"-count", strconv.Itoa(count), "-follow="+strconv.FormatBool(follow))
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
	select {
	case <-time.After(idleDelay):
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := o.Memory()
	if err != nil {
		return err
	}
	later, err := o.CPUTime()
	if err != nil {
		return err
	}

	more := megabytes(after - before)
	b.table.add(row{
		id:     "P18",
		what:   fmt.Sprintf("memory of %d idle consoles", idleConsoles),
		figure: fmt.Sprintf("%.1f MB", more),
		detail: fmt.Sprintf("%.1f %% of a core", 100*(later-used).Seconds()/idleDelay.Seconds()),
		goal:   atMost(more, 15, " MB"),
	})
	return nil
}

// measureSendsWithConsoles compares sends while consoles look on with sends without:
// consoles that only read their streams, and consoles that read their lists again as those
// in browsers do. They are in another process, whose work is on the same cores.
func (b *bench) measureSendsWithConsoles(ctx context.Context, o *installation, cookies []string) error {
	var n atomic.Int64
	var looking *rig.Service
	onlookers := process{"consoles", func() (time.Duration, error) {
		if looking == nil {
			return 0, nil
		}
		return looking.CPUTime()
	}}

	measure := func(count int, follow bool, cost *meter) func() (float64, error) {
		return func() (rate float64, err error) {
			if looking = nil; count > 0 {
				if looking, err = b.openConsoles(o.server, cookies, count, follow); err != nil {
					return 0, err
				}
				defer looking.Kill()
			}
			if err := cost.begin(); err != nil {
				return 0, err
			}

			l, err := runLoad(ctx, o.Address, 64, b.length, 200, func() []byte { return o.message(n.Add(1)) })
			if err == nil {
				err = awaitSent(ctx, o.db)
			}
			return l.perSecond, errors.Join(err, cost.end(len(l.waits)))
		}
	}

	var costs []*meter
	for range 3 {
		costs = append(costs, newMeter(append(o.processes(), onlookers)...))
	}
	medians, err := b.interleave(ctx,
		measure(0, false, costs[0]), measure(openConsoles, false, costs[1]), measure(openConsoles, true, costs[2]))
	if err != nil {
		return err
	}

	for i, what := range []string{"whose lists stand still", "that read their lists again"} {
		ratio := medians[i+1] / medians[0]
		b.table.add(row{
			id:        "P18",
			what:      fmt.Sprintf("POST message accepted, 64 connections, while %d consoles look on %s", openConsoles, what),
			callbacks: callbacksOff,
			figure:    perSecond(medians[i+1]),
			detail:    fmt.Sprintf("%.2f of that without (%s); %s; without: %s", ratio, perSecond(medians[0]), costs[i+1], costs[0]),
			goal:      atLeast(ratio, 0.9),
		})
	}
	return nil
}
