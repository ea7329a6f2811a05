package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"confab/app/tools/rig"
)

// clockVariable names the file from which a server that was built with the tag trial
// reads how wrong its clock is.
const clockVariable = "TRIAL_CLOCK"

func (t *trial) clockFile() string { return filepath.Join(t.dir, "clock") }

func (t *trial) setClock(offset time.Duration) {
	draft := t.clockFile() + ".new"
	rig.Check(os.WriteFile(draft, []byte(offset.String()), 0o600))
	rig.Check(os.Rename(draft, t.clockFile()))
	time.Sleep(250 * time.Millisecond) // until the server has read the file for certain
}

// checkClock checks that the server's clock can be set: a link ends by it. Its organization has no
// subscriptions, so that nobody gets events of a wrong time.
func (t *trial) checkClock() {
	_, key := t.server.NewOrganization("Clock")
	c := newClient(t.server.URL(), key)
	customer := c.create("/customers", `{"name":"Bakery"}`, "")
	var link struct {
		ExpiresAt time.Time `json:"expires_at"`
	}
	t.setClock(48 * time.Hour)
	c.post("/customers/"+customer+"/setup_links", `{"expires_in_hours":1}`, "", &link)
	t.setClock(0)
	rig.Require(time.Until(link.ExpiresAt) > 48*time.Hour, "the server's clock cannot be set: build it with -tags trial")
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
