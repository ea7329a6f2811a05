package storage_test

import (
	"encoding/json"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// subscribe stores a subscription.
func subscribe(t *testing.T, db *storage.DB, organization int64, id, status, events, numbers string) {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		return tx.Run(`
			INSERT INTO subscriptions (id, organization_id, url, events, phone_number_ids, status, created_at, updated_at)
			VALUES (?, ?, 'https://hook.test', ?, ?, ?, 1, 1)`, id, organization, events, numbers, status)
	})
}

// delivery is what fanning out makes for one subscription.
type delivery struct {
	ID           string       `db:"id"`
	Subscription string       `db:"subscription_id"`
	Event        string       `db:"event"`
	Type         string       `db:"event_type"`
	EventID      string       `db:"event_id"`
	Status       string       `db:"status"`
	Next         storage.Time `db:"next_attempt_at"`
	Error        *string      `db:"error_code"`
}

func deliveries(t *testing.T, db *storage.DB) (all []delivery) {
	t.Helper()
	storagetest.View(t, db, func(rx *storage.Rx) error {
		return rx.List(&all, `
			SELECT id, subscription_id, event, event_type, event_id, status, next_attempt_at, error_code
			FROM deliveries
			ORDER BY subscription_id`)
	})
	return all
}

func deliverJobs(t *testing.T, db *storage.DB) (all []storage.Job) {
	t.Helper()
	storagetest.View(t, db, func(rx *storage.Rx) (err error) {
		all, err = rx.Jobs(storage.JobFilter{Kind: storage.KindDeliver, Limit: 100})
		return err
	})
	return all
}

// happen stores an event; number is that of the account, "" for none.
func happen(t *testing.T, db *storage.DB, organization int64, kind, number string) storage.Event {
	t.Helper()
	e := storage.Event{OrganizationID: organization, Type: kind, Source: "svc", EventID: "msg_1:sent", Payload: []byte(`{"exact": "bytes"}`)}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		e.ID = tx.NewID(storage.PrefixEvent)
		return tx.InsertEvent(e, number)
	})
	return e
}

func TestAnEventGoesToWhoeverWantsItAndNobodyElse(t *testing.T) {
	for name, c := range map[string]struct {
		events, numbers string
		number          string
		wanted          bool
	}{
		"all":                   {`["*"]`, `[]`, "100", true},
		"its type":              {`["message.status","message.sent"]`, `[]`, "100", true},
		"another type":          {`["message.status"]`, `[]`, "100", false},
		"part of the name":      {`["message"]`, `[]`, "100", false},
		"nothing":               {`[]`, `[]`, "100", false},
		"its number":            {`["*"]`, `["200","100"]`, "100", true},
		"another number":        {`["*"]`, `["200"]`, "100", false},
		"of no number":          {`["*"]`, `["200"]`, "", true},
		"another of its number": {`["message.status"]`, `["100"]`, "100", false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			db := storagetest.Open(t)
			ours, theirs := two(t, db)
			subscribe(t, db, ours.Organization.ID, "wbs_ours", "active", c.events, c.numbers)
			subscribe(t, db, theirs.Organization.ID, "wbs_theirs", "active", `["*"]`, `[]`)
			e := happen(t, db, ours.Organization.ID, "message.sent", c.number)
			made := deliveries(t, db)
			if !c.wanted {
				is.Equal(len(made), 0)
				is.Equal(len(deliverJobs(t, db)), 0)
				return
			}
			is.Equal(len(made), 1) // never another organization's
			is.Equal(made[0], delivery{made[0].ID, "wbs_ours", e.ID, "message.sent", "msg_1:sent", "pending", made[0].Next, nil})
			is.True(storage.ValidID(storage.PrefixDelivery, made[0].ID))
			jobs := deliverJobs(t, db)
			is.Equal(len(jobs), 1)
			is.Equal(jobs[0].Lane, "deliver:wbs_ours")
			var args storage.DeliverArgs
			is.NoErr(json.Unmarshal(jobs[0].Args, &args))
			is.Equal(args.Delivery, made[0].ID)
		})
	}
}

func TestAnEventIsKeptByteForByte(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	e := happen(t, db, tenant.Organization.ID, "message.sent", "")
	storagetest.View(t, db, func(rx *storage.Rx) error {
		all, err := rx.Events(tenant.Organization.ID, 10)
		is.Equal(len(all), 1)
		is.Equal(all[0].ID, e.ID)
		is.Equal(string(all[0].Payload), `{"exact": "bytes"}`)
		return err
	})
}

func TestAPausedSubscriptionsDeliveriesWaitAndADisabledOnesAreDead(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	organization := storagetest.Seed(t, db, "Acme").Organization.ID
	subscribe(t, db, organization, "wbs_1", "active", `["*"]`, `[]`)
	subscribe(t, db, organization, "wbs_2", "paused", `["*"]`, `[]`)
	subscribe(t, db, organization, "wbs_3", "disabled", `["*"]`, `[]`)
	happen(t, db, organization, "message.sent", "100")
	made := deliveries(t, db)
	is.Equal(len(made), 3)
	is.Equal([]string{made[0].Status, made[1].Status, made[2].Status}, []string{"pending", "pending", "dead"})
	is.Equal(*made[2].Error, "subscription_disabled")
	is.Equal(made[2].Next, storage.Time(0))
	var lanes []string
	for _, j := range deliverJobs(t, db) {
		lanes = append(lanes, j.Lane)
	}
	is.Equal(lanes, []string{"deliver:wbs_1", "deliver:wbs_2"}) // one job each; none for the dead
}
