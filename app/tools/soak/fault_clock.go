package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// clockVariable names the file from which a server that was built with the tag trial
// reads how wrong its clock is.
const clockVariable = "TRIAL_CLOCK"

// clockDelay is after how long the server has read the file for certain.
const clockDelay = 250 * time.Millisecond

// errClock says that the clock of the server does not follow the trial.
var errClock = errors.New("the server's clock cannot be set: build it with -tags trial")

// clockFile returns the file with the offset of the server's clock.
func (t *trial) clockFile() string { return filepath.Join(t.dir, "clock") }

// setClock sets the server's clock, and checks that the server has it.
func (t *trial) setClock(offset time.Duration) error {
	draft := t.clockFile() + ".new"
	if err := os.WriteFile(draft, []byte(offset.String()), 0o600); err != nil {
		return err
	}
	if err := os.Rename(draft, t.clockFile()); err != nil {
		return err
	}
	time.Sleep(clockDelay)

	asked := time.Now()
	shown, err := t.serverTime()
	// On a busy machine the answer may take long.
	if real := shown.Add(-offset); err == nil && (real.Before(asked.Add(-30*time.Second)) || real.After(time.Now().Add(30*time.Second))) {
		err = fmt.Errorf("%w (it is %s instead of %s ahead)", errClock, time.Until(shown).Round(time.Second), offset)
	}
	return err
}

// serverTime returns what the clock of the server says. A link ends by it, while the times
// of rows never go back. Its organization has no subscriptions: what it does while the clock is
// wrong for a moment is delivered to no one.
func (t *trial) serverTime() (time.Time, error) {
	var link struct {
		ExpiresAt time.Time `json:"expires_at"`
	}
	err := t.clock.post("/customers/"+t.clockCustomer+"/setup_links", `{"expires_in_hours":1}`, "", &link)
	return link.ExpiresAt.Add(-time.Hour), err
}

// makeClock makes the organization whose links show the server's time.
func (t *trial) makeClock() error {
	_, key, err := t.server.NewOrganization("Clock")
	if err != nil {
		return err
	}
	t.clock = newClient(t.server.URL(), key)

	var made struct{ ID string }
	err = t.clock.post("/customers", `{"name":"Bakery"}`, "", &made)
	t.clockCustomer = made.ID
	return err
}

// stepClock lets the server's clock be wrong for a time. With restart the server is
// killed meanwhile, so that it starts with a wrong clock.
func (t *trial) stepClock(ctx context.Context, offset, length time.Duration, restart bool) error {
	if err := t.setClock(offset); err != nil {
		return err
	}
	if restart {
		if err := t.kill(ctx, length); err != nil {
			return err
		}
	}

	sleep(ctx, length)
	return t.setClock(0)
}
