package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"confab/app/tools/rig"
)

// clockVariable names the file from which a server that was built with the tag trial
// reads how wrong its clock is.
const clockVariable = "TRIAL_CLOCK"

// clockDelay is after how long the server has read the file for certain.
const clockDelay = 250 * time.Millisecond

// errClock says that the clock of the server does not follow the trial.
var errClock = errors.New("the server's clock cannot be set: build it with -tags trial")

func (t *trial) clockFile() string { return filepath.Join(t.dir, "clock") }

// setClock sets the server's clock, and checks that the server has it.
func (t *trial) setClock(offset time.Duration) {
	draft := t.clockFile() + ".new"
	rig.Check(os.WriteFile(draft, []byte(offset.String()), 0o600))
	rig.Check(os.Rename(draft, t.clockFile()))
	time.Sleep(clockDelay)

	// On a busy machine the answer may take long.
	asked, shown := time.Now(), t.serverTime()
	if real := shown.Add(-offset); real.Before(asked.Add(-30*time.Second)) || real.After(time.Now().Add(30*time.Second)) {
		rig.Check(fmt.Errorf("%w (it is %s instead of %s ahead)", errClock, time.Until(shown).Round(time.Second), offset))
	}
}

// serverTime returns what the clock of the server says. A link ends by it, while the times
// of rows never go back. Its organization has no subscriptions: what it does while the clock is
// wrong for a moment is delivered to no one.
func (t *trial) serverTime() time.Time {
	var link struct {
		ExpiresAt time.Time `json:"expires_at"`
	}
	t.clock.post("/customers/"+t.clockCustomer+"/setup_links", `{"expires_in_hours":1}`, "", &link)
	return link.ExpiresAt.Add(-time.Hour)
}

// makeClock makes the organization whose links show the server's time.
func (t *trial) makeClock() {
	_, key := t.server.NewOrganization("Clock")
	t.clock = newClient(t.server.URL(), key)
	t.clockCustomer = t.clock.create("/customers", `{"name":"Bakery"}`, "")
}

// stepClock lets the server's clock be wrong for a time. With restart the server is
// killed meanwhile, so that it starts with a wrong clock.
func (t *trial) stepClock(ctx context.Context, offset, length time.Duration, restart bool) {
	t.setClock(offset)
	if restart {
		t.kill(ctx, length)
	}
	sleep(ctx, length)
	t.setClock(0)
}
