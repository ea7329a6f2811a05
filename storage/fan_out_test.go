package storage_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// Deliveries of few subscriptions are made with their event, unless those of an
// earlier event are still to be made.
func TestAnEventStaysBehindEarlierOnesThatAreNotFannedOut(t *testing.T) {
	for name, c := range map[string]struct {
		state  string // of a job for an earlier event, "" for none
		lane   string
		busy   bool // the runner has one
		ended  bool // its run is over, but that is not written
		behind bool
	}{
		"nothing waits":             {},
		"one is due":                {state: storage.JobDue, behind: true},
		"one is held":               {state: storage.JobHeld, behind: true},
		"one runs":                  {state: storage.JobRunning, busy: true, behind: true},
		"one was to be tried again": {state: storage.JobRunning, ended: true, behind: true},
		"one failed":                {state: storage.JobFailed},
		"one of another waits":      {state: storage.JobDue, lane: "webhook.fan_out:77"},
		"one ran, and is finished":  {state: storage.JobRunning}, // its row goes with the next commit
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			db := storagetest.Open(t)
			organization := storagetest.Seed(t, db, "Acme").Organization.ID
			subscribe(t, db, organization, "wbs_1", "active", `["*"]`, `[]`)
			own := fmt.Sprintf("webhook.fan_out:%d", organization)
			if c.lane == "" {
				c.lane = own
			}
			if c.state != "" {
				storagetest.Update(t, db, func(tx *storage.Tx) error {
					return tx.Run(`INSERT INTO jobs (kind, lane, args, state, due_at, created_at) VALUES (?, ?, '{}', ?, 1, 1)`, storage.KindFanOut, c.lane, c.state)
				})
			}
			r := &runner{admission: storage.AdmitLater}
			if c.busy {
				r.busy = own
			}
			if c.ended {
				r.unsettled = own
			}
			db.SetDispatcher(r)
			happen(t, db, organization, "message.sent", "")
			is.Equal(len(deliveries(t, db)) == 0, c.behind)
		})
	}
}

// Another process than the server does not know what runs there: it looks.
func TestACommandSeesWhatIsFannedOutByTheServer(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	organization := storagetest.Seed(t, db, "Acme").Organization.ID
	subscribe(t, db, organization, "wbs_1", "active", `["*"]`, `[]`)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		return tx.Run(`INSERT INTO jobs (kind, lane, args, state, due_at, created_at) VALUES (?, ?, '{}', 'running', 1, 1)`, storage.KindFanOut, fmt.Sprintf("webhook.fan_out:%d", organization))
	})
	happen(t, db, organization, "message.sent", "")
	is.Equal(len(deliveries(t, db)), 0)
}

// A purge of the account takes the jobs that would fan out its events.
func TestAFanOutGoesWithItsAccount(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	account := storagetest.Connect(t, db, tenant, "100200300")
	for i := range 33 {
		subscribe(t, db, tenant.Organization.ID, fmt.Sprint("wbs_", i), "active", `["*"]`, `[]`)
	}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		e := storage.Event{ID: "evt_1", OrganizationID: tenant.Organization.ID, AccountID: &account.ID, Type: "message.sent", Source: "svc", EventID: "1", Payload: []byte("{}")}
		if err := tx.InsertEvent(e, "100200300"); err != nil {
			return err
		}
		e.ID, e.AccountID = "evt_2", nil
		return tx.InsertEvent(e, "")
	})
	ids := view(t, db, func(rx *storage.Rx) ([]int64, error) { return rx.JobsOfAccount(account.ID, 0, 10) })
	is.Equal(len(ids), 1) // the other one is about no account
}

// Every subscription that existed gets an event, also if the clock was set back since, and none
// that came later does.
func TestWhoGetsAnEventDoesNotDependOnTheClock(t *testing.T) {
	is := is.New(t)
	clock := &storagetest.Clock{}
	o := storagetest.Options(t, t.TempDir())
	o.Now = clock.Now
	db := storagetest.OpenWith(t, o)
	tenant := storagetest.Seed(t, db, "Acme")
	for range 40 {
		storagetest.Subscribe(t, db, tenant, "https://hook.test")
	}

	clock.Set(-time.Hour)
	happen(t, db, tenant.Organization.ID, "message.sent", "")
	clock.Set(time.Second) // not within the millisecond of the last of them
	storagetest.Subscribe(t, db, tenant, "https://late.test")

	storagetest.Update(t, db, func(tx *storage.Tx) error {
		claimed, _, err := tx.ClaimDue(storage.KindFanOut, 1, time.Minute, func(string) bool { return true })
		if err != nil {
			return err
		}
		var args storage.FanOutArgs
		if err := json.Unmarshal(claimed[0].Args, &args); err != nil {
			return err
		}
		_, done, err := tx.FanOut(claimed[0], args)
		is.True(done)
		return err
	})
	is.Equal(len(deliveries(t, db)), 40)
}
